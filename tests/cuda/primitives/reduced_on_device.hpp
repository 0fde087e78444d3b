// Runs the code that host and device share on the GPU, for comparison with the host.
#pragma once

#include "core/order/candidate.hpp"

#include <cstdint>
#include <vector>

namespace kith::test {

/// What the shared code computes for one pair of rows and one box.
template <typename T>
struct PairResult {
  T l2, l1, linf, root, box;

  friend bool operator==(const PairResult&, const PairResult&) = default;
};

/// Pair i is row 2i as the query and row 2i + 1 as the point; the box is spanned by the point and the next query.
template <typename T>
std::vector<PairResult<T>> pairs_on_device(const std::vector<T>& rows, std::uint32_t dims);
template <typename T>
std::vector<PairResult<T>> pairs_on_host(const std::vector<T>& rows, std::uint32_t dims);

/// One thread offers all candidates to a NearestList of `capacity`.
std::vector<core::Candidate<float>> list_on_device(const std::vector<core::Candidate<float>>& offered,
                                                   std::uint32_t capacity);

}  // namespace kith::test
