// Formats that are not read yet.
#include "io/formats.hpp"

#include <kith/error.hpp>
#include <kith/io/neighbors_file.hpp>

namespace kith::io {
PointFile read_ply(const runtime::InputFile&, const ReadOptions&) { throw CorruptFile("ply is not read yet"); }
PointFile read_pcd(const runtime::InputFile&, const ReadOptions&) { throw CorruptFile("pcd is not read yet"); }
PointFile read_las(const runtime::InputFile&, const ReadOptions&) { throw CorruptFile("las is not read yet"); }
void write_ply(runtime::OutputFile&, PointView, const WriteOptions&) { throw CorruptFile("ply is not written yet"); }
void write_pcd(runtime::OutputFile&, PointView, const WriteOptions&) { throw CorruptFile("pcd is not written yet"); }
void write_neighbors(const std::string&, const Neighbors&, const ProgressCallback&) {
  throw CorruptFile("neighbours are not written yet");
}
void write_neighbors(const std::string&, const NeighborLists&, const ProgressCallback&) {
  throw CorruptFile("neighbours are not written yet");
}
void write_counts(const std::string&, const std::vector<std::uint32_t>&, const ProgressCallback&) {
  throw CorruptFile("counts are not written yet");
}
std::variant<Neighbors, NeighborLists> read_neighbors(const std::string&) {
  throw CorruptFile("neighbours are not read yet");
}
}  // namespace kith::io
