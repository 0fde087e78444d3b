// One piece of memory, handed out in parts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Hands out parts of one piece of memory, aligned to 256 bytes; without memory it only counts.
class ScratchParts {
 public:
  explicit ScratchParts(std::byte* memory) : memory_(memory) {}

  template <typename V>
  V* take(std::uint64_t count) {
    const std::uint64_t at = bytes_;
    bytes_ += (count * sizeof(V) + 255) / 256 * 256;
    return memory_ == nullptr ? nullptr : reinterpret_cast<V*>(memory_ + at);
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::byte* memory_;
  std::uint64_t bytes_ = 0;
};

}  // namespace kith::cuda
