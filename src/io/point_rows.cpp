// Blocks of rows out of files that may be larger than memory. See kith/io/point_rows.hpp.
#include <kith/io/point_rows.hpp>

#include "io/numpy/npy_header.hpp"
#include "io/records/record_layout.hpp"
#include "io/records/record_source.hpp"
#include "runtime/input_file.hpp"
#include "runtime/regular_file.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <string_view>
#include <utility>

namespace kith::io::inline v0 {
namespace {

/// Whether the rows of a file lie at regular places, as far as its first bytes say.
bool lies_in_rows(const std::string& path, const ReadOptions& options) {
  const runtime::RegularFile file(path);
  char head[6] = {};
  file.read_exact(0, head, std::min<std::uint64_t>(sizeof(head), file.size()));
  const std::string_view begin(head, sizeof(head));
  const bool is_compressed = begin.starts_with("\x1f\x8b") || begin.starts_with("\x28\xb5\x2f\xfd");
  const bool may_be_npy = options.format == Format::automatic || options.format == Format::npy;
  return !is_compressed && (!options.layout.empty() || (may_be_npy && begin == "\x93NUMPY"));
}

RecordSource source_of(const runtime::InputFile& file, const ReadOptions& options) {
  RecordSource source;
  if (!options.layout.empty()) {
    source = find_source(file, options, Format::raw);
    if (source.decoded) {
      throw UsageError(
          fmt::format("{}: Fortran records are not read in blocks; convert the file to .npy first", file.name()));
    }
    return source;
  }
  source.layout = npy_points_layout(read_npy_header(file, 0, file.size(), file.name()), file.name());
  return source;
}

/// Some consecutive rows.
RecordLayout part_of(RecordLayout layout, std::uint64_t first, std::uint64_t count) {
  layout.rows = count;
  if (layout.order == RecordOrder::records) {
    layout.first_byte += first * layout.record_bytes;
    return layout;
  }
  for (RecordField& field : layout.fields) {
    field.offset += first * (field.stride != 0 ? field.stride : size_of(field.type));
  }
  return layout;
}

}  // namespace

struct PointRows::State {
  std::string path;
  ReadOptions options;
  runtime::InputFile file;
  RecordSource source;
  std::uint32_t dims = 0;
  DType dtype = DType::f32;

  State(std::string the_path, ReadOptions the_options)
      : path(std::move(the_path)), options(std::move(the_options)), file(path), source(source_of(file, options)) {
    options.progress = {};
    options.table = nullptr;
    options.extras.clear();
    require_backed(file, source.layout.rows, source.layout.record_bytes, source.layout.first_byte, "rows");
    const PointSet none = read(0, 0);
    dims = none.dims();
    dtype = none.dtype();
  }

  PointSet read(std::uint64_t first, std::uint64_t count) const {
    const Format format = options.layout.empty() ? Format::npy : Format::raw;
    return read_records(file, part_of(source.layout, first, count), options, format, source.defaults).points;
  }
};

PointRows::PointRows(const std::string& path, const ReadOptions& options) {
  if (!lies_in_rows(path, options)) {
    throw UsageError(
        fmt::format("{}: blocks of rows are read from .npy files, and from plain numbers with a `layout`, neither of "
                    "them compressed; convert the file to .npy first",
                    path));
  }
  state_ = std::make_shared<const State>(path, options);
}

std::optional<PointRows> PointRows::open_if_possible(const std::string& path, const ReadOptions& options) {
  if (!lies_in_rows(path, options)) return {};
  return PointRows(path, options);
}

const std::string& PointRows::path() const { return state_->path; }
std::uint64_t PointRows::rows() const { return state_->source.layout.rows; }
std::uint32_t PointRows::dims() const { return state_->dims; }
DType PointRows::dtype() const { return state_->dtype; }

PointSet PointRows::read(std::uint64_t first, std::uint64_t count) const {
  if (first > rows() || count > rows() - first) {
    throw UsageError(
        fmt::format("{}: has {} rows, but {} from row {} on were asked for", path(), rows(), count, first));
  }
  return state_->read(first, count);
}

std::string PointRows::stamp() const {
  struct stat status {};
  if (stat(path().c_str(), &status) != 0) throw IoError(fmt::format("{}: cannot be looked at any more", path()));
  const RecordLayout& layout = state_->source.layout;
  std::string text = fmt::format("{}: {} bytes, changed {}.{:09}, {} rows of {} bytes from byte {}, {} x {}", path(),
                                 status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, layout.rows,
                                 layout.record_bytes, layout.first_byte, dims(), name_of(dtype()));
  text += fmt::format(", type {}, order {}, big-endian {}", static_cast<int>(layout.fields.front().type),
                      static_cast<int>(layout.order), layout.big_endian);
  for (const std::string& column : state_->options.columns) text += ", column " + column;
  if (!state_->options.label.empty()) text += ", label " + state_->options.label;
  if (!state_->options.layout.empty()) text += ", layout " + state_->options.layout;
  return text;
}

}  // namespace kith::io::inline v0
