// See scan.hpp. Written once, compiled for each instruction set, chosen at run time. A lane is a point, so the reduced
// distance of a pair is the same whatever the width of the vectors.
#include "cpu/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/brute_force/scan.cpp"
#include <hwy/foreach_target.h>
// The line above must come before the next one.
#include <hwy/highway.h>

#include "core/dispatch.hpp"
#include "core/metric/reduced_distance.hpp"
#include "cpu/brute_force/scan.hpp"
#include "cpu/simd_reduced-inl.hpp"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX2
constexpr std::size_t kVectors = 2;  // per panel: 8 sums, 2 points and a query fit 16 registers
#else
constexpr std::size_t kVectors = 4;
#endif

/// Query `kIndex` of a packed group in every lane. On Arm the multiply-add takes a lane of a loaded vector for free.
template <std::size_t kIndex, class D, typename T>
HWY_INLINE hn::Vec<D> in_every_lane(D lanes, const T* group) {
#if HWY_TARGET == HWY_NEON
  constexpr std::size_t kLanes = 16 / sizeof(T);
  return hn::Broadcast<kIndex % kLanes>(hn::LoadU(lanes, group + kIndex / kLanes * kLanes));
#else
  return hn::Set(lanes, group[kIndex]);
#endif
}

constexpr std::size_t kPanel = kVectors * hn::MaxLanes(hn::ScalableTag<float>());

/// The chain takes so many points of a panel at a time: all of them in f32, half of them in f64.
template <class D>
constexpr std::size_t kPart = hn::MaxLanes(D()) * kVectors;
template <class D>
constexpr std::size_t kParts = kPanel / kPart<D>;

/// The queries that need the chain for the parts of one panel.
template <class D>
struct Passed {
  std::uint32_t counts[kParts<D>] = {};
  std::uint32_t queries[kParts<D>][kMostGroups * kGroup];
};

/// Hands the distances of one query to one part of a panel to the caller if one of them is within the bound.
template <class D, typename T>
HWY_INLINE void report(D lanes, const Scan<T>& scan, std::uint32_t query, std::uint64_t first_point,
                       const hn::Vec<D> (&sums)[kVectors]) {
  const auto bound = hn::Set(lanes, scan.bounds[query]);
  auto nearest = sums[0];
  for (std::size_t v = 1; v < kVectors; ++v) nearest = hn::Min(nearest, sums[v]);
  if (hn::AllFalse(lanes, hn::Le(nearest, bound))) return;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  static_assert(kPanel <= kWidestPanel, "one bit per point");
  HWY_ALIGN T reduced[kPart<D>];
  std::uint64_t hits = 0;
  for (std::size_t v = 0; v < kVectors; ++v) {
    hn::Store(sums[v], lanes, reduced + v * kLanes);
    hits |= bits_of(lanes, hn::Le(sums[v], bound)) << (v * kLanes);
  }
  scan.bounds[query] = scan.on_hit(scan.context, query, first_point, reduced, hits);
}

/// Up to kGroup queries of any groups against one part of a panel by the chain, all at once to keep the pipelines full.
template <class D, typename T, std::uint32_t kDims>
HWY_INLINE void recheck_queries(const Scan<T>& scan, std::uint64_t panel, std::size_t part,
                                const std::uint32_t* queries, std::uint32_t count,
                                std::integral_constant<std::uint32_t, kDims>) {
  const D lanes;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  const std::uint32_t dims = kDims == core::kRuntimeDims ? scan.dims : kDims;
  const T* points = scan.panels + panel * dims * kPanel + part;
  const T* coordinates[kGroup];
  for (std::uint32_t q = 0; q < kGroup; ++q) {  // places without a query repeat the last one
    const std::uint32_t query = queries[q < count ? q : count - 1];
    coordinates[q] = scan.queries + std::size_t{query / kGroup} * dims * kGroup + query % kGroup;
  }
  hn::Vec<D> sums[kGroup][kVectors];
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(lanes);
  }
  for (std::uint32_t d = 0; d < dims; ++d) {
    const std::size_t place = std::size_t{d} * kGroup;
    const hn::Vec<D> query[kGroup] = {hn::Set(lanes, coordinates[0][place]), hn::Set(lanes, coordinates[1][place]),
                                      hn::Set(lanes, coordinates[2][place]), hn::Set(lanes, coordinates[3][place])};
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto point = hn::Load(lanes, points + d * kPanel + v * kLanes);
      for (std::size_t q = 0; q < kGroup; ++q) sums[q][v] = step_of_values(core::L2{}, sums[q][v], query[q], point);
    }
  }
  for (std::uint32_t q = 0; q < count; ++q) {
    report(lanes, scan, queries[q], panel * kPanel + part, sums[q]);
    scan.filter_bounds[queries[q]] = filter_bound(scan.bounds[queries[q]], scan.query_terms[queries[q]], scan.units);
  }
}

