// Feeds arbitrary bytes to the reader that finds out the format by itself, under names of every extension.
#include "fuzz_reader.hpp"

#include <iterator>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr const char* kNames[] = {"fuzz",     "fuzz.csv", "fuzz.npy", "fuzz.fvecs", "fuzz.bvecs",
                                    "fuzz.idx", "fuzz.las", "fuzz.ply", "fuzz.ivecs", "fuzz.pcd",
                                    "fuzz.pdb", "fuzz.gro", "fuzz.vtu"};
  return kith::fuzz::feed_points(data, size, kNames[size % std::size(kNames)],
                                 [](const kith::runtime::InputFile& file, const kith::io::ReadOptions& options) {
                                   return kith::io::read_points(file, options);
                                 });
}
