// The steps between two passes: kernels that find the exact splits of one level, then the bins of the medians of their
// halves. One block for each node, several if its list of candidates is long.
#pragma once

#include "cuda/kd_tree/count_points.cuh"
#include "cuda/kd_tree/publish_node.cuh"
#include "cuda/kd_tree/select_candidate.cuh"

namespace kith::cuda {

/// Finds the bins in which the ranks `targets` lie in two histograms at once, and how many lie below. For rows of fewer
/// than 2^32 points in all.
__device__ inline void find_bins(const std::uint32_t* row0, const std::uint32_t* row1, std::uint32_t bins,
                                 std::uint32_t target0, std::uint32_t target1) {
  const std::uint32_t each = (bins + threads_per_block() - 1) / threads_per_block();
  const std::uint32_t first = thread_number() * each;
  std::uint64_t own = 0;
  for (std::uint32_t b = first; b < first + each && b < bins; ++b) {
    own += row0[b] | std::uint64_t{row1[b]} << 32;
  }
  const std::uint64_t before = sum_before(own);
  std::uint32_t below[2] = {static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(before >> 32)};
  StepShared& cells = step_shared();
  for (std::uint32_t b = first; b < first + each && b < bins; ++b) {
    if (target0 >= below[0] && target0 - below[0] < row0[b]) {
      cells.found_bin[0] = b;
      cells.found_below[0] = below[0];
    }
    if (target1 >= below[1] && target1 - below[1] < row1[b]) {
      cells.found_bin[1] = b;
      cells.found_below[1] = below[1];
    }
    below[0] += row0[b];
    below[1] += row1[b];
  }
  sync_block();
}

/// The root of each segment, from the histograms and the tight box of pass 0. A block for each segment.
template <typename T>
__global__ void __launch_bounds__(kStepThreads) find_root_medians(const __grid_constant__ GroupParameters<T> p) {
  using Key = OrderedKey<T>;
  constexpr T kInfinity =
      std::bit_cast<T>(sizeof(T) == 4 ? static_cast<Key>(0x7f800000u) : static_cast<Key>(0x7ff0000000000000ull));
  start_next();
  wait_for_previous();
  StepShared& shared = step_shared();
  const std::uint32_t segment = block_number();
  const std::uint32_t dims = p.shape.dims, bins = bins_at(0, dims, p.most_bins);
  const bool are_numbers_counted = counts_numbers(p, segment);
  const Key* tight = p.tight + std::uint64_t{segment} * 2 * (dims + 1);
  T* box = box_of(p, segment, 1);
  if (warp_number() == 0) {
    for (std::uint32_t d = lane_number(); d <= dims; d += kWarp) {
      const Key least = static_cast<Key>(~tight[d]), greatest = tight[dims + 1 + d];
      box[d] = d < dims ? value_of_key<T>(least) : range_side(p, segment, d, false);
      box[dims + 1 + d] = d < dims ? value_of_key<T>(greatest) : range_side(p, segment, d, true);
      // Keys of infinity and NaN lie outside those of finite numbers on either side.
      if (d < dims && (greatest >= ordered_key(kInfinity) || least <= ordered_key(-kInfinity))) *p.refused = 1;
    }
    sync_warp();
    const std::uint32_t dim = working_dim(p, box, 0);
    if (lane_number() == 0) shared.dims[0] = dim;
  }
  sync_block();
  const std::uint32_t dim = shared.dims[0];
  const std::uint32_t target = left_size(p, segment, 0, 1);
  // All equal, but not by the ranges: nobody counted numbers, so that all points are candidates.
  const bool is_uncounted = dim == dims && !are_numbers_counted;
  std::uint32_t* rows = p.histogram + std::uint64_t{segment} * p.segment_counters;
  for (std::uint32_t b = thread_number(); b < bins; b += threads_per_block()) {
    shared.rows[b] = rows[(is_uncounted ? 0 : dim * bins) + b];
  }
  sync_block();
  if (p.parts > 1) {  // for the next pass
    for (std::uint32_t i = thread_number(); i < (dims + 1) * bins; i += threads_per_block()) rows[i] = 0;
  }
  find_bins(shared.rows, shared.rows, bins, target, target);
  if (warp_number() == 0) {
    const Bins<T> used =
        is_uncounted ? Bins<T>{T(0), T(0), dim}
                     : bins_over(range_side(p, segment, dim, false), range_side(p, segment, dim, true), dim, bins);
    publish_node(p, segment, 0, 1, used, is_uncounted ? 0 : shared.found_bin[0],
                 is_uncounted ? target : target - shared.found_below[0]);
  }
}

/// A node of the level above whose split is about to be found.
struct ParentNode {
  std::uint32_t segment, heap, level;  ///< the level is that of the parent, in the group
};

/// The node of this block, if `each` blocks work on each node of level `level` of the group.
__device__ inline ParentNode parent_of_block(std::uint32_t level, std::uint32_t each) {
  const std::uint32_t number = block_number() / each;
  return {number >> level, (1u << level) + (number & ((1u << level) - 1)), level};
}

/// A node's candidates, as far as they are this block's; none if it is not needed.
template <typename T>
__device__ CandidateList<T> list_of_block(const GroupParameters<T>& p, const ParentNode& parent, std::uint32_t each) {
  const std::uint64_t first = first_place(p, parent.segment, parent.level, parent.heap);
  CandidateList<T> list;
  list.keys = p.keys + first;
  list.places = p.places + first;
  list.count = p.nodes[std::uint64_t{parent.segment} * kHeap + parent.heap].candidates;
  if (each > 1 && list.count > kLongList) {
    list.blocks = each;
    list.block = block_number() % each;
    list.shared = &p.lists[((1u << parent.level) - 1) * (1u << p.first_level) + block_number() / each];
  } else if (block_number() % each != 0) {
    list.blocks = 0;
  }
  return list;
}

/// Finds the split of a parent among its candidates and notes it in the tree.
template <typename T>
__device__ Selected<T> find_split(const GroupParameters<T>& p, const ParentNode& parent, const SplitNode<T>& node,
                                  const CandidateList<T>& list) {
  CandidateSelection<T> selection(p.source, p.shape.dims, node.bins.dim, list);
  const Selected<T> split = selection.run(node.needed);
  if (thread_number() == 0 && list.block == 0) {
    const std::uint32_t noted = noted_dim(p, parent.level, node.bins.dim);
    const std::uint64_t number =
        core::KdGeometry::node(p.first_level + parent.level,
                               (std::uint64_t{parent.segment} << parent.level) + (parent.heap - (1u << parent.level)));
    p.tree.split_dims[number] = static_cast<std::uint16_t>(noted);
    p.tree.split_values[number] = p.source.at(split.place, noted) + T(0);
    SplitNode<T>& known = p.nodes[std::uint64_t{parent.segment} * kHeap + parent.heap];
    known.split_place = split.place;
    known.split_value = coordinate(p.source, p.shape.dims, split.place, node.bins.dim) + T(0);
  }
  return split;
}

/// Side d of the box of one half of a node: the node's own, cut at the split.
template <typename T>
__device__ T cut_side(const GroupParameters<T>& p, const T* box, std::uint32_t level, std::uint32_t dim,
                      std::uint32_t split_place, bool is_right, bool is_upper, std::uint32_t d) {
  const std::uint32_t dims = p.shape.dims;
  const bool is_cut = is_upper != is_right && (d == dim || d == noted_dim(p, level, dim));
  if (is_cut) return coordinate(p.source, dims, split_place, d) + T(0);
  return box[(is_upper ? dims + 1 : 0) + d];
}

/// Whether candidate i of a list lies in the right half.
template <typename T>
__device__ bool is_right_candidate(const GroupParameters<T>& p, std::uint32_t dim, const CandidateList<T>& list,
                                   const Selected<T>& split, std::uint32_t i) {
  const OrderedKey<T> key = list.keys[i];
  if (key != split.key) return key > split.key;
  return !precedes(p.source, p.shape.dims, list.places[i], std::uint64_t{split.place}, dim, split.stage + 1);
}

/// The splits of level `level` of the group, then the bins of the medians of their halves. `each` blocks for a node; if
/// there are several, the launch is a cooperative one.
template <typename T>
__global__ void __launch_bounds__(kStepThreads)
    find_medians(const __grid_constant__ GroupParameters<T> p, std::uint32_t parent_level, std::uint32_t each) {
  start_next();
  wait_for_previous();
  if (*p.refused != 0) return;
  const ParentNode parent = parent_of_block(parent_level, each);
  const CandidateList<T> list = list_of_block(p, parent, each);
  if (list.blocks == 0) return;
  StepShared& shared = step_shared();
  std::uint32_t* const rows = shared.rows;
  const std::uint64_t base = std::uint64_t{parent.segment} * kHeap;
  const SplitNode<T> node = p.nodes[base + parent.heap];
  const Selected<T> split = find_split(p, parent, node, list);
  const std::uint32_t dims = p.shape.dims, level = parent.level + 1, bins = bins_at(level, dims, p.most_bins);
  std::uint32_t meetings = split.meetings;

  // The boxes of the halves, and the dimension that is the widest now.
  const auto cut_half = [&](std::uint32_t side) {
    const T* box = box_of(p, parent.segment, parent.heap);
    T* half = box_of(p, parent.segment, 2 * parent.heap + side);
    for (std::uint32_t i = lane_number(); i < 2 * (dims + 1); i += kWarp) {
      const std::uint32_t d = i <= dims ? i : i - (dims + 1);
      half[i] = cut_side(p, box, parent.level, node.bins.dim, split.place, side == 1, i > dims, d);
    }
    sync_warp();
    const std::uint32_t dim = working_dim(p, half, level);
    if (lane_number() == 0) {
      step_shared().dims[side] = dim;
      step_shared().slots[side] = p.counted[base + 2 * parent.heap + side].slots[0].dim == dim ? 0 : 1;
    }
    sync_warp();
  };
  sync_block();
  if (warp_number() < 2) cut_half(warp_number());
  sync_block();
  const Bins<T> half_bins[2] = {p.counted[base + 2 * parent.heap].slots[shared.slots[0]],
                                p.counted[base + 2 * parent.heap + 1].slots[shared.slots[1]]};
  // [side][slot][bin] of the two halves.
  std::uint32_t* const all = p.histogram + std::uint64_t{parent.segment} * p.segment_counters +
                             2 * (2 * parent.heap - (1u << level)) * std::uint64_t{bins};
  const auto counter = [&](std::uint32_t i) {
    const std::uint32_t side = i < bins ? 0 : 1;
    return all + (2 * side + shared.slots[side]) * bins + (i - side * bins);
  };
  const bool is_shared = list.blocks > 1;
  for (std::uint32_t i = thread_number(); i < 2 * bins; i += threads_per_block()) {
    rows[i] = is_shared ? 0 : *counter(i);
  }
  sync_block();
  constexpr std::uint32_t kTogether = 4;
  for (std::uint32_t i = list.first() + thread_number(); i < list.end(); i += kTogether * threads_per_block()) {
    std::uint32_t sides = 0;
    T x[kTogether];
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      const std::uint32_t entry = i + k * threads_per_block();
      if (entry < list.end() && is_right_candidate(p, node.bins.dim, list, split, entry)) sides |= 1u << k;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      const std::uint32_t entry = i + k * threads_per_block();
      const std::uint32_t dim = (sides >> k & 1) != 0 ? half_bins[1].dim : half_bins[0].dim;
      if (entry < list.end()) x[k] = coordinate(p.source, dims, list.places[entry], dim);
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      if (i + k * threads_per_block() < list.end()) {
        const bool is_right = (sides >> k & 1) != 0;
        atomic_add(rows + (is_right ? bins : 0) + bin_of(is_right ? half_bins[1] : half_bins[0], x[k], bins), 1u);
      }
    }
  }
  sync_block();
  if (is_shared) {
    for (std::uint32_t i = thread_number(); i < 2 * bins; i += threads_per_block()) {
      if (rows[i] != 0) atomic_add(counter(i), rows[i]);
    }
    meet_blocks(&list.shared->arrived, list.blocks, meetings);
    if (list.block != 0) return;
    for (std::uint32_t i = thread_number(); i < 2 * bins; i += threads_per_block()) rows[i] = load_fresh(counter(i));
    sync_block();
  }
  const std::uint32_t targets[2] = {left_size(p, parent.segment, level, 2 * parent.heap),
                                    left_size(p, parent.segment, level, 2 * parent.heap + 1)};
  find_bins(rows, rows + bins, bins, targets[0], targets[1]);
  const auto publish = [&](std::uint32_t side) {
    publish_node(p, parent.segment, level, 2 * parent.heap + side, half_bins[side], step_shared().found_bin[side],
                 targets[side] - step_shared().found_below[side]);
  };
  if (warp_number() < 2) publish(warp_number());
  if (p.parts > 1) {  // for the next pass
    for (std::uint32_t i = thread_number(); i < 4 * bins; i += threads_per_block()) all[i] = 0;
  }
}

}  // namespace kith::cuda
