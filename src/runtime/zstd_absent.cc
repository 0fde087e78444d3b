// See zstd_stream.hpp: libzstd was not there when the library was built.
#include "runtime/zstd_stream.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::runtime {

std::vector<char> decompress_zstd(const InputFile& file, const ProgressCallback&) {
  throw CorruptFile(fmt::format(
      "{}: is compressed with zstd, and this build of kith has no libzstd; decompress it first: zstd -d", file.name()));
}

}  // namespace kith::runtime
