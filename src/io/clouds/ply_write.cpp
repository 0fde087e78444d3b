// Writes points as the vertices of a PLY file, binary little-endian or ascii.
#include "io/formats.hpp"
#include "io/records/record_write.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace kith::io::inline v0 {

void write_ply(runtime::OutputFile& file, PointView points, const WriteOptions& options) {
  const std::vector<std::string> names = column_names(options.columns, points.dims());
  require_plain_names(names);
  std::string header = fmt::format("ply\nformat {} 1.0\nelement vertex {}\n",
                                   options.ascii ? "ascii" : "binary_little_endian", points.rows());
  for (const std::string& name : names) {
    header += fmt::format("property {} {}\n", points.dtype() == DType::f32 ? "float" : "double", name);
  }
  file.write(header + "end_header\n");
  if (options.ascii) {
    write_lines(file, points, options.progress);
  } else {
    for_each_block(points, "writing", options.progress,
                   [&file](const void* data, std::size_t bytes) { file.write(data, bytes); });
  }
}

}  // namespace kith::io::inline v0
