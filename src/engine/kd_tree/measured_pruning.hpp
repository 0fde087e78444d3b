// How well a k-d tree prunes over the points that it holds, measured: `automatic` keeps the tree or scans instead.
//
// Dimensions say little about that: real data often lies on fewer than it has, and then a tree of 30 dims prunes as one
// of 5. So some of the points ask for their neighbours with leave to look at a small share of the leaves only, and each
// answer says whether it is certain nevertheless. The tree stays if most are.
#pragma once

#include "core/kd_geometry.hpp"
#include "engine/kd_tree/kd_tree.hpp"
#include "engine/searcher.hpp"

#include <kith/device.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace kith::engine {

/// What was measured, and what follows.
struct Pruning {
  std::uint32_t asked = 0;    ///< points
  std::uint32_t certain = 0;  ///< those whose neighbours were found within the share
  double share = 0;           ///< of the leaves

  bool pays() const { return 2 * certain >= asked; }
};

/// How many points ask.
inline constexpr std::uint64_t kProbes = 64;
/// A k like many.
inline constexpr std::uint32_t kProbedNeighbors = 8;

/// The share of the leaves at which a tree and a scan take the same time, measured on uniform points of 6 to 16 dims:
/// on a GPU (10 000 queries) 9 % of 10 000 points, 3 % of 100 000, 1 % of a million, and where scans filter by sums in
/// halves (f32, up to 32 dims) 2 % of 100 000 and 0.65 % of a million; on a CPU a quarter of small trees, which stay in
/// its caches, and some percent of large ones. There a scan of f64 hardly takes longer than one of f32, because its
/// filter is f32, but a tree does.
template <typename T>
double share_that_pays(Device device, std::uint64_t points, std::uint32_t dims) {
  const auto count = static_cast<double>(std::max<std::uint64_t>(points, 1));
  if (device.kind() == Device::Kind::cuda) {
    const bool has_half_sums = sizeof(T) == sizeof(float) && dims <= 32 && points >= 50000;
    return std::clamp((has_half_sums ? 6.5 : 9) / std::sqrt(count), 0.001, 0.2);
  }
  return std::clamp(10000 / count, 0.05, 0.25) * (sizeof(T) == sizeof(double) ? 0.75 : 1);
}

/// `rows` are kProbes rows of the searcher's points, side by side; it is a k-d tree with leaves of `leaf_size`.
template <typename T>
Pruning measure_pruning(const Searcher<T>& tree, Device device, const T* rows, std::uint64_t points, std::uint32_t dims,
                        std::uint32_t leaf_size, int threads) {
  const core::KdGeometry geometry = core::KdGeometry::of(points, leaf_size_of(leaf_size, dims));
  Pruning pruning;
  pruning.asked = kProbes;
  pruning.share = share_that_pays<T>(device, points, dims);
  KnnRules<T> rules;
  rules.is_probe = true;
  rules.max_leaves = std::max(1u, static_cast<std::uint32_t>(pruning.share * static_cast<double>(geometry.leaves())));
  constexpr std::uint32_t kEntries = kProbedNeighbors + 1;  // the point itself is one
  std::vector<std::uint32_t> indices(kProbes * kEntries);
  std::vector<T> reduced(kProbes * kEntries);
  std::vector<std::uint8_t> exact(kProbes);
  QueryBatch<T> queries;
  queries.rows = rows;
  queries.row_stride = dims;
  queries.count = kProbes;
  tree.knn(queries, kEntries, rules, {.threads = threads}, indices.data(), reduced.data(), exact.data());
  for (const std::uint8_t is_exact : exact) pruning.certain += is_exact;
  return pruning;
}

}  // namespace kith::engine