/// The queries that passed the filter for one panel. Kept out of line: it is the rare path.
template <class D, typename T, std::uint32_t kDims>
HWY_NOINLINE void recheck(const Scan<T>& scan, std::uint64_t panel, const Passed<D>& passed,
                          std::integral_constant<std::uint32_t, kDims> constant_dims) {
  for (std::size_t part = 0; part < kParts<D>; ++part) {
    for (std::uint32_t first = 0; first < passed.counts[part]; first += kGroup) {
      recheck_queries<D>(scan, panel, part * kPart<D>, passed.queries[part] + first,
                         HWY_MIN(kGroup, passed.counts[part] - first), constant_dims);
    }
  }
}

/// A dimension of `scan_group` under Lp: the powers of all pairs at once.
template <class D, typename T, class M, class Axes>
HWY_NOINLINE void add_powers(const M& metric, const Axes& axes, std::uint32_t d, const hn::Vec<D> (&queries)[kGroup],
                             const T* points, hn::Vec<D> (&sums)[kGroup][kVectors]) {
  const D lanes;
  HWY_ALIGN T terms[kGroup][kVectors][hn::MaxLanes(D())];
  for (std::size_t v = 0; v < kVectors; ++v) {
    const auto point = hn::Load(lanes, points + v * hn::MaxLanes(D()));
    for (std::size_t q = 0; q < kGroup; ++q) {
      hn::Store(base_of_power(metric, axes, d, queries[q], point), lanes, terms[q][v]);
    }
  }
  powers_of(terms[0][0], kGroup * kPart<D>, metric.p);
  for (std::size_t q = 0; q < kGroup; ++q) {
    for (std::size_t v = 0; v < kVectors; ++v) sums[q][v] = hn::Add(sums[q][v], hn::Load(lanes, terms[q][v]));
  }
}

