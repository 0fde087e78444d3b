// Feeds arbitrary bytes to the reader of fvecs, bvecs and ivecs.
#include "fuzz_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using kith::io::Format;
  for (const Format format : {Format::fvecs, Format::bvecs, Format::ivecs}) {
    kith::fuzz::feed_points(data, size, "fuzz.vecs",
                            [format](const kith::runtime::InputFile& file, const kith::io::ReadOptions& options) {
                              return kith::io::read_vecs(file, options, format);
                            });
  }
  return 0;
}
