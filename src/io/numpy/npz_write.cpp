// Writes points as the array "points" of a NumPy .npz archive.
#include "io/formats.hpp"
#include "io/numpy/npy_header.hpp"
#include "io/records/record_write.hpp"
#include "io/numpy/zip_write.hpp"

#include <cstdint>

namespace kith::io::inline v0 {

void write_npz(runtime::OutputFile& file, PointView points, const WriteOptions& options) {
  const std::uint64_t shape[] = {points.rows(), points.dims()};
  const std::string header = npy_header_bytes(npy_descr(points.dtype()), shape);
  ZipWriter archive(file);
  bool first = true;
  archive.add("points.npy", [&](const ZipWriter::Sink& sink) {
    sink(header.data(), header.size());
    for_each_block(points, first ? "checksumming" : "writing", options.progress, sink);
    first = false;
  });
  archive.finish();
}

}  // namespace kith::io::inline v0
