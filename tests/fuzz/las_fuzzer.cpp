// Feeds arbitrary bytes to the LAS reader.
#include "fuzz_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return kith::fuzz::feed_points(data, size, "fuzz.las", kith::io::read_las);
}
