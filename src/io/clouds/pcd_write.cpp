// Writes points as an unorganised PCD cloud, version 0.7, binary or ascii.
#include "io/formats.hpp"
#include "io/records/record_write.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace kith::io::inline v0 {

void write_pcd(runtime::OutputFile& file, PointView points, const WriteOptions& options) {
  const std::vector<std::string> names = column_names(options.columns, points.dims());
  require_plain_names(names);
  std::string sizes;
  std::string types;
  std::string counts;
  for (std::uint32_t d = 0; d < points.dims(); ++d) {
    sizes += points.dtype() == DType::f32 ? " 4" : " 8";
    types += " F";
    counts += " 1";
  }
  file.write(fmt::format(
      "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS {}\nSIZE{}\nTYPE{}\nCOUNT{}\n"
      "WIDTH {}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {}\nDATA {}\n",
      fmt::join(names, " "), sizes, types, counts, points.rows(), points.rows(), options.ascii ? "ascii" : "binary"));
  if (options.ascii) {
    write_lines(file, points, options.progress);
  } else {
    for_each_block(points, "writing", options.progress,
                   [&file](const void* data, std::size_t bytes) { file.write(data, bytes); });
  }
}

}  // namespace kith::io::inline v0
