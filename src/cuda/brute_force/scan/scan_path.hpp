// Which kernels scan: by the metric, the dims and the number of queries.
#pragma once

#include "core/metric/metrics.hpp"
#include "cuda/queries/requests.hpp"

#include <cstdint>
#include <type_traits>

namespace kith::cuda {

/// The metrics whose scans keep tiles of pairs in registers. All others, and periodic axes, go pair by pair.
struct TiledMetrics {
  template <typename M>
  static constexpr bool kTakes = std::is_same_v<M, core::L2> || std::is_same_v<M, core::L1> ||
                                 std::is_same_v<M, core::Linf> || std::is_same_v<M, core::InnerProduct>;
};
inline bool has_tiles(Metric::Kind kind) {
  return core::visit_kind<core::EveryReduction>(kind, 3,
                                                [](auto each) { return TiledMetrics::kTakes<decltype(each)>; });
}

/// Queries of a tile.
template <typename T>
inline constexpr std::uint32_t kTileQueries = 512 / sizeof(T);
/// Up to this many queries use the kernels for a few: more of them are measured faster as a tile, even if most of it is
/// empty.
template <typename T>
inline constexpr std::uint64_t kFewQueries = kTileQueries<T> * 3 / 8;

enum class ScanPath : std::uint8_t {
  bits,    ///< words of bits
  pairs,   ///< pair by pair, any metric
  few,     ///< a few queries, all in registers
  narrow,  ///< tiles of points of few dims
  wide     ///< tiles of any dims
};

template <typename T>
ScanPath scan_path(const SearchMetric<T>& metric, std::uint32_t dims, std::uint64_t queries) {
  if (metric.is_hamming) return ScanPath::bits;
  if (metric.lengths != nullptr || !has_tiles(metric.kind)) return ScanPath::pairs;
  if (queries <= kFewQueries<T>) return ScanPath::few;
  return dims > 4 ? ScanPath::wide : ScanPath::narrow;
}

}  // namespace kith::cuda
