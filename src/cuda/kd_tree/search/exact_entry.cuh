// A candidate in the form that a thread sorts fastest: with f32 distances it is one number.
#pragma once

#include "core/candidate.hpp"
#include "cuda/intrinsics.cuh"

#include <bit>
#include <cstdint>

namespace kith::cuda {

template <typename T>
class ExactEntry {
 public:
  ExactEntry() = default;
  __device__ explicit ExactEntry(const core::Candidate<T>& candidate) : candidate_(candidate) {}
  __device__ core::Candidate<T> candidate() const { return candidate_; }
  __device__ friend bool operator<(const ExactEntry& a, const ExactEntry& b) { return a.candidate_ < b.candidate_; }

 private:
  core::Candidate<T> candidate_;
};

/// The bits of distances, which are not negative, order like the distances.
template <>
class ExactEntry<float> {
 public:
  ExactEntry() = default;
  __device__ explicit ExactEntry(const core::Candidate<float>& candidate)
      : bits_(std::uint64_t{std::bit_cast<std::uint32_t>(candidate.distance)} << 32 | candidate.index) {}
  __device__ core::Candidate<float> candidate() const {
    return {std::bit_cast<float>(static_cast<std::uint32_t>(bits_ >> 32)), static_cast<std::uint32_t>(bits_)};
  }
  __device__ friend bool operator<(const ExactEntry& a, const ExactEntry& b) { return a.bits_ < b.bits_; }

 private:
  std::uint64_t bits_;
};

}  // namespace kith::cuda
