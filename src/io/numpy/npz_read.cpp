// Reads one array of a NumPy .npz archive: the one asked for, "points", or the only matrix.
#include "io/formats.hpp"
#include "io/numpy/npy_array.hpp"
#include "io/numpy/npy_header.hpp"
#include "io/numpy/zip_read.hpp"
#include "runtime/physical_memory.hpp"

#include <kith/error.hpp>
#include <kith/io/table.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::size_t kHeadBytes = std::size_t{1} << 16;

std::string array_names(const ZipArchive& archive) {
  std::string list;
  std::size_t shown = 0;
  for (const ZipEntry& entry : archive.entries()) {
    if (!entry.name.ends_with(kSuffix)) continue;
    if (!list.empty()) list += ", ";
    if (++shown > 20) return list + "…";
    list += entry.name.substr(0, std::min<std::size_t>(40, entry.name.size() - kSuffix.size()));
  }
  return list.empty() ? "none" : list;
}

bool is_matrix(const ZipArchive& archive, const ZipEntry& entry) {
  try {
    const auto head = archive.head(entry, kHeadBytes);
    return read_npy_header(*head, 0, entry.bytes, archive.describe(entry)).shape.size() == 2;
  } catch (const CorruptFile&) {  // objects, text or damage: no candidate
    return false;
  }
}

const ZipEntry& choose_array(const ZipArchive& archive, const runtime::InputFile& file, const std::string& wanted) {
  if (!wanted.empty()) {
    const ZipEntry* found = archive.find(wanted + std::string(kSuffix));
    if (found == nullptr && wanted.ends_with(kSuffix)) found = archive.find(wanted);
    if (found == nullptr) {
      throw UsageError(fmt::format("{}: no array \"{}\"; it has: {}", file.name(), wanted, array_names(archive)));
    }
    return *found;
  }
  if (const ZipEntry* points = archive.find("points.npy")) return *points;
  std::vector<const ZipEntry*> arrays;
  for (const ZipEntry& entry : archive.entries()) {
    if (entry.name.ends_with(kSuffix)) arrays.push_back(&entry);
  }
  if (arrays.empty()) throw CorruptFile(fmt::format("{}: the archive holds no .npy array", file.name()));
  if (arrays.size() == 1) return *arrays[0];
  std::vector<const ZipEntry*> matrices;
  for (const ZipEntry* entry : arrays) {
    if (is_matrix(archive, *entry)) matrices.push_back(entry);
  }
  if (matrices.size() == 1) return *matrices[0];
  throw UsageError(
      fmt::format("{}: holds several arrays; name the one to read among: {}", file.name(), array_names(archive)));
}

/// The other vectors of as many values: columns beside the coordinates.
std::vector<Column> read_other_vectors(const ZipArchive& archive, const ZipEntry& points, std::uint64_t rows,
                                       const ReadOptions& options) {
  std::vector<Column> columns;
  for (const ZipEntry& entry : archive.entries()) {
    if (&entry == &points || !entry.name.ends_with(kSuffix)) continue;
    const std::string name = entry.name.substr(0, entry.name.size() - kSuffix.size());
    const auto leave_out = [&](std::string_view why) {
      options.table->notes.push_back(fmt::format("the array \"{}\" is left out: it {}", name.substr(0, 40), why));
    };
    try {
      const auto head = archive.head(entry, kHeadBytes);
      const NpyHeader header = read_npy_header(*head, 0, entry.bytes, archive.describe(entry));
      if (header.shape.size() != 1 || header.shape[0] != rows) {
        leave_out(
            fmt::format("has the shape ({}), not a value for each of {} rows", fmt::join(header.shape, ", "), rows));
        continue;
      }
    } catch (const CorruptFile&) {  // objects, text or damage: no column
      leave_out("holds no numbers");
      continue;
    }
    Table one;
    ReadOptions vector = options;
    vector.table = &one;
    vector.want_points = false;
    const ZipMember member = archive.open(entry, options);
    read_npy_points(*member.file, member.begin, member.bytes, archive.describe(entry), vector, Format::npz);
    one.columns[0].rename(name);
    columns.push_back(std::move(one.columns[0]));
  }
  return columns;
}

/// Before anything is inflated: a shape that does not fit the bytes of the member is wrong, and one that does not fit
/// the memory never will.
void require_true_shape(const ZipArchive& archive, const ZipEntry& entry) {
  const auto head = archive.head(entry, kHeadBytes);
  const NpyHeader header = read_npy_header(*head, 0, entry.bytes, archive.describe(entry));
  std::uint64_t bytes = size_of(header.type);
  for (const std::uint64_t extent : header.shape) bytes *= extent;  // backed by the member, so no overflow
  if (bytes != entry.bytes - header.data_offset) {
    throw CorruptFile(
        fmt::format("{}: the shape ({}) of {} takes {} bytes, but {} follow the header; the header is wrong",
                    archive.describe(entry), fmt::join(header.shape, ", "), name_of(header.type), bytes,
                    entry.bytes - header.data_offset));
  }
  if (entry.method != 0) runtime::require_memory(entry.bytes, fmt::format("inflating {}", archive.describe(entry)));
}

}  // namespace

PointFile read_npz(const runtime::InputFile& file, const ReadOptions& options) {
  const ZipArchive archive(file);
  const ZipEntry& entry = choose_array(archive, file, options.array);
  require_true_shape(archive, entry);
  const ZipMember member = archive.open(entry, options);
  PointFile result =
      read_npy_points(*member.file, member.begin, member.bytes, archive.describe(entry), options, Format::npz);
  if (options.table == nullptr || !options.array.empty()) return result;
  Table& table = *options.table;
  const std::uint64_t rows = options.want_points ? result.points.rows() : table.rows();
  std::vector<Column> others = read_other_vectors(archive, entry, rows, options);
  if (!others.empty() && table.columns.empty()) {  // the matrix is all points, but not all that there is
    ReadOptions matrix = options;
    matrix.want_points = false;
    read_npy_points(*member.file, member.begin, member.bytes, archive.describe(entry), matrix, Format::npz);
  }
  for (Column& column : others) table.columns.push_back(std::move(column));
  return result;
}

}  // namespace kith::io::inline v0
