// One query against the points of a leaf, for code that Highway compiles once per instruction set.
//
// Per-target guard: included once for each instruction set.
#if defined(KITH_CPU_LEAF_SCAN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CPU_LEAF_SCAN_INL
#undef KITH_CPU_LEAF_SCAN_INL
#else
#define KITH_CPU_LEAF_SCAN_INL
#endif

#include "cpu/kd_tree/kd_tree.hpp"
#include "cpu/kd_tree/leaf_hits.hpp"
#include "cpu/kd_tree/lp_filter.hpp"
#include "cpu/simd_reduced-inl.hpp"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {

/// Vectors no longer than a scan, so that a scan is a whole number of them.
template <typename T>
using Lanes = hn::CappedTag<T, kScanPoints>;

/// A leaf as a scan sees it.
template <typename T>
struct LeafPoints {
  const T* values;  ///< [dimension][point]
  const std::uint32_t* indices;
  std::uint32_t size;

  LeafPoints(const KdTree<T>& tree, std::uint64_t leaf)
      : values(tree.block(leaf)), indices(tree.block_indices(leaf)), size(tree.leaf_count(leaf)) {}
};

/// What dismisses points before their reduced distances are computed.
template <typename T, class M>
using ReachOf = std::conditional_t<std::is_same_v<M, core::Lp>, LpReach<T>, NoReach<T>>;

/// The reduced distances from a query to `kVectors` vectors of points of a leaf, from `first` on; one bit for each up
/// to `limit`. `query` holds a coordinate every `kStride`. Vectors may run over the end of the leaf.
template <std::uint32_t kVectors, std::uint32_t kStride, typename T, class M, class Axes>
HWY_INLINE std::uint64_t compare_points(const LeafPoints<T>& leaf, std::uint32_t first, const T* query,
                                        std::uint32_t dims, const M& metric, const Axes& axes, const ReachOf<T, M>&,
                                        T limit, T* reduced) {
  const Lanes<T> lanes;
  constexpr std::uint32_t kLanes = hn::MaxLanes(Lanes<T>());
  const T* points = leaf.values + first;
  hn::Vec<Lanes<T>> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(lanes);
  for (std::uint32_t d = 0; d < dims; ++d) {
    const auto coordinate = hn::Set(lanes, query[std::size_t{d} * kStride]);
    for (std::uint32_t v = 0; v < kVectors; ++v) {
      const auto point = hn::LoadU(lanes, points + std::uint64_t{d} * leaf.size + v * kLanes);
      sums[v] = step_of_pair(metric, axes, d, sums[v], coordinate, point);
    }
  }
  const auto most = hn::Set(lanes, limit);
  hn::Mask<Lanes<T>> within[kVectors];
  for (std::uint32_t v = 0; v < kVectors; ++v) {
    hn::StoreU(sums[v], lanes, reduced + v * kLanes);
    within[v] = hn::Le(sums[v], most);
  }
  return bits_of(lanes, within);
}

/// Which lanes cheap sums do not dismiss. `difference(d)` gives the differences in dimension d.
template <class D, class Difference>
HWY_INLINE hn::Mask<D> within_reach(D lanes, hn::Vec<D> most, hn::Vec<D> most_squares, std::uint32_t dims,
                                    const Difference& difference) {
  auto largest = hn::Zero(lanes), squares = hn::Zero(lanes);
  for (std::uint32_t d = 0; d < dims; ++d) {
    const auto e = difference(d);
    largest = hn::Max(largest, hn::Abs(e));
    squares = hn::Add(squares, hn::Mul(e, e));
  }
  return hn::And(hn::Le(largest, most), hn::Le(squares, most_squares));
}

/// `compare_points` under Lp, where powers take nearly all the time: only points that cheap sums do not dismiss get
/// them, those of all of them at once.
template <std::uint32_t kVectors, std::uint32_t kStride, typename T>
HWY_INLINE std::uint64_t compare_points(const LeafPoints<T>& leaf, std::uint32_t first, const T* query,
                                        std::uint32_t dims, const core::Lp& metric, const PlainAxes<T>&,
                                        const LpReach<T>& reach, T limit, T* reduced) {
  const Lanes<T> lanes;
  constexpr std::uint32_t kLanes = hn::MaxLanes(Lanes<T>()), kDimsAtOnce = 8;
  const T* points = leaf.values + first;
  const auto most = hn::Set(lanes, reach.largest), most_squares = hn::Set(lanes, reach.squares);
  hn::Mask<Lanes<T>> within[kVectors];
  for (std::uint32_t v = 0; v < kVectors; ++v) {
    within[v] = within_reach(lanes, most, most_squares, dims, [&](std::uint32_t d) HWY_ATTR {
      const auto point = hn::LoadU(lanes, points + std::uint64_t{d} * leaf.size + v * kLanes);
      return hn::Sub(hn::Set(lanes, query[std::size_t{d} * kStride]), point);
    });
  }
  std::uint32_t places[kScanPoints], count = 0;
  for (std::uint64_t rest = bits_of(lanes, within); rest != 0; rest &= rest - 1) {
    reduced[places[count++] = static_cast<std::uint32_t>(__builtin_ctzll(rest))] = 0;
  }
  HWY_ALIGN T terms[kDimsAtOnce * kScanPoints];
  for (std::uint32_t d = 0; d < dims && count > 0; d += kDimsAtOnce) {
    const std::uint32_t end = HWY_MIN(d + kDimsAtOnce, dims);
    std::uint32_t size = 0;
    for (std::uint32_t e = d; e < end; ++e) {
      const T* row = points + std::uint64_t{e} * leaf.size;
      for (std::uint32_t i = 0; i < count; ++i) {
        const core::formula::OnNumbers<core::Lp, T> pair{metric, 0, query[std::size_t{e} * kStride], row[places[i]]};
        terms[size++] = pair(PowerTermOf<core::Lp>::Base{});
      }
    }
    while (size % kLanes != 0) terms[size++] = 1;
    powers_of(terms, size, metric.p);
    const T* term = terms;
    for (std::uint32_t e = d; e < end; ++e) {
      for (std::uint32_t i = 0; i < count; ++i) reduced[places[i]] += *term++;
    }
  }
  std::uint64_t hits = 0;
  for (std::uint32_t i = 0; i < count; ++i) hits |= std::uint64_t{reduced[places[i]] <= limit} << places[i];
  return hits;
}

/// The same for the points of the leaf from `first` on, at most kScanPoints.
template <std::uint32_t kStride, typename T, class M, class Axes>
HWY_INLINE std::uint64_t scan_points(const LeafPoints<T>& leaf, std::uint32_t first, const T* query, std::uint32_t dims,
                                     const M& metric, const Axes& axes, const ReachOf<T, M>& reach, T limit,
                                     T* reduced) {
  constexpr std::uint32_t kVectors = kScanPoints / hn::MaxLanes(Lanes<T>());
  const std::uint32_t rest = leaf.size - first;
  const std::uint64_t hits =
      rest > kScanPoints / 2
          ? compare_points<kVectors, kStride>(leaf, first, query, dims, metric, axes, reach, limit, reduced)
          : compare_points<(kVectors + 1) / 2, kStride>(leaf, first, query, dims, metric, axes, reach, limit, reduced);
  return rest < kScanPoints ? hits & ((std::uint64_t{1} << rest) - 1) : hits;  // what lies behind the leaf is no point
}

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
