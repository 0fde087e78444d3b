// The step between two passes: the exact splits of one level, then the bins of the medians of their halves.
#pragma once

#include "cuda/kd_tree/group_shared.cuh"
#include "cuda/kd_tree/publish_node.cuh"
#include "cuda/kd_tree/select_candidate.cuh"

namespace kith::cuda {

/// Finds the bins in which the ranks `targets` lie in two histograms at once, and how many lie below. For rows of fewer
/// than 2^32 points in all.
template <typename Team>
__device__ void find_bins(const Team& team, const std::uint32_t* row0, const std::uint32_t* row1, std::uint32_t bins,
                          std::uint32_t target0, std::uint32_t target1) {
  const std::uint32_t each = (bins + team.size() - 1) / team.size();
  const std::uint32_t first = team.rank() * each;
  std::uint64_t own = 0;
  for (std::uint32_t b = first; b < first + each && b < bins; ++b) {
    own += row0[b] | std::uint64_t{row1[b]} << 32;
  }
  const std::uint64_t before = team.sum_before(own);
  std::uint32_t below[2] = {static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(before >> 32)};
  TeamCells& cells = *team.cells;
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
  team.sync();
}

/// The root of a segment, from the histograms and the tight box of pass 0. The work of a block. All of
/// these lie in shared memory.
template <typename T>
KITH_NOINLINE __device__ void find_root_median(const GroupParameters<T>& p, const BlockTeam& team,
                                               std::uint32_t segment, bool counts_numbers) {
  using Key = OrderedKey<T>;
  const T* ranges = group_ranges<T>();
  const std::uint32_t* rows = group_counters<T>();
  const Key* tight = group_tight<T>(p.shape.dims);
  constexpr T kInfinity =
      std::bit_cast<T>(sizeof(T) == 4 ? static_cast<Key>(0x7f800000u) : static_cast<Key>(0x7ff0000000000000ull));
  const std::uint32_t dims = p.shape.dims, bins = bins_at(0, dims, p.most_bins);
  T* box = box_of(p, segment, 1);
  if (warp_number() == 0) {
    for (std::uint32_t d = lane_number(); d <= dims; d += kWarp) {
      box[d] = d < dims ? value_of_key<T>(static_cast<Key>(~tight[d])) : ranges[d];
      box[dims + 1 + d] = d < dims ? value_of_key<T>(tight[dims + 1 + d]) : ranges[dims + 1 + d];
      // Keys of infinity and NaN lie outside those of finite numbers on either side.
      if (d < dims &&
          (tight[dims + 1 + d] >= ordered_key(kInfinity) || static_cast<Key>(~tight[d]) <= ordered_key(-kInfinity))) {
        *p.refused = 1;
      }
    }
    sync_warp();
    const std::uint32_t dim = working_dim(p, box, 0);
    if (lane_number() == 0) team.cells->dims[0] = dim;
  }
  team.sync();
  const std::uint32_t dim = team.cells->dims[0];
  const std::uint32_t target = left_size(p, segment, 0, 1);
  // All equal, but not by the ranges: nobody counted numbers, so that all points are candidates.
  const bool is_uncounted = dim == dims && !counts_numbers;
  const std::uint32_t* row = rows + (is_uncounted ? 0 : dim * bins);
  find_bins(team, row, row, bins, target, target);
  if (warp_number() == 0) {
    const Bins<T> used =
        is_uncounted ? Bins<T>{T(0), T(0), dim} : bins_over(ranges[dim], ranges[dims + 1 + dim], dim, bins);
    publish_node(p, segment, 0, 1, used, is_uncounted ? 0 : team.cells->found_bin[0],
                 is_uncounted ? target : target - team.cells->found_below[0]);
  }
  team.sync();
}

/// A node of the level above whose split is about to be found.
struct ParentNode {
  std::uint32_t segment, heap, level;  ///< the level is that of the parent, in the group
};

/// Finds the split of a parent among its candidates and notes it in the tree.
template <typename T, typename Team>
__device__ Selected<T> find_split(const GroupParameters<T>& p, const Team& team, const ParentNode& parent,
                                  const SplitNode<T>& node, const CandidateList<T>& list,
                                  std::uint32_t* select_histogram) {
  CandidateSelection<T, Team> selection(team, p.source, p.shape.dims, node.bins.dim, list, select_histogram);
  const Selected<T> split = selection.run(node.needed);
  if (team.rank() == 0 && list.block == 0) {
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

/// Finds the split of a parent, then the bins of the medians of its halves. `rows` has room for two histograms unless
/// `counted_here` is given: the histograms [slot][bin] of the two halves, in shared memory, which are then used in
/// place.
template <typename T, typename Team>
KITH_NOINLINE __device__ void find_medians(const GroupParameters<T>& p, const Team& team, const ParentNode& parent,
                                           const CandidateList<T>& list, std::uint32_t* select_histogram,
                                           std::uint32_t* rows, std::uint32_t* counted_here) {
  const std::uint64_t base = std::uint64_t{parent.segment} * kHeap;
  const SplitNode<T> node = p.nodes[base + parent.heap];
  const Selected<T> split = find_split(p, team, parent, node, list, select_histogram);
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
      team.cells->dims[side] = dim;
      team.cells->slots[side] = p.counted[base + 2 * parent.heap + side].slots[0].dim == dim ? 0 : 1;
    }
    sync_warp();
  };
  team.sync();
  if constexpr (Team::kIsWarp) {
    cut_half(0);
    cut_half(1);
  } else {
    if (warp_number() < 2) cut_half(warp_number());
  }
  team.sync();
  Bins<T> half_bins[2];
  std::uint32_t* row[2];
  std::uint32_t* global[2] = {nullptr, nullptr};
  for (std::uint32_t side = 0; side < 2; ++side) {
    const std::uint32_t slot = team.cells->slots[side], child = 2 * parent.heap + side;
    half_bins[side] = p.counted[base + child].slots[slot];
    if (counted_here != nullptr) {
      row[side] = counted_here + (2 * side + slot) * bins;
    } else {
      row[side] = rows + side * bins;
      global[side] = p.histogram + std::uint64_t{parent.segment} * kCounters + 2 * (child - (1u << level)) * bins;
    }
  }
  const bool is_shared = list.blocks > 1;
  if (counted_here == nullptr) {
    for (std::uint32_t i = team.rank(); i < 2 * bins; i += team.size()) {
      const std::uint32_t side = i < bins ? 0 : 1, b = i - side * bins;
      rows[i] = is_shared ? 0 : load_fresh(&global[side][team.cells->slots[side] * bins + b]);
    }
  }
  team.sync();
  for (std::uint32_t i = list.first() + team.rank(); i < list.end(); i += team.size()) {
    const std::uint32_t side = is_right_candidate(p, node.bins.dim, list, split, i) ? 1 : 0;
    const T x = coordinate(p.source, dims, list.places[i], half_bins[side].dim);
    atomic_add(&row[side][bin_of(half_bins[side], x, bins)], 1u);
  }
  team.sync();
  if (is_shared) {
    for (std::uint32_t i = team.rank(); i < 2 * bins; i += team.size()) {
      const std::uint32_t side = i < bins ? 0 : 1, b = i - side * bins;
      if (rows[i] != 0) atomic_add(&global[side][team.cells->slots[side] * bins + b], rows[i]);
    }
    meet_blocks(&list.shared->arrived, list.blocks, meetings);
    if (list.block != 0) return;
    for (std::uint32_t i = team.rank(); i < 2 * bins; i += team.size()) {
      const std::uint32_t side = i < bins ? 0 : 1, b = i - side * bins;
      rows[i] = load_fresh(&global[side][team.cells->slots[side] * bins + b]);
    }
    team.sync();
  }
  const std::uint32_t targets[2] = {left_size(p, parent.segment, level, 2 * parent.heap),
                                    left_size(p, parent.segment, level, 2 * parent.heap + 1)};
  find_bins(team, row[0], row[1], bins, targets[0], targets[1]);
  const auto publish = [&](std::uint32_t side) {
    publish_node(p, parent.segment, level, 2 * parent.heap + side, half_bins[side], team.cells->found_bin[side],
                 targets[side] - team.cells->found_below[side]);
  };
  if constexpr (Team::kIsWarp) {
    publish(0);
    publish(1);
  } else {
    if (warp_number() < 2) publish(warp_number());
  }
  if (counted_here == nullptr) {  // for the next pass
    for (std::uint32_t i = team.rank(); i < 4 * bins; i += team.size()) global[0][i] = 0;
  }
  team.sync();
}

}  // namespace kith::cuda
