// The k nearest f32 candidates so far as sorted 64-bit keys, inserted without a branch. For small k.
#pragma once

#include "core/candidate.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace kith::cpu {

/// A key holds the bits of a distance above the index: distances are never negative, so keys order as (distance,
/// index).
class KeyList {
 public:
  static constexpr std::uint32_t kMost = 16;

  static std::uint64_t key_of(core::Candidate<float> candidate) {
    return std::uint64_t{std::bit_cast<std::uint32_t>(candidate.distance)} << 32 | candidate.index;
  }
  static core::Candidate<float> candidate_of(std::uint64_t key) {
    return {std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32)), static_cast<std::uint32_t>(key)};
  }

  /// Empty places hold (farthest, no point), which every candidate within comes before.
  void reset(std::uint32_t k, float farthest) {
    k_ = k;
    keys_.fill(key_of({farthest, kEmpty}));
  }

  /// What a candidate must come before to enter.
  core::Candidate<float> limit() const { return candidate_of(keys_[k_ - 1]); }

  void offer(core::Candidate<float> candidate) {
    std::uint64_t key = key_of(candidate);
    if (key >= keys_[k_ - 1]) return;
    for (std::uint32_t i = 0; i < k_; ++i) {  // the smaller stays, the larger moves on
      const std::uint64_t kept = keys_[i];
      keys_[i] = key < kept ? key : kept;
      key = key < kept ? kept : key;
    }
  }

  /// Copies the candidates kept, nearest first; returns how many.
  std::uint32_t copy_to(core::Candidate<float>* out) const {
    std::uint32_t size = 0;
    while (size < k_ && static_cast<std::uint32_t>(keys_[size]) != kEmpty) {
      out[size] = candidate_of(keys_[size]);
      ++size;
    }
    return size;
  }

 private:
  static constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t k_ = 1;
  std::array<std::uint64_t, kMost> keys_{};
};

}  // namespace kith::cpu
