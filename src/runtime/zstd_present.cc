// See zstd_stream.hpp: by libzstd.
#include "runtime/zstd_stream.hpp"

#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

namespace kith::runtime {

std::vector<char> decompress_zstd(const InputFile& file, const ProgressCallback& progress) {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  ProgressMeter meter(&progress, "decompressing", file.size());
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(), &ZSTD_freeDStream);
  if (!stream) throw OutOfMemory(fmt::format("{}: no memory to decompress zstd", file.name()));
  std::vector<char> input(kStep);
  std::vector<char> output;
  std::size_t used = 0;
  std::size_t expected = 0;  // what the stream still waits for; 0 at the end of a frame
  for (std::uint64_t offset = 0; offset < file.size();) {
    ZSTD_inBuffer in{input.data(), file.read_at(offset, input.data(), input.size()), 0};
    if (in.size == 0) break;
    bool is_full = false;  // the output was filled, so more may come without input
    while (in.pos < in.size || is_full) {
      if (output.size() < used + kStep) output.resize(std::max(used + kStep, output.size() * 2));
      ZSTD_outBuffer out{output.data() + used, output.size() - used, 0};
      const std::size_t before = in.pos;
      expected = ZSTD_decompressStream(stream.get(), &out, &in);
      if (ZSTD_isError(expected) != 0) {
        throw CorruptFile(fmt::format("{}: the zstd stream is damaged near byte {}: {}", file.name(), offset + in.pos,
                                      ZSTD_getErrorName(expected)));
      }
      used += out.pos;
      is_full = out.pos == out.size;
      if (in.pos == before && out.pos == 0) break;
    }
    offset += in.size;
    meter.report(offset);
  }
  if (expected != 0)
    throw CorruptFile(fmt::format("{}: the zstd stream ends too early, after {} bytes", file.name(), file.size()));
  output.resize(used);
  return output;
}

}  // namespace kith::runtime
