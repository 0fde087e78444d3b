// Reads one array of a NumPy .npz archive: the one asked for, "points", or the only matrix.
#include "io/formats.hpp"
#include "io/npy_array.hpp"
#include "io/npy_header.hpp"
#include "io/zip_read.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kith::io {
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

}  // namespace

PointFile read_npz(const runtime::InputFile& file, const ReadOptions& options) {
  const ZipArchive archive(file);
  const ZipEntry& entry = choose_array(archive, file, options.array);
  const ZipMember member = archive.open(entry, options);
  return read_npy_points(*member.file, member.begin, member.bytes, archive.describe(entry), options, Format::npz);
}

}  // namespace kith::io
