// Coordinates so small that L2 cannot tell them from zero. Points that have no others lie at distance 0 of each other,
// so that indices alone decide, of which the order of the tree knows nothing. Taken as zero, they make the points
// copies, which a tree over them puts in the order of their indices.
//
// Let h be half the smallest denormal number, s its square root rounded down to a power of two (2^-75 in f32, 2^-538 in
// f64), and t < s/2 * ulp/4 (2^-101, 2^-593). For coordinates x and y with |y| < t the difference is the same number,
// or its square adds nothing:
// - |x| >= s/2: below a power of two numbers are at least s/2 * ulp/2 apart, so that x - y rounds to x - 0.
// - |x| < s/2: x - y and x - 0 are both below s, so that the squares are below h. A sum of squares is a multiple of 2h;
//   adding less than h to it rounds to the same sum.
// Products are not rounded before they are added (the chain is of fused operations), and boxes around points with zeros
// give bounds for them as boxes do for all points.
#pragma once

#include "core/metric/metrics.hpp"
#include "cpu/kd_tree/kd_tree.hpp"
#include "engine/searcher.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::cpu {

/// What is below this, without its sign, is as good as zero under L2.
template <typename T>
inline constexpr T kTiny = sizeof(T) == 4 ? T(0x1p-101) : T(0x1p-593);

template <typename T>
T without_tiny(T value) {
  return std::abs(value) < kTiny<T> ? T(0) : value;
}

/// Whether the metric is L2, and of at least one leaf in `kLeavesPerTinyOne`, of up to some thousand that are looked
/// at, all coordinates are tiny but not all zero.
template <typename T>
bool has_tiny_leaves(const KdTree<T>& tree, Metric metric) {
  constexpr std::uint64_t kMostLooks = 4096, kLeavesPerTinyOne = 8;
  if (core::kind_of_reduction(metric) != Metric::Kind::l2) return false;
  const std::uint64_t leaves = tree.geometry.points == 0 ? 0 : tree.geometry.leaves();
  const std::uint64_t looks = std::min(leaves, kMostLooks);
  std::uint64_t found = 0;
  for (std::uint64_t look = 0; look < looks; ++look) {
    const std::uint64_t node = leaves - 1 + look * leaves / looks;
    const auto is_tiny = [](T bound) { return without_tiny(bound) == 0; };
    const auto is_zero = [](T bound) { return bound == 0; };
    const T* const box = tree.lower(node);  // and its upper bounds
    found += std::all_of(box, box + 2 * tree.dims, is_tiny) && !std::all_of(box, box + 2 * tree.dims, is_zero) ? 1 : 0;
  }
  return found > 0 && found * kLeavesPerTinyOne >= looks;
}

/// Queries whose tiny coordinates are zeros. One query in few dims takes no memory of the heap.
template <typename T>
struct QueriesWithoutTiny {
  QueriesWithoutTiny(const engine::QueryBatch<T>& queries, std::uint32_t dims) : batch(queries) {
    if (queries.is_self()) return;
    const std::uint64_t values = queries.count * dims;
    if (values > few.size()) many.resize(values);
    T* rows = many.empty() ? few.data() : many.data();
    for (std::uint64_t query = 0; query < queries.count; ++query) {
      std::transform(queries.row(query), queries.row(query) + dims, rows + query * dims, without_tiny<T>);
    }
    batch.rows = rows;
    batch.row_stride = dims;
  }
  QueriesWithoutTiny(const QueriesWithoutTiny&) = delete;
  QueriesWithoutTiny& operator=(const QueriesWithoutTiny&) = delete;

  std::array<T, 32> few;
  std::vector<T> many;
  engine::QueryBatch<T> batch;
};

}  // namespace kith::cpu
