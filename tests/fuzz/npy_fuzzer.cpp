// Feeds arbitrary bytes to the NPY reader.
#include "fuzz_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return kith::fuzz::feed_points(data, size, "fuzz.npy", kith::io::read_npy);
}
