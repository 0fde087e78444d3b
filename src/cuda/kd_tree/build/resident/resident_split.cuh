// The splits of the nodes of a level: what is counted, the first point of each right half, the boxes of the halves.
#pragma once

#include "cuda/kd_tree/build/resident/resident_extremes.cuh"
#include "cuda/kd_tree/build/resident/resident_count.cuh"

namespace kith::cuda {

/// Decides by what coordinate the nodes of a level are split, and how it is counted. Synchronises the block.
template <typename T>
__device__ void begin_level(const ResidentBlock<T>& own, std::uint32_t level) {
  if (thread_number() < 1u << level) {
    const std::uint32_t j = thread_number(), dims = own.dims;
    const T* box = own.box(level, j);
    ResidentNode<T> node;
    if (own.p.shape.cycles) {
      node.dim = level % dims;
    } else {
      T extent = box[dims] - box[0];
      for (std::uint32_t d = 1; d < dims; ++d) {
        const T other = box[dims + d] - box[d];
        node.dim = other > extent ? d : node.dim;
        extent = other > extent ? other : extent;
      }
    }
    node.low = box[node.dim];
    // What overflows or is no number on the way still gives counters that are monotone in the coordinate.
    node.scale = static_cast<T>(own.p.counters >> level) / (box[dims + node.dim] - node.low);
    const std::uint32_t first = own.first(level, j);
    node.rank = own.first(level + 1, 2 * j + 1) - first;
    node.count = own.first(level, j + 1) - first;
    own.nodes(level)[j] = node;
  }
  sync_block();
}

/// Narrows down the candidates of nodes that have more than a list holds: counts the first component of the super-key
/// in which they differ, between its extremes. True if a node still has more. The cluster synchronises.
template <typename T>
KITH_NOINLINE __device__ bool narrow_candidates(const ResidentGroup<T>& p, std::uint32_t level, std::uint32_t round,
                                                std::uint32_t turn) {
  using Key = OrderedKey<T>;
  ResidentBlock<T> own(p);  // made once more, so that the caller's may stay in registers
  own.turn = turn;
  ResidentNode<T>* nodes = own.nodes(level);
  const std::uint32_t sides = own.dims + 1, counter_bits = 31 - leading_zeros(own.p.counters >> level);
  find_extremes(
      own, 1u << level, sides, [&](std::uint32_t j) { return nodes[j].count > kMostListed; },
      [](std::uint32_t j, std::uint32_t state) { return state == (j | kUndecided); });
  if (thread_number() < 1u << level && nodes[thread_number()].count > kMostListed) {
    ResidentNode<T>& node = nodes[thread_number()];
    const Key* extremes = own.extremes() + thread_number() * 2 * sides;
    const auto low_of = [&](std::uint32_t d) { return static_cast<Key>(~extremes[d]); };
    std::uint32_t axis = own.axis(node.dim, node.component);
    while (node.component < own.dims && low_of(axis) == extremes[sides + axis]) {
      if (node.component == 0) node.split_key = low_of(axis);
      axis = own.axis(node.dim, ++node.component);
    }
    const Key range = extremes[sides + axis] - low_of(axis);
    const std::uint32_t bits = range == 0 ? 0 : 8 * sizeof(Key) - leading_zeros(range);
    node.low_key = low_of(axis);
    node.shift = bits > counter_bits ? bits - counter_bits : 0;
    node.round = round;
    if (block_number() == 0 && node.component > 0) *own.p.tied = 1;
  }
  sync_block();
  count_points(own, level, round);
  sync_cluster();
  const bool is_open = choose_counters(own, level, round);
  own.clear_histogram(own.turn ^ 1);
  decide_by_counters(own, level, round);
  return is_open;
}

/// The first point of the right half among the candidates of a node, which are listed; lanes hold some each. While
/// candidates are tied with it, those are ranked by the next component. One warp.
template <typename T>
__device__ __forceinline__ void find_pivot(const ResidentBlock<T>& own, ResidentNode<T>& node, std::uint32_t j) {
  using Key = OrderedKey<T>;
  constexpr std::uint32_t kEach = kMostListed / kWarp, kAtOnce = 8;
  constexpr Key kNone = static_cast<Key>(~Key{0});  // no candidate: of no number
  const std::uint32_t list = j * kMostListed, count = node.count;
  std::uint32_t target = node.rank, place[kEach];
  Key listed[kEach], key[kEach];
#pragma unroll
  for (std::uint32_t e = 0; e < kEach; ++e) {
    const std::uint32_t i = e * kWarp + lane_number();
    listed[e] = key[e] = i < count ? load_fresh(own.p.list_keys + list + i) : kNone;
    place[e] = i < count ? load_fresh(own.p.list_places + list + i) : 0;
  }
#pragma unroll 1
  for (std::uint32_t component = node.component;;) {
    std::uint32_t less[kEach] = {}, equal[kEach] = {};
    sync_warp();
#pragma unroll
    for (std::uint32_t f = 0; f < kEach; ++f) {
      if (f * kWarp >= count) break;
#pragma unroll 1
      for (std::uint32_t lane = 0; lane < kWarp && f * kWarp + lane < count; lane += kAtOnce) {
        Key other[kAtOnce];
#pragma unroll
        for (std::uint32_t i = 0; i < kAtOnce; ++i) other[i] = shuffle(key[f], lane + i);
#pragma unroll
        for (std::uint32_t e = 0; e < kEach; ++e) {
          if (e * kWarp >= count) break;
#pragma unroll
          for (std::uint32_t i = 0; i < kAtOnce; ++i) {
            less[e] += other[i] < key[e] ? 1 : 0;
            equal[e] += other[i] == key[e] ? 1 : 0;
          }
        }
      }
    }
    std::uint32_t before = 0;
    bool is_tied = false;
#pragma unroll
    for (std::uint32_t e = 0; e < kEach; ++e) {
      const bool is_chosen = key[e] != kNone && less[e] <= target && target < less[e] + equal[e];
      if (!is_chosen) {
        key[e] = kNone;
      } else if (equal[e] > 1) {
        before = less[e];
        is_tied = true;
      } else {
        node.pivot = place[e];
        node.pivot_key = listed[e];
        node.split_value = value_of_key<T>(node.component == 0 ? listed[e] : node.split_key);
      }
    }
    sync_warp();
    if (!any_lane(is_tied)) return;
    target -= max_of_warp(before);
    ++component;
#pragma unroll
    for (std::uint32_t e = 0; e < kEach; ++e) {
      if (key[e] != kNone) key[e] = component_key(own.p.source, own.dims, place[e], node.dim, component);
    }
  }
}

/// Finds the splits of a level from the lists, every block by itself; the first one writes them. The boxes of the
/// halves are cut. Synchronises the block.
template <typename T>
__device__ void end_level(const ResidentBlock<T>& own, std::uint32_t level) {
  const std::uint32_t nodes = 1u << level, values = 2 * own.dims;
  for (std::uint32_t j = warp_number(); j < nodes; j += kResidentThreads / kWarp) {
    find_pivot(own, own.nodes(level)[j], j);
  }
  sync_block();
  if (block_number() == 0 && thread_number() < nodes) {
    const ResidentNode<T>& node = own.nodes(level)[thread_number()];
    const std::uint64_t at = core::KdGeometry::node(level, thread_number());
    own.p.tree.split_dims[at] = static_cast<std::uint16_t>(node.dim);
    own.p.tree.split_values[at] = node.split_value;
  }
  const bool is_last = level + 1 == own.p.levels;
  for (std::uint32_t i = thread_number(); i < 2 * nodes * values; i += kResidentThreads) {
    const std::uint32_t child = i / values, side = i % values;
    const ResidentNode<T>& node = own.nodes(level)[child / 2];
    const bool is_cut = side == (child % 2 == 0 ? own.dims + node.dim : node.dim);
    const T value = is_cut ? node.split_value : own.box(level, child / 2)[side];
    own.box(level + 1, 0)[i] = value;
    if (is_last && block_number() == 0) own.p.child_boxes[i] = value;
  }
  sync_block();
}

}  // namespace kith::cuda
