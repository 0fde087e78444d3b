// Feeds arbitrary bytes to the NPZ reader.
#include "fuzz_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return kith::fuzz::feed_points(data, size, "fuzz.npz", kith::io::read_npz);
}
