// Writes points as a NumPy array, rows x dims.
#include "io/formats.hpp"
#include "io/numpy/npy_header.hpp"
#include "io/records/record_write.hpp"

#include <cstdint>

namespace kith::io::inline v0 {

void write_npy(runtime::OutputFile& file, PointView points, const WriteOptions& options) {
  const std::uint64_t shape[] = {points.rows(), points.dims()};
  file.write(npy_header_bytes(npy_descr(points.dtype()), shape));
  for_each_block(points, "writing", options.progress,
                 [&file](const void* data, std::size_t bytes) { file.write(data, bytes); });
}

}  // namespace kith::io::inline v0
