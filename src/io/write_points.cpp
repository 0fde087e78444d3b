// See write_points.hpp: chooses the writer by the format or the extension; the file appears when all is written.
#include <kith/io/write_points.hpp>

#include "io/formats.hpp"
#include "io/tables/table_formats.hpp"
#include "io/text/text_writer.hpp"
#include "io/written_format.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::io::inline v0 {

void write_points(const std::string& path, PointView points, const WriteOptions& options) {
  if (points.device() != Device::cpu()) {
    throw UsageError(fmt::format("{}: the points lie on another device; copy them to the host first", path));
  }
  const Format format = format_to_write(path, options.format);
  if ((options.labels != nullptr || !options.appended.empty()) && format != Format::text) {
    throw UsageError(fmt::format("{}: {} are written to text only; use .csv", path,
                                 options.labels != nullptr ? "labels" : "further columns"));
  }
  runtime::OutputFile file(path, runtime::Compression::by_name);
  switch (format) {
    case Format::npy:
      write_npy(file, points, options);
      break;
    case Format::npz:
      write_npz(file, points, options);
      break;
    case Format::ply:
      write_ply(file, points, options);
      break;
    case Format::pcd:
      write_pcd(file, points, options);
      break;
    case Format::las:
      write_las_table(file, table_of(points, options.columns), options);
      break;
    default:
      write_text_as(file, points, options, text_style_of(path));
      break;
  }
  file.commit();
}

}  // namespace kith::io::inline v0
