// One query against rows in blocks. Written once, compiled for each instruction set, chosen at run time. A lane is a
// row, so the reduced distance of a pair is the same whatever the width of the vectors.
#include "cpu/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/cover_tree/measure_vectors.cpp"
#include <hwy/foreach_target.h>
// The line above must come before the next ones.
#include <hwy/highway.h>

#include "cpu/cover_tree/vector_space.hpp"
#include "cpu/simd_reduced-inl.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {

template <typename T>
using BlockLanes = hn::CappedTag<T, kVectorBlock<T>>;

/// So many sums at a time hide the latency of a step.
constexpr std::uint32_t kMostSums = 8;

/// The reduced distances of `kBlocks` blocks side by side, of each `kVectors` vectors from `points` on; incomplete if
/// that is enough to see that all are beyond the limit.
template <std::uint32_t kBlocks, std::uint32_t kVectors, bool kLooks, typename T, class M>
HWY_INLINE void measure_blocks(const T* points, std::uint32_t dims, const T* query, T limit, const M& metric, T* values,
                               std::uint32_t values_per_block) {
  const BlockLanes<T> lanes;
  constexpr std::uint32_t kLanes = hn::MaxLanes(BlockLanes<T>());
  constexpr std::uint32_t kBlock = kVectorBlock<T>;
  const std::size_t block_size = std::size_t{dims} * kBlock;
  hn::Vec<BlockLanes<T>> sums[kBlocks][kVectors];
  for (auto& block : sums) {
    for (auto& sum : block) sum = hn::Zero(lanes);
  }
  const auto add_dims = [&](std::uint32_t d, std::uint32_t end) HWY_ATTR {
    for (; d < end; ++d) {
      const auto coordinate = hn::Set(lanes, query[d]);
      for (std::uint32_t b = 0; b < kBlocks; ++b) {
        for (std::uint32_t v = 0; v < kVectors; ++v) {
          const auto point = hn::Load(lanes, points + b * block_size + std::size_t{d} * kBlock + v * kLanes);
          sums[b][v] = step_of_values(metric, sums[b][v], coordinate, point);
        }
      }
    }
  };
  if constexpr (kLooks) {
    const auto most = hn::Set(lanes, limit);
    std::uint32_t d = 0;
    for (; d + kDimsBetweenLooks < dims; d += kDimsBetweenLooks) {
      add_dims(d, d + kDimsBetweenLooks);
      auto least = sums[0][0];
      for (std::uint32_t b = 0; b < kBlocks; ++b) {
        for (std::uint32_t v = 0; v < kVectors; ++v) least = hn::Min(least, sums[b][v]);
      }
      if (hn::AllTrue(lanes, hn::Gt(least, most))) {  // sums never fall
        d = dims;
        break;
      }
    }
    add_dims(d, dims);
  } else {
    add_dims(0, dims);
  }
  for (std::uint32_t b = 0; b < kBlocks; ++b) {
    for (std::uint32_t v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[b][v], lanes, values + b * values_per_block + v * kLanes);
    }
  }
}

/// Rows [from, to) of one block: only the vectors that have some of them.
template <bool kLooks, typename T, class M>
HWY_INLINE void measure_part(const T* block, std::uint32_t dims, const T* query, std::uint32_t from, std::uint32_t to,
                             T limit, const M& metric, T* values) {
  constexpr std::uint32_t kLanes = hn::MaxLanes(BlockLanes<T>());
  constexpr std::uint32_t kVectors = kVectorBlock<T> / kLanes;
  const std::uint32_t start = kVectors > 4 ? 0 : from / kLanes * kLanes;
  const std::uint32_t vectors = (to - start + kLanes - 1) / kLanes;
  HWY_ALIGN T all[kVectorBlock<T>];
  const auto measure = [&](auto most) HWY_ATTR {
    measure_blocks<1, std::min<std::uint32_t>(most, kVectors), kLooks>(block + start, dims, query, limit, metric, all,
                                                                       0);
  };
  if (kVectors > 4) {
    measure(std::integral_constant<std::uint32_t, kVectors>());
  } else if (vectors == 1) {
    measure(std::integral_constant<std::uint32_t, 1>());
  } else if (vectors == 2) {
    measure(std::integral_constant<std::uint32_t, 2>());
  } else if (vectors == 3) {
    measure(std::integral_constant<std::uint32_t, 3>());
  } else {
    measure(std::integral_constant<std::uint32_t, 4>());
  }
  std::copy(all + (from - start), all + (to - start), values);
}

template <bool kLooks, typename T, class M>
HWY_INLINE void measure_rows(const T* blocks, std::uint32_t dims, const T* query, std::uint32_t first,
                             std::uint32_t count, T limit, const M& metric, T* values) {
  constexpr std::uint32_t kBlock = kVectorBlock<T>;
  constexpr std::uint32_t kVectors = kBlock / hn::MaxLanes(BlockLanes<T>());
  // Fewer at a time where there are looks: all of them have to be beyond the limit.
  constexpr std::uint32_t kBlocks = std::max(1u, (kLooks ? kMostSums / 2 : kMostSums) / kVectors);
  const std::size_t block_size = std::size_t{dims} * kBlock;
  const T* block = blocks + first / kBlock * block_size;
  std::uint32_t from = first % kBlock;
  while (count > 0) {
    if (from == 0 && count >= kBlock * kBlocks) {
      measure_blocks<kBlocks, kVectors, kLooks>(block, dims, query, limit, metric, values, kBlock);
      block += block_size * kBlocks;
      values += kBlock * kBlocks;
      count -= kBlock * kBlocks;
      continue;
    }
    const std::uint32_t to = std::min(kBlock, from + count);
    measure_part<kLooks>(block, dims, query, from, to, limit, metric, values);
    block += block_size;
    values += to - from;
    count -= to - from;
    from = 0;
  }
}

template <typename T, class M>
void measure_vectors(const T* blocks, std::uint32_t dims, const T* query, std::uint32_t first, std::uint32_t count,
                     T limit, T* values) {
  if (dims >= kLongReduced && limit < std::numeric_limits<T>::infinity()) {
    measure_rows<true>(blocks, dims, query, first, count, limit, M(), values);
  } else {
    measure_rows<false>(blocks, dims, query, first, count, limit, M(), values);
  }
}

template <typename T>
MeasureVectors<T> measure_by(Metric metric) {
  return core::visit_reduction<core::CoverTreeReductions>(
      metric, [](auto each) { return &measure_vectors<T, decltype(each)>; });
}

MeasureVectors<float> measure_f32_by(Metric metric) { return measure_by<float>(metric); }
MeasureVectors<double> measure_f64_by(Metric metric) { return measure_by<double>(metric); }

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(measure_f32_by);
HWY_EXPORT(measure_f64_by);

template <>
MeasureVectors<float> measure_vectors_by(Metric metric) {
  return HWY_DYNAMIC_DISPATCH(measure_f32_by)(metric);
}
template <>
MeasureVectors<double> measure_vectors_by(Metric metric) {
  return HWY_DYNAMIC_DISPATCH(measure_f64_by)(metric);
}

}  // namespace kith::cpu
#endif  // HWY_ONCE
