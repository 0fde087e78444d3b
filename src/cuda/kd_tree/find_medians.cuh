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
__global__ void __launch_bounds__(kStepThreads, 1) find_root_medians(const __grid_constant__ GroupParameters<T> p) {
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
    if (lane_number() == 0) shared.slots[0] = dim;
  }
  sync_block();
  const std::uint32_t dim = shared.slots[0];
  const std::uint32_t target = left_size(p, segment, 0, 1);
  // All equal, but not by the ranges: nobody counted numbers, so that all points are candidates.
  const bool is_uncounted = dim == dims && !are_numbers_counted;
  std::uint32_t* rows = p.histogram + std::uint64_t{segment} * p.segment_counters;
  auto* row = reinterpret_cast<std::uint32_t*>(shared_memory() + StepLayout<T>(dims, bins, 0).rows);
  for (std::uint32_t b = thread_number(); b < bins; b += threads_per_block()) {
    row[b] = rows[(is_uncounted ? 0 : dim * bins) + b];
  }
  sync_block();
  if (p.parts > 1) {  // for the next pass
    for (std::uint32_t i = thread_number(); i < (dims + 1) * bins; i += threads_per_block()) rows[i] = 0;
  }
  find_bins(row, row, bins, target, target);
  if (warp_number() == 0) {
    const Bins<T> used =
        is_uncounted ? Bins<T>{T(0), T(0), dim}
                     : bins_over(range_side(p, segment, dim, false), range_side(p, segment, dim, true), dim, bins);
    publish_node(p, segment, 0, 1, box, used, is_uncounted ? 0 : shared.found_bin[0],
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

/// Copies an object word by word, with as many threads, beginning with thread `first`.
template <typename V>
__device__ void copy_words(V* to, const V* from, std::uint32_t count, std::uint32_t first) {
  const std::uint32_t words = count * static_cast<std::uint32_t>(sizeof(V) / 4);
  const std::uint32_t i =
      thread_number() >= first ? thread_number() - first : thread_number() + threads_per_block() - first;
  for (std::uint32_t w = i; w < words; w += threads_per_block()) {
    reinterpret_cast<std::uint32_t*>(to)[w] = reinterpret_cast<const std::uint32_t*>(from)[w];
  }
}

/// A node whose split is about to be found, in shared memory: everything is fetched at once.
template <typename T>
struct FetchedNode {
  const SplitNode<T>* node;
  const CountedBins<T>* counted;  ///< of the two halves
  const T* box;
  T* halves[2];  ///< room for the boxes of the halves
  std::uint32_t* rows;
  CandidateList<T> list;  ///< as far as it is this block's; `blocks` is 0 if it is not needed
};

/// `rows` is the number of counters that are fetched from `from`, null for none; a list of up to `staged` candidates is
/// copied.
template <typename T>
__device__ FetchedNode<T> fetch_node(const GroupParameters<T>& p, const ParentNode& parent, std::uint32_t each,
                                     std::uint32_t staged, const std::uint32_t* from, std::uint32_t counters) {
  const std::uint32_t dims = p.shape.dims, sides = 2 * (dims + 1);
  const std::uint64_t base = std::uint64_t{parent.segment} * kHeap;
  const StepLayout<T> layout(dims, counters, staged);
  FetchedNode<T> fetched;
  auto* node = reinterpret_cast<SplitNode<T>*>(shared_memory() + layout.node);
  auto* counted = reinterpret_cast<CountedBins<T>*>(shared_memory() + layout.counted);
  fetched.node = node;
  fetched.counted = counted;
  fetched.rows = reinterpret_cast<std::uint32_t*>(shared_memory() + layout.rows);
  const std::uint32_t count = p.nodes[base + parent.heap].candidates;
  if (block_number() % each != 0 && count <= kLongList) {
    fetched.list.blocks = 0;
    return fetched;
  }
  copy_words(node, &p.nodes[base + parent.heap], 1, 0);
  if (from != nullptr) copy_words(counted, &p.counted[base + 2 * parent.heap], 2, 32);
  if (dims <= kStagedDims) {
    T* boxes = reinterpret_cast<T*>(shared_memory() + layout.boxes);
    copy_words(boxes, box_of(p, parent.segment, parent.heap), sides, 64);
    fetched.box = boxes;
    fetched.halves[0] = boxes + sides;
    fetched.halves[1] = boxes + 2 * sides;
  } else {
    fetched.box = box_of(p, parent.segment, parent.heap);
    fetched.halves[0] = box_of(p, parent.segment, 2 * parent.heap);
    fetched.halves[1] = box_of(p, parent.segment, 2 * parent.heap + 1);
  }
  CandidateList<T>& list = fetched.list;
  const std::uint64_t first = first_place(p, parent.segment, parent.level, parent.heap);
  list.keys = p.keys + first;
  list.places = p.places + first;
  list.count = count;
  if (from != nullptr) {  // the scatter has not begun
    list.values = p.candidate_values + first;
    list.values_stride = p.out_stride;
  }
  if (each > 1 && count > kLongList) {
    list.blocks = each;
    list.block = block_number() % each;
    list.shared = &p.lists[((1u << parent.level) - 1) * (1u << p.first_level) + block_number() / each];
  } else if (count <= staged) {
    auto* keys = reinterpret_cast<OrderedKey<T>*>(shared_memory() + layout.keys);
    auto* places = reinterpret_cast<std::uint32_t*>(shared_memory() + layout.places);
#pragma unroll 4
    for (std::uint32_t i = thread_number(); i < count; i += threads_per_block()) {
      keys[i] = list.keys[i];
      places[i] = list.places[i];
    }
    list.keys = keys;
    list.places = places;
    list.is_staged = true;
  }
  if (from != nullptr) {
#pragma unroll 8
    for (std::uint32_t i = thread_number(); i < counters; i += threads_per_block()) {
      fetched.rows[i] = list.blocks > 1 ? 0 : from[i];
    }
  }
  sync_block();
  return fetched;
}

/// Finds the split of a parent among its candidates and notes it in the tree.
template <typename T>
__device__ Selected<T> find_split(const GroupParameters<T>& p, const ParentNode& parent, const SplitNode<T>& node,
                                  const CandidateList<T>& list) {
  CandidateSelection<T> selection(p.source, p.shape.dims, node.bins.dim, list);
  const Selected<T> split = selection.run(node.needed);
  if (thread_number() == 2 * kWarp && list.block == 0) {  // in a warp that has nothing else to do
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

/// Adds the candidates to the histograms of the halves in which they lie.
template <typename T>
__device__ void count_candidates(const GroupParameters<T>& p, std::uint32_t dim, const CandidateList<T>& list,
                                 const Selected<T>& split, const Bins<T>& left_bins, const Bins<T>& right_bins,
                                 std::uint32_t* left, std::uint32_t* right, std::uint32_t bins) {
  constexpr std::uint32_t kTogether = 4;
  const std::uint32_t end = list.end(), step = threads_per_block();
  for (std::uint32_t i = list.first() + thread_number(); i < end; i += kTogether * step) {
    std::uint32_t sides = 0;
    T x[kTogether];
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      if (i + k * step < end && is_right_candidate(p, dim, list, split, i + k * step)) sides |= 1u << k;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      const std::uint32_t half_dim = (sides >> k & 1) != 0 ? right_bins.dim : left_bins.dim;
      if (i + k * step >= end) continue;
      x[k] = half_dim < p.shape.dims ? list.values[half_dim * list.values_stride + i + k * step]
                                     : static_cast<T>(p.source.index(list.places[i + k * step]));
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      const bool is_right = (sides >> k & 1) != 0;
      if (i + k * step < end) {
        atomic_add((is_right ? right : left) + bin_of(is_right ? right_bins : left_bins, x[k], bins), 1u);
      }
    }
  }
}

/// The splits of level `parent_level` of the group, then the bins of the medians of their halves. `each` blocks for a
/// node; if there are several, the launch is a cooperative one.
template <typename T>
__global__ void __launch_bounds__(kStepThreads, 1)
    find_medians(const __grid_constant__ GroupParameters<T> p, std::uint32_t parent_level, std::uint32_t each,
                 std::uint32_t staged) {
  start_next();
  wait_for_previous();
  if (*p.refused != 0) return;
  const ParentNode parent = parent_of_block(parent_level, each);
  const std::uint32_t dims = p.shape.dims, level = parent_level + 1, bins = bins_at(level, dims, p.most_bins);
  // [side][slot][bin] of the two halves.
  std::uint32_t* const all = p.histogram + std::uint64_t{parent.segment} * p.segment_counters +
                             2 * (2 * parent.heap - (1u << level)) * std::uint64_t{bins};
  const FetchedNode<T> fetched = fetch_node(p, parent, each, staged, all, 4 * bins);
  const CandidateList<T>& list = fetched.list;
  if (list.blocks == 0) return;
  StepShared& shared = step_shared();
  const SplitNode<T>& node = *fetched.node;
  const Selected<T> split = find_split(p, parent, node, list);
  std::uint32_t meetings = split.meetings;

  // The boxes of the halves, and which of their dimensions is the widest now.
  if (warp_number() < 2) {
    const std::uint32_t side = warp_number();
    T* half = fetched.halves[side];
    T* known = box_of(p, parent.segment, 2 * parent.heap + side);
    for (std::uint32_t i = lane_number(); i < 2 * (dims + 1); i += kWarp) {
      const std::uint32_t d = i <= dims ? i : i - (dims + 1);
      const T value = cut_side(p, fetched.box, parent_level, node.bins.dim, split.place, side == 1, i > dims, d);
      half[i] = value;
      known[i] = value;
    }
    sync_warp();
    const std::uint32_t dim = working_dim(p, half, level);
    if (lane_number() == 0) shared.slots[side] = fetched.counted[side].slots[0].dim == dim ? 0 : 1;
  }
  sync_block();
  const std::uint32_t row[2] = {shared.slots[0] * bins, (2 + shared.slots[1]) * bins};
  const Bins<T>& left_bins = fetched.counted[0].slots[shared.slots[0]];
  const Bins<T>& right_bins = fetched.counted[1].slots[shared.slots[1]];
  count_candidates(p, node.bins.dim, list, split, left_bins, right_bins, fetched.rows + row[0], fetched.rows + row[1],
                   bins);
  sync_block();
  if (list.blocks > 1) {
    for (std::uint32_t i = thread_number(); i < 4 * bins; i += threads_per_block()) {
      if (fetched.rows[i] != 0) atomic_add(&all[i], fetched.rows[i]);
    }
    meet_blocks(&list.shared->arrived, list.blocks, meetings);
    if (list.block != 0) return;
    for (std::uint32_t i = thread_number(); i < 4 * bins; i += threads_per_block()) {
      fetched.rows[i] = load_fresh(&all[i]);
    }
    sync_block();
  }
  const std::uint32_t left_target = left_size(p, parent.segment, level, 2 * parent.heap);
  const std::uint32_t right_target = left_size(p, parent.segment, level, 2 * parent.heap + 1);
  find_bins(fetched.rows + row[0], fetched.rows + row[1], bins, left_target, right_target);
  if (warp_number() < 2) {
    const std::uint32_t side = warp_number();
    publish_node(p, parent.segment, level, 2 * parent.heap + side, fetched.halves[side],
                 side == 0 ? left_bins : right_bins, shared.found_bin[side],
                 (side == 0 ? left_target : right_target) - shared.found_below[side]);
  }
  if (p.parts > 1) {  // for the next pass
    for (std::uint32_t i = thread_number(); i < 4 * bins; i += threads_per_block()) all[i] = 0;
  }
}

}  // namespace kith::cuda
