// Feeds arbitrary bytes to the readers of VTK, legacy and XML.
#include "fuzz_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return kith::fuzz::feed_points(data, size, "fuzz.vtk",
                                 [](const kith::runtime::InputFile& file, kith::io::ReadOptions options) {
                                   options.format = kith::io::Format::vtk;
                                   return kith::io::read_points(file, options);
                                 });
}
