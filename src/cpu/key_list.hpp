// The k nearest f32 candidates so far as sorted 64-bit keys, inserted without a branch. For small k.
#pragma once

#include "core/order/candidate.hpp"

#include <array>
#include <cstdint>

namespace kith::cpu {

/// A key is a packed candidate.
class KeyList {
 public:
  static constexpr std::uint32_t kMost = 16;

  /// Empty places hold (farthest, no point), which every candidate within comes before.
  void reset(std::uint32_t k, float farthest) {
    k_ = k;
    keys_.fill(core::Candidate<float>{farthest, core::kNoPoint}.packed());
  }

  /// What a candidate must come before to enter.
  core::Candidate<float> limit() const { return core::Candidate<float>::of_packed(keys_[k_ - 1]); }

  void offer(core::Candidate<float> candidate) {
    std::uint64_t key = candidate.packed();
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
    for (; size < k_; ++size) {
      out[size] = core::Candidate<float>::of_packed(keys_[size]);
      if (out[size].index == core::kNoPoint) break;
    }
    return size;
  }

 private:
  std::uint32_t k_ = 1;
  std::array<std::uint64_t, kMost> keys_{};
};

}  // namespace kith::cpu
