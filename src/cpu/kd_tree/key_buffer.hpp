// The k nearest f32 candidates of one query for larger k: keys are gathered and, when there are twice too many, cut
// back to the k nearest.
#pragma once

#include "cpu/kd_tree/distance_key.hpp"
#include "cpu/kd_tree/leaf_hits.hpp"
#include "split/select_key.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::cpu {

/// O(1) per candidate on average; nothing is sorted before the end.
class KeyBuffer {
 public:
  /// `most` is how many candidates can come at all.
  KeyBuffer(std::uint32_t k, std::uint64_t most)
      : k_(static_cast<std::uint32_t>(std::min<std::uint64_t>(k, most))),
        cut_at_(std::min<std::uint64_t>(2 * std::uint64_t{k_}, most)),
        keys_(cut_at_ + kScanPoints) {}

  void reset(float farthest) {
    size_ = 0;
    limit_ = k_ == 0 ? core::Candidate<float>::first() : core::Candidate<float>{farthest, core::kNoPoint};
  }

  const core::Candidate<float>& limit() const { return limit_; }

  /// All hits must be within the limit's reduced distance. `spare` grows to what a cut needs.
  void insert(std::uint64_t hits, const float* reduced, const std::uint32_t* indices, std::vector<double>& spare) {
    double* end = keys_.data() + size_;
    for (; hits != 0; hits &= hits - 1) {
      const int i = std::countr_zero(hits);
      *end++ = DistanceKey::of(reduced[i], indices[i]);
    }
    size_ = static_cast<std::size_t>(end - keys_.data());
    if (size_ >= cut_at_ && size_ > k_ && !cut_roughly(spare)) cut_back(spare);
  }

  /// Sorts and writes `places` places (at least as many as are kept): what was found, then `missing` and infinity.
  void write(std::uint32_t places, std::uint32_t missing, std::uint32_t* indices, float* reduced,
             std::vector<double>& spare) {
    if (size_ > k_) cut_back(spare);
    sort_keys(keys_.data(), size_);
    for (std::size_t i = 0; i < size_; ++i) {
      const core::Candidate<float> found = DistanceKey::candidate(keys_[i]);
      indices[i] = found.index;
      reduced[i] = found.distance;
    }
    std::fill(indices + size_, indices + places, missing);
    std::fill(reduced + size_, reduced + places, std::numeric_limits<float>::infinity());
  }

 private:
  /// Keeps the k nearest and some more: what is not beyond a key of a sample. False, and nothing is lost, if that was
  /// too far or too near.
  bool cut_roughly(std::vector<double>& spare) {
    constexpr std::size_t kSample = 16;
    if (size_ < 2 * kSample) return false;
    if (spare.size() < 2 * size_) spare.resize(2 * size_);
    std::array<double, split::kFewKeys> sample;
    for (std::size_t i = 0; i < kSample; ++i) sample[i] = keys_[(2 * i + 1) * size_ / (2 * kSample)];
    const std::size_t place = std::min(kSample - 1, k_ * kSample / size_ + 1);
    const double pivot = split::select_few(sample.data(), kSample, place, place).first;
    std::size_t kept = 0, dropped = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const double key = keys_[i];
      keys_[kept] = key;
      spare[dropped] = key;
      kept += key <= pivot ? 1 : 0;
      dropped += key <= pivot ? 0 : 1;
    }
    if (kept < k_ || kept > size_ - size_ / 8) {
      std::copy_n(spare.begin(), dropped, keys_.begin() + static_cast<std::ptrdiff_t>(kept));
      return false;
    }
    size_ = kept;
    set_limit(pivot);
    return true;
  }

  /// Keeps the k nearest, in any order.
  void cut_back(std::vector<double>& spare) {
    if (spare.size() < 2 * size_) spare.resize(2 * size_);
    const double worst = split::select_key<double>(split::KeyArray<double>{keys_.data()}, size_, k_ - 1,
                                                   {spare.data(), spare.data() + size_, size_});
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const double key = keys_[i];
      keys_[kept] = key;
      kept += key <= worst ? 1 : 0;
    }
    size_ = kept;
    set_limit(worst);
  }

  /// Nothing beyond `key` can be among the k nearest.
  void set_limit(double key) {
    const core::Candidate<float> last = DistanceKey::candidate(key);
    limit_ = {last.distance, last.index};
  }

  std::uint32_t k_;
  std::uint64_t cut_at_;
  std::vector<double> keys_;
  std::size_t size_ = 0;
  core::Candidate<float> limit_{};
};

}  // namespace kith::cpu
