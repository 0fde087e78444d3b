// A candidate in the form that a thread sorts fastest: with f32 distances it is one number.
#pragma once

#include "core/order/candidate.hpp"
#include "cuda/primitives/intrinsics.cuh"

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

template <>
class ExactEntry<float> {
 public:
  ExactEntry() = default;
  __device__ explicit ExactEntry(const core::Candidate<float>& candidate) : packed_(candidate.packed()) {}
  __device__ core::Candidate<float> candidate() const { return core::Candidate<float>::of_packed(packed_); }
  __device__ friend bool operator<(const ExactEntry& a, const ExactEntry& b) { return a.packed_ < b.packed_; }

 private:
  std::uint64_t packed_;
};

}  // namespace kith::cuda
