// Labels and values of neighbours: what the kernels get.
#pragma once

#include "core/vote.hpp"

#include <cstdint>

namespace kith::cuda {

/// Longer lists take a warp.
inline constexpr std::uint32_t kMostByThreads = 32;

/// Rows of k neighbours, the nearest first. Missing ones come last and have the number of points of the index.
template <typename T>
struct NeighborRows {
  const std::uint32_t* indices = nullptr;
  const T* distances = nullptr;  ///< null: all weights are 1
  std::uint64_t count = 0;
  std::uint32_t k = 0;
  std::uint32_t missing = 0;
};

/// A label that was found, and how long the longest chain of new points is that led to it, in one word: a thread that
/// sees one of the two sees the other.
struct FoundLabel {
  static constexpr std::uint64_t kNotYet = ~std::uint64_t{0};

  KITH_HOST_DEVICE static constexpr std::uint64_t word(std::uint32_t label, std::uint32_t depth) {
    return std::uint64_t{depth} << 32 | label;
  }
  KITH_HOST_DEVICE static constexpr std::uint32_t label(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
  KITH_HOST_DEVICE static constexpr std::uint32_t depth(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32);
  }
};

/// Whose labels count. Points below `trained` have theirs from the caller; those from there on are new points, which
/// have theirs once they are found.
struct KnownLabels {
  const std::uint32_t* labels = nullptr;  ///< of the first `trained` points
  std::uint32_t trained = 0;
  std::uint64_t* found = nullptr;  ///< per new point, kNotYet until it has one; null if new points are not neighbours
};

/// What the host wants to know in the end.
struct LabelReport {
  std::uint64_t first_bad = 0;    ///< the first code or value that is none; begins above all
  std::uint64_t first_empty = 0;  ///< the first query without neighbours; begins above all
  std::uint32_t depth = 0;        ///< begins as 0
};

/// Labels for rows [first_row, first_row + rows.count) of all queries, which are the new points if those count.
template <typename T>
struct VoteTask {
  NeighborRows<T> rows;
  KnownLabels known;
  std::uint64_t first_row = 0;
  core::TieRule ties = {};
  std::uint32_t* labels = nullptr;   ///< of all queries
  std::uint32_t* ticket = nullptr;   ///< begins as 0
  std::uint32_t most_depth = ~0u;    ///< short lists: a label of this depth ends the work; some have no label then
  std::uint32_t* scratch = nullptr;  ///< k words for each warp; only for long lists
  LabelReport* report = nullptr;
};

/// The weight of each class among the neighbours, as a share of all; labels are known by now.
template <typename T>
struct ShareTask {
  NeighborRows<T> rows;
  KnownLabels known;
  std::uint32_t classes = 0;
  double* shares = nullptr;  ///< rows of `classes`, the first one that of the first list
};

/// The mean of the neighbours' values, by weight.
template <typename T>
struct MeanTask {
  NeighborRows<T> rows;
  const double* values = nullptr;  ///< of points
  std::uint64_t first_row = 0;
  double* means = nullptr;  ///< of all queries
  LabelReport* report = nullptr;
};

}  // namespace kith::cuda