/// A group of queries against one part of a panel by the chain.
template <class D, typename T, class M, class Axes, std::uint32_t kDims>
HWY_INLINE void scan_group(const Scan<T>& scan, const M& metric, const Axes& axes, std::uint64_t panel,
                           std::size_t part, std::uint32_t group, std::integral_constant<std::uint32_t, kDims>) {
  const D lanes;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  const std::uint32_t dims = kDims == core::kRuntimeDims ? scan.dims : kDims;
  const T* points = scan.panels + panel * dims * kPanel + part;
  const T* queries = scan.queries + std::size_t{group} * dims * kGroup;
  hn::Vec<D> sums[kGroup][kVectors];
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(lanes);
  }
  for (std::uint32_t d = 0; d < dims; ++d) {
    const T* coordinates = queries + d * kGroup;
    const hn::Vec<D> query[kGroup] = {in_every_lane<0>(lanes, coordinates), in_every_lane<1>(lanes, coordinates),
                                      in_every_lane<2>(lanes, coordinates), in_every_lane<3>(lanes, coordinates)};
    if constexpr (PowerTermOf<M>::kIsThere) {
      if (!metric.p.has_root()) {
        add_powers<D, T>(metric, axes, d, query, points + d * kPanel, sums);
        continue;
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto point = hn::Load(lanes, points + d * kPanel + v * kLanes);
      for (std::size_t q = 0; q < kGroup; ++q) sums[q][v] = step_of_pair(metric, axes, d, sums[q][v], query[q], point);
    }
  }
  if constexpr (core::kIsQuotient<M>) {
    hn::Vec<D> seconds[kGroup][kVectors];
    for (auto& row : seconds) {
      for (auto& sum : row) sum = hn::Zero(lanes);
    }
    for (std::uint32_t d = 0; d < dims; ++d) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const auto point = hn::Load(lanes, points + d * kPanel + v * kLanes);
        for (std::size_t q = 0; q < kGroup; ++q) {
          const auto query = hn::Set(lanes, queries[d * kGroup + q]);
          seconds[q][v] = second_step_of_values(metric, seconds[q][v], query, point);
        }
      }
    }
    for (std::uint32_t q = 0; q < kGroup; ++q) {
      for (std::size_t v = 0; v < kVectors; ++v) seconds[q][v] = quotient(sums[q][v], seconds[q][v]);
      report(lanes, scan, group * kGroup + q, panel * kPanel + part, seconds[q]);
    }
  } else if constexpr (!std::is_same_v<decltype(M::kEnd), const core::formula::Sum>) {
    hn::Vec<D> ends[kGroup][kVectors];  // not the sums: what is reported lies in memory
    for (std::size_t q = 0; q < kGroup; ++q) {
      for (std::size_t v = 0; v < kVectors; ++v) ends[q][v] = reduced_end(metric, sums[q][v]);
    }
    for (std::uint32_t q = 0; q < kGroup; ++q) {
      report(lanes, scan, group * kGroup + q, panel * kPanel + part, ends[q]);
    }
  } else {
    for (std::uint32_t q = 0; q < kGroup; ++q) {
      report(lanes, scan, group * kGroup + q, panel * kPanel + part, sums[q]);
    }
  }
}

/// A group of queries against one panel by the product filter. Appends those that need the chain to `passed`.
template <class M, typename T, std::uint32_t kDims>
HWY_INLINE void filter_group(const Scan<T>& scan, std::uint64_t panel, std::uint32_t group, Passed<M>& passed,
                             std::integral_constant<std::uint32_t, kDims>) {
  using D = hn::ScalableTag<float>;
  const D lanes;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  const std::uint32_t dims = kDims == core::kRuntimeDims ? scan.dims : kDims;
  const float* points = scan.centred_panels + panel * dims * kPanel;
  const float* queries = scan.centred_queries + std::size_t{group} * dims * kGroup;
  hn::Vec<D> sums[kGroup][kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    const auto term = hn::Load(lanes, scan.point_terms + panel * kPanel + v * kLanes);
    for (auto& row : sums) row[v] = term;
  }
  for (std::uint32_t d = 0; d < dims; ++d) {
    const float* coordinates = queries + d * kGroup;
    const hn::Vec<D> query[kGroup] = {in_every_lane<0>(lanes, coordinates), in_every_lane<1>(lanes, coordinates),
                                      in_every_lane<2>(lanes, coordinates), in_every_lane<3>(lanes, coordinates)};
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto point = hn::Load(lanes, points + d * kPanel + v * kLanes);
      for (std::size_t q = 0; q < kGroup; ++q) sums[q][v] = fused(point, query[q], sums[q][v]);
    }
  }
  const float* bounds = scan.filter_bounds + std::size_t{group} * kGroup;
  hn::Mask<D> passes[kGroup];
  for (std::size_t q = 0; q < kGroup; ++q) {
    auto least = sums[q][0];
    for (std::size_t v = 1; v < kVectors; ++v) least = hn::Min(least, sums[q][v]);
    passes[q] = hn::Le(least, hn::Set(lanes, bounds[q]));
  }
  if (HWY_LIKELY(hn::AllFalse(lanes, hn::Or(hn::Or(passes[0], passes[1]), hn::Or(passes[2], passes[3]))))) {
    return;
  }
  constexpr std::size_t kVectorsOfPart = kVectors / kParts<M>;
  for (std::uint32_t q = 0; q < kGroup; ++q) {
    if (hn::AllFalse(lanes, passes[q])) continue;
    for (std::size_t part = 0; part < kParts<M>; ++part) {
      auto least = sums[q][part * kVectorsOfPart];
      for (std::size_t v = 1; v < kVectorsOfPart; ++v) least = hn::Min(least, sums[q][part * kVectorsOfPart + v]);
      if (hn::AllFalse(lanes, hn::Le(least, hn::Set(lanes, bounds[q])))) continue;
      passed.queries[part][passed.counts[part]++] = group * kGroup + q;
    }
  }
}

