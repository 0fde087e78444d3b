// A few vectors against many rows that lie anywhere. Written once, compiled for each instruction set, chosen at run
// time. A lane is one of the few, so the reduced distance of a pair is the same whatever the width of the vectors:
// differences have the other sign than where a lane is a row, and no reduced distance sees it.
#include "cpu/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/cover_tree/measure_few.cpp"
#include <hwy/foreach_target.h>
// The line above must come before the next ones.
#include <hwy/highway.h>

#include "cpu/cover_tree/few_vectors.hpp"
#include "cpu/simd_reduced-inl.hpp"

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {

template <typename T>
using FewLanes = hn::CappedTag<T, kFew>;

/// So many sums at a time hide the latency of a step, if there are registers for them.
constexpr std::uint32_t kMostFewSums = HWY_TARGET == HWY_AVX2 ? 8 : 16;

/// `kRows` rows at a time, with `kVectors` vectors of the few.
template <std::uint32_t kRows, std::uint32_t kVectors, bool kLooks, typename T, class M>
std::uint32_t measure_few_of(const ManyVectors<T>& many, const M& metric, std::uint32_t* found, T* values) {
  const FewLanes<T> lanes;
  constexpr std::uint32_t kLanes = hn::MaxLanes(FewLanes<T>());
  constexpr std::uint32_t kPerLine = 64 / sizeof(T);
  constexpr std::uint32_t kAhead =
      kRows < 8 ? 8 : kRows;  // rows that are fetched early: their first lines, the rest follows
  constexpr std::uint32_t kLinesAhead = 8;
  const std::uint32_t fetched = std::min(many.dims, kLinesAhead * kPerLine);
  const auto row_of = [&](std::uint32_t i) { return many.rows + std::size_t{many.numbers[i]} * many.dims; };
  const auto fetch = [&](std::uint32_t i) {
    for (const std::uint32_t end = std::min(i + kRows, many.count); i < end; ++i) {
      const T* row = row_of(i);
      for (std::uint32_t d = 0; d < fetched; d += kPerLine) __builtin_prefetch(row + d);
    }
  };
  std::uint32_t hits = 0;
  for (std::uint32_t first = 0; first < many.count; first += kRows) {
    fetch(first + kAhead);
    const T* rows[kRows];
    hn::Vec<FewLanes<T>> sums[kRows][kVectors], limits[kRows];
    for (std::uint32_t r = 0; r < kRows; ++r) {
      const std::uint32_t i = std::min(first + r, many.count - 1);
      rows[r] = row_of(i);
      limits[r] = hn::Set(lanes, many.limits[i]);
      for (std::uint32_t v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(lanes);
    }
    const auto add_dims = [&](std::uint32_t d, std::uint32_t end) HWY_ATTR {
      for (; d < end; ++d) {
        for (std::uint32_t v = 0; v < kVectors; ++v) {
          const auto one = hn::LoadU(lanes, many.block + std::size_t{d} * kFew + v * kLanes);
          for (std::uint32_t r = 0; r < kRows; ++r) {
            sums[r][v] = step_of_values(metric, sums[r][v], one, hn::Set(lanes, rows[r][d]));
          }
        }
      }
    };
    const auto beyond = [&](std::uint32_t r) HWY_ATTR {
      auto least = sums[r][0];
      for (std::uint32_t v = 1; v < kVectors; ++v) least = hn::Min(least, sums[r][v]);
      return hn::Gt(least, limits[r]);
    };
    if constexpr (kLooks) {
      std::uint32_t d = 0;
      for (; d + kDimsBetweenLooks < many.dims; d += kDimsBetweenLooks) {
        add_dims(d, d + kDimsBetweenLooks);
        auto all = beyond(0);
        for (std::uint32_t r = 1; r < kRows; ++r) all = hn::And(all, beyond(r));
        if (hn::AllTrue(lanes, all)) {  // sums never fall
          d = many.dims;
          break;
        }
      }
      add_dims(d, many.dims);
    } else {
      add_dims(0, many.dims);
    }
    for (std::uint32_t r = 0; r < kRows; ++r) {
      if (first + r >= many.count || hn::AllTrue(lanes, beyond(r))) continue;
      for (std::uint32_t v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], lanes, values + hits * kFew + v * kLanes);
      found[hits++] = first + r;
    }
  }
  return hits;
}

/// Only the vectors that have some of the few.
template <bool kLooks, typename T, class M>
std::uint32_t measure_few_rows(const ManyVectors<T>& many, std::uint32_t* found, T* values) {
  constexpr std::uint32_t kLanes = hn::MaxLanes(FewLanes<T>());
  constexpr std::uint32_t kVectors = kFew / kLanes;
  const M metric;
  const std::uint32_t vectors = (many.few + kLanes - 1) / kLanes;
  if constexpr (kVectors > 4) {
    return measure_few_of<1, kVectors, kLooks>(many, metric, found, values);
  } else {
    if (vectors == 1) return measure_few_of<8, 1, kLooks>(many, metric, found, values);
    if constexpr (kVectors >= 2) {
      if (vectors == 2) return measure_few_of<kMostFewSums / 2, 2, kLooks>(many, metric, found, values);
    }
    if constexpr (kVectors >= 4) {
      if (vectors == 3) return measure_few_of<kMostFewSums / 4, 3, kLooks>(many, metric, found, values);
      return measure_few_of<kMostFewSums / 4, 4, kLooks>(many, metric, found, values);
    }
    return 0;
  }
}

template <typename T, class M>
std::uint32_t measure_few(const ManyVectors<T>& many, std::uint32_t* found, T* values) {
  return many.dims >= kLongReduced ? measure_few_rows<true, T, M>(many, found, values)
                                   : measure_few_rows<false, T, M>(many, found, values);
}

template <typename T>
MeasureFew<T> few_by(Metric metric) {
  return core::visit_reduction<core::CoverTreeReductions>(metric,
                                                          [](auto each) { return &measure_few<T, decltype(each)>; });
}

MeasureFew<float> few_f32_by(Metric metric) { return few_by<float>(metric); }
MeasureFew<double> few_f64_by(Metric metric) { return few_by<double>(metric); }

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(few_f32_by);
HWY_EXPORT(few_f64_by);

template <>
MeasureFew<float> measure_few_by(Metric metric) {
  return HWY_DYNAMIC_DISPATCH(few_f32_by)(metric);
}
template <>
MeasureFew<double> measure_few_by(Metric metric) {
  return HWY_DYNAMIC_DISPATCH(few_f64_by)(metric);
}

}  // namespace kith::cpu
#endif  // HWY_ONCE
