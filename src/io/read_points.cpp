// See read_points.hpp: opens a file, finds out what it is, and hands it to the reader of its format.
#include <kith/io/read_points.hpp>

#include "io/formats.hpp"
#include "io/recognize/recognize.hpp"
#include "io/records/record_source.hpp"
#include "io/tables/table_read.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

namespace kith::io::inline v0 {
namespace {

PointFile read_as(Format format, const runtime::InputFile& file, const ReadOptions& options) {
  switch (format) {
    case Format::npy:
      return read_npy(file, options);
    case Format::npz:
      return read_npz(file, options);
    case Format::ply:
      return read_ply(file, options);
    case Format::pcd:
      return read_pcd(file, options);
    case Format::las:
      return read_las(file, options);
    case Format::fvecs:
    case Format::bvecs:
    case Format::ivecs:
      return read_vecs(file, options, format);
    case Format::idx:
      return read_idx(file, options);
    case Format::pdb:
    case Format::gro:
    case Format::extxyz:
    case Format::lammps:
    case Format::vtk:
    case Format::raw:
      return read_source(find_source(file, options, format), file, options, format);
    case Format::automatic:
    case Format::text:
      break;
  }
  return read_text(file, options);
}

/// A second pass over the file, so that the type of an extra column does not change that of the coordinates.
void read_extras(Format format, const runtime::InputFile& file, const ReadOptions& options, PointFile& result) {
  ReadOptions others = options;
  others.columns = options.extras;
  others.extras.clear();
  others.label.clear();
  others.dtype.reset();
  others.table = nullptr;
  PointFile read = read_as(format, file, others);
  if (read.points.rows() != result.points.rows()) {
    throw IoError(fmt::format("{}: changed while it was read; try again", file.name()));
  }
  result.extras = std::move(read.points);
  result.extra_columns = std::move(read.columns);
  for (std::string& note : read.notes) {  // what concerns the whole file has been said
    if (std::ranges::find(result.notes, note) == result.notes.end()) result.notes.push_back(std::move(note));
  }
}

Format format_to_read(const runtime::InputFile& file, const ReadOptions& options) {
  if (options.layout.empty()) return options.format == Format::automatic ? recognize(file) : options.format;
  if (options.format == Format::automatic || options.format == Format::raw) return Format::raw;
  throw UsageError(
      fmt::format("{}: a layout describes plain bytes (`format=raw`), not {}; leave `layout=` or `format=` out",
                  file.name(), name_of(options.format)));
}

}  // namespace

PointFile read_points(const runtime::InputFile& file, const ReadOptions& options) {
  const Format format = format_to_read(file, options);
  try {
    PointFile result = read_as(format, file, options);
    const bool is_all = options.want_points && !result.labels;  // then the points say it already
    if (options.table != nullptr && options.table->columns.empty() && !is_all) fill_table(result, *options.table);
    if (!options.extras.empty()) read_extras(format, file, options, result);
    return result;
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("{}: not enough memory to read its {} bytes", file.name(), file.size()));
  }
}

PointFile read_points(const std::string& path, const ReadOptions& options) {
  const runtime::InputFile file(path, options.progress);
  return read_points(file, options);
}

}  // namespace kith::io::inline v0