template <typename T>
std::uint64_t scan_panels_of(const Scan<T>& scan) {
  using D = hn::ScalableTag<T>;
  const std::uint64_t end = scan.first_panel + scan.panel_count;
  std::uint64_t passed = 0;
  if (scan.centred_panels != nullptr) {
    visit_simd_dims(scan.dims, [&](auto constant_dims) HWY_ATTR {
      Passed<D> queries;
      for (std::uint64_t panel = scan.first_panel; panel < end; ++panel) {
        std::uint32_t count = 0;
        for (std::uint32_t& of_part : queries.counts) of_part = 0;
        for (std::uint32_t group = 0; group < scan.groups; ++group) {
          filter_group(scan, panel, group, queries, constant_dims);
        }
        for (const std::uint32_t of_part : queries.counts) count += of_part;
        if (count > 0) recheck(scan, panel, queries, constant_dims);
        passed += count;
      }
    });
    return passed / kParts<D>;
  }
  core::visit_reduction(scan.metric, [&](auto metric) HWY_ATTR {
    using M = decltype(metric);
    const auto over_panels = [&](const auto& axes, auto constant_dims) HWY_ATTR {
      for (std::uint64_t panel = scan.first_panel; panel < end; ++panel) {
        for (std::uint32_t group = 0; group < scan.groups; ++group) {
          for (std::size_t part = 0; part < kPanel; part += kPart<D>) {
            scan_group<D>(scan, metric, axes, panel, part, group, constant_dims);
          }
        }
      }
    };
    // Periodic axes and other metrics than L2 are not worth seven more copies of the loop each.
    constexpr std::integral_constant<std::uint32_t, core::kRuntimeDims> kAnyDims;
    if (scan.lengths != nullptr) {
      if constexpr (M::kInfo.wraps) over_panels(PeriodicAxes<T>(scan.lengths), kAnyDims);
      if constexpr (!M::kInfo.wraps) core::refuse_metric();
    } else if constexpr (std::is_same_v<M, core::L2>) {
      visit_simd_dims(scan.dims,
                      [&](auto constant_dims) HWY_ATTR { over_panels(PlainAxes<T>(nullptr), constant_dims); });
    } else {
      over_panels(PlainAxes<T>(nullptr), kAnyDims);
    }
  });
  return 0;
}

std::uint64_t scan_f32(const Scan<float>& scan) { return scan_panels_of(scan); }
std::uint64_t scan_f64(const Scan<double>& scan) { return scan_panels_of(scan); }
std::uint32_t width() { return kPanel; }

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(scan_f32);
HWY_EXPORT(scan_f64);
HWY_EXPORT(width);

std::uint32_t panel_width() { return HWY_DYNAMIC_DISPATCH(width)(); }

template <>
std::uint64_t scan_panels<float>(const Scan<float>& scan) {
  return HWY_DYNAMIC_DISPATCH(scan_f32)(scan);
}

template <>
std::uint64_t scan_panels<double>(const Scan<double>& scan) {
  return HWY_DYNAMIC_DISPATCH(scan_f64)(scan);
}

}  // namespace kith::cpu
#endif  // HWY_ONCE
