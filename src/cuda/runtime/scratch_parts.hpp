// Memory, handed out in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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

/// A piece of memory; without an address it is only counted.
struct MemoryPiece {
  std::byte* at = nullptr;
  std::uint64_t bytes = 0;
};

/// Hands out parts of pieces that are idle during a step, and of `rest` what none of them has enough left for.
class IdleParts {
 public:
  IdleParts(std::vector<MemoryPiece> idle, ScratchParts& rest) : idle_(std::move(idle)), rest_(rest) {
    for (const MemoryPiece& piece : idle_) parts_.emplace_back(piece.at);
  }

  template <typename V>
  V* take(std::uint64_t count) {
    for (std::size_t i = 0; i < idle_.size(); ++i) {
      if (parts_[i].bytes() + count * sizeof(V) <= idle_[i].bytes) return parts_[i].take<V>(count);
    }
    return rest_.take<V>(count);
  }
  /// What was handed out so far of each idle piece that was used.
  std::vector<MemoryPiece> used() const {
    std::vector<MemoryPiece> pieces;
    for (std::size_t i = 0; i < idle_.size(); ++i) {
      const std::uint64_t bytes = parts_[i].bytes() < idle_[i].bytes ? parts_[i].bytes() : idle_[i].bytes;
      if (bytes > 0) pieces.push_back({idle_[i].at, bytes});
    }
    return pieces;
  }

 private:
  std::vector<MemoryPiece> idle_;
  std::vector<ScratchParts> parts_;
  ScratchParts& rest_;
};

}  // namespace kith::cuda
