// Whether the cells of a segment refine ties, and how: what a block of pass 0 has to know before it counts.
#pragma once

#include "cuda/kd_tree/build/ties/value_search.cuh"
#include "cuda/kd_tree/build/ties/value_tables.cuh"

namespace kith::cuda {

/// The first block of a segment notes what is known of its ties, at the root with the tables.
template <typename T>
__device__ __forceinline__ void note_ties(const GroupParameters<T>& p, std::uint32_t segment,
                                          const TieShared<T>& shared) {
  const auto* from = reinterpret_cast<const std::uint32_t*>(&shared.ties);
  auto* to = reinterpret_cast<std::uint32_t*>(p.ties + segment);
  for (std::uint32_t i = thread_number(); i < sizeof(TiedCells<T>) / 4; i += kPassThreads) to[i] = from[i];
  if (thread_number() == 0) p.tied[segment] = 1;
  if (p.root_range == nullptr) return;
  for (std::uint32_t i = thread_number(); i < p.shape.dims * kTableValues; i += kPassThreads) {
    const std::uint32_t d = i / kTableValues;
    // All of a table is written: steps copy it before they know how much of it there is.
    p.tables[i] = i % kTableValues < shared.few[d] ? shared.tables[i] : T(0);
    if (i % kTableValues == 0) p.table_counts[d] = shared.few[d];
  }
}

/// Divides the cells of dimension d among its values that lie in the range, and so on.
template <typename T>
__device__ __forceinline__ void divide_cells(std::uint32_t dims, std::uint32_t d, TiedCells<T>& ties) {
  std::uint32_t capacity = kLastCell + 1;
#pragma unroll 1
  for (std::uint32_t stage = 0; stage < dims; ++stage) {
    const std::uint32_t e = d + stage < dims ? d + stage : d + stage - dims, count = ties.count[e];
    const std::uint32_t each = capacity > 0 && count > 0 ? (capacity - 1) / count : 0;  // one of them before the value
    capacity = each > 1 ? each - 1 : 0;
    ties.widths[d][stage] = static_cast<std::uint16_t>(capacity);
  }
}

/// The sum that gives the cells of dimension d, if dims are few.
template <typename T>
__device__ __forceinline__ void make_chain(std::uint32_t dims, std::uint32_t d, TieShared<T>& shared) {
  TieChain chain{{}, 0, kLastCell + 1, d};
#pragma unroll
  for (std::uint32_t stage = 0; stage < TieChain::kMostDims; ++stage) {
    const std::uint32_t width = stage < dims && chain.first == stage ? shared.ties.widths[d][stage] : 0;
    if (width == 0) continue;
    chain.steps[stage] = (width + 1) << kCellBits;
    chain.capacity = width;
    ++chain.first;
    chain.last = stage + 1 == dims ? dims : chain.last + 1 < dims ? chain.last + 1 : 0;
  }
  chain.first <<= kCellBits;
  shared.chains[d] = chain;
  if (chain.last == dims) atomic_or(&shared.needs_numbers, 1u);
}

/// A side of the window in which the median of a segment may lie, for lane 2 d or 2 d + 1, if there are windows.
template <typename T>
__device__ __forceinline__ T side_of_window(const GroupParameters<T>& p, std::uint32_t segment) {
  const std::uint32_t dims = p.shape.dims, d = thread_number() / 2;
  if (p.segment_windows == nullptr || d >= dims) return T(0);
  return p.segment_windows[std::uint64_t{segment} * 2 * (dims + 1) + thread_number() % 2 * (dims + 1) + d];
}

/// The bins of all dimensions, those of tied_root_bins. The first warp; `side` is that of the lane.
template <typename T>
__device__ __forceinline__ void set_tied_bins(const GroupParameters<T>& p, const TieMap<T>& map,
                                              const RootShared<T>& shared, T side, std::uint32_t bins) {
  const std::uint32_t dims = map.dims, d = lane_number() / 2, is_upper = lane_number() % 2;
  std::uint32_t cell = is_upper != 0 ? kLastCell : 0;
  if (p.segment_windows != nullptr && d < dims) {
    const auto side_of = [&](std::uint32_t e) { return e == d ? side : shared.range[is_upper * (dims + 1) + e]; };
    cell = tied_cell<0>(
        map, d, [&](std::uint32_t e) { return slot_nearby(map, *shared.ties, e, side_of(e)); },
        [&](std::uint32_t e) { return cell_of(map.ties->scales[e], side_of(e)); });
  }
  sync_warp();
  const std::uint32_t last = shuffle_xor(cell, 1);
  if (d < dims && is_upper == 0) shared.bins[d] = bins_over(cell, last, d, bins);
}

/// Whether the cells of a segment refine ties, and how, with bins over them; asked if there are tables or, at the root,
/// twins. The counters are 0 before and afterwards. Synchronises the block.
template <typename T>
KITH_NOINLINE __device__ bool prepare_ties(const GroupParameters<T>& p, std::uint32_t segment) {
  const std::uint32_t dims = p.shape.dims, d = thread_number();
  const RootShared<T> shared(dims);
  const T side = side_of_window(p, segment);
  static_assert(2 * kTabledDims <= kWarp);
  if (d <= dims) shared.ties->ties.scales[d] = shared.scales[d];
  if (d == 0) shared.ties->needs_numbers = 0;
  find_tables(p, shared.counters, *shared.ties);
  if (!find_values_in_range(dims, shared.range, *shared.ties)) return false;
  const TieMap<T> map(&shared.ties->ties, shared.ties->tables, dims);
  if (d < dims) {
    divide_cells(dims, d, shared.ties->ties);
    if (dims <= TieChain::kMostDims) make_chain(dims, d, *shared.ties);
  }
  note_values_below(map, *shared.ties);
  sync_block();
  if (warp_number() == 0) set_tied_bins(p, map, shared, side, bins_at(0, dims, p.most_bins));
  if (block_number() % p.parts == 0) note_ties(p, segment, *shared.ties);
  sync_block();
  return true;
}

}  // namespace kith::cuda
