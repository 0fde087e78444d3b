// How a walk tells what it found in a leaf, and how far a query still looks.
#pragma once

#include "core/order/candidate.hpp"
#include "cpu/kd_tree/tuning.hpp"

#include <cstdint>

namespace kith::cpu {

/// Told that some points of a leaf are at most as far as a query's limit: bit i of `hits` stands for indices[i] at
/// reduced[i]. Returns the query's new limit.
template <typename T>
using LeafHitFunction = core::Candidate<T> (*)(void* context, std::uint32_t query, std::uint64_t hits, const T* reduced,
                                               const std::uint32_t* indices);

/// Which points are to be found at all, as far as whole nodes can be passed over.
struct NodeFilter {
  std::uint32_t end = core::kNoPoint;    ///< only points below this number
  const std::uint64_t* alive = nullptr;  ///< bit i % 64 of word i / 64: node i holds a point that may be found

  bool passes(std::uint64_t node, std::uint32_t smallest) const {
    return smallest < end && (alive == nullptr || (alive[node / 64] >> (node % 64) & 1) != 0);
  }
};

}  // namespace kith::cpu
