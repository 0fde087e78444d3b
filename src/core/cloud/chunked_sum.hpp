// Sums of any number of items in one fixed order that can be computed chunk by chunk.
#pragma once

#include "core/host_device.hpp"

#include <cstdint>

namespace kith::core {

/// Items of a chunk: they are added one by one from 0, and so are the sums of chunks.
inline constexpr std::uint32_t kSumChunk = 1024;

/// Takes items one after the other.
class ChunkedSum {
 public:
  /// `number` is that of the item, from 0.
  KITH_HOST_DEVICE void add(double value, std::uint32_t number) {
    if (number % kSumChunk == 0) finish_chunk();
    chunk_ += value;
  }
  KITH_HOST_DEVICE double total() const { return chunks_ + chunk_; }

 private:
  KITH_HOST_DEVICE void finish_chunk() {
    chunks_ += chunk_;
    chunk_ = 0;
  }

  double chunks_ = 0;  // the first chunk that is added is an empty one, which changes nothing
  double chunk_ = 0;
};

}  // namespace kith::core
