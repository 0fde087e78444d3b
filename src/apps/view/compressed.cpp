// See compressed.hpp.
#include "apps/view/compressed.hpp"

#include "runtime/progress_meter.hpp"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>

namespace kith::apps {
namespace {

constexpr int kQuick = 1;
constexpr int kStored = 0;
constexpr int kThorough = 4;
constexpr std::size_t kTrialBytes = std::size_t{1} << 17;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;  // between two looks for a stop
constexpr double kHardlySmaller = 0.97;

struct Deflater {
  explicit Deflater(int level) {
    if (deflateInit(&stream, level) != Z_OK) throw std::bad_alloc();
  }
  ~Deflater() { deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  z_stream stream{};
};

std::string deflated(std::string_view bytes, int level) {
  Deflater deflater(level);
  z_stream& stream = deflater.stream;
  std::string out;
  std::string piece(kPieceBytes, '\0');
  do {
    const std::string_view next = bytes.substr(0, kPieceBytes);
    bytes.remove_prefix(next.size());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next.data()));
    stream.avail_in = static_cast<uInt>(next.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_out = static_cast<uInt>(piece.size());
      deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
      out.append(piece, 0, piece.size() - stream.avail_out);
    } while (stream.avail_out == 0);
    runtime::look_for_stop();
  } while (!bytes.empty());
  return out;
}

}  // namespace

std::size_t compressed_size(std::string_view bytes) { return deflated(bytes, kQuick).size(); }

std::string compressed(std::string_view bytes) {
  // From the middle of the highest plane of larger values nothing could be told: a piece of each eighth is tried.
  std::string trial;
  for (std::size_t i = 0; i < 8; ++i)
    trial += bytes.substr(bytes.size() / 8 * i, std::min(bytes.size() / 8, kTrialBytes / 8));
  const bool pays =
      trial.empty() || static_cast<double>(compressed_size(trial)) < kHardlySmaller * static_cast<double>(trial.size());
  return deflated(bytes, pays ? kThorough : kStored);
}

}  // namespace kith::apps
