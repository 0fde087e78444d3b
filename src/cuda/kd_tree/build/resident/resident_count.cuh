// Counting: the undecided points of a cluster in the histograms of their nodes, and the counter that holds each median.
//
// A point's counter returns how many were counted before it, so that a candidate knows its place in the list of its
// node without another access to memory.
#pragma once

#include "cuda/kd_tree/build/resident/resident_block.cuh"
#include "cuda/kd_tree/build/super_key.cuh"

namespace kith::cuda {

/// Which half of its node an undecided point lies in, when the split of the node is known.
template <typename T>
__device__ __forceinline__ std::uint32_t half_of(const ResidentBlock<T>& own, const ResidentNode<T>& node,
                                                 std::uint32_t slot) {
  const OrderedKey<T> key = own.key(slot, own.axis(node.dim, node.component));
  if (key != node.pivot_key) return key > node.pivot_key ? 1 : 0;
  return is_not_before(own.p.source, own.dims, own.place(slot), node.pivot, node.dim, node.component + 1) ? 1 : 0;
}

/// The node of a point at level `level`, given its state at the level above.
template <typename T>
__device__ __forceinline__ std::uint32_t decided_node(const ResidentBlock<T>& own, std::uint32_t level,
                                                      std::uint32_t slot) {
  const std::uint32_t state = own.states()[slot];
  if ((state & kUndecided) == 0) return state;
  const std::uint32_t parent = state & ~kUndecided;
  return 2 * parent + half_of(own, own.nodes(level - 1)[parent], slot);
}

/// Counts the undecided points of the nodes that are counted in this round; in the first one those are all points.
template <typename T>
__device__ void count_points(const ResidentBlock<T>& own, std::uint32_t level, std::uint32_t round) {
  constexpr std::uint32_t kAtOnce = 4, kNone = ~0u;
  const ResidentNode<T>* nodes = own.nodes(level);
  const std::uint32_t bins = own.p.counters >> level, last = bins - 1;
  constexpr std::uint32_t threads = kResidentThreads;
  const std::uint32_t lanes_before = (1u << lane_number()) - 1;
  std::uint32_t* histogram = own.histogram(own.turn);
#pragma unroll 1
  for (std::uint32_t first = 0; first < own.count; first += kAtOnce * threads) {
    std::uint32_t equal[kAtOnce], before[kAtOnce];
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k) {
      const std::uint32_t slot = first + k * threads + thread_number();
      std::uint32_t counter = kNone;
      equal[k] = 0;
      if (slot - lane_number() >= own.count) continue;  // all lanes
      if (slot < own.count) {
        std::uint32_t j = kNone, bin = 0;
        if (round == 0) {
          j = decided_node(own, level, slot);
          own.states()[slot] = static_cast<std::uint8_t>(j | kUndecided);
          bin = to_unsigned((own.value(slot, nodes[j].dim) - nodes[j].low) * nodes[j].scale);
        } else if ((own.states()[slot] & kUndecided) != 0) {
          const std::uint32_t open = own.states()[slot] & ~kUndecided;
          if (nodes[open].round == round) {
            j = open;
            bin = static_cast<std::uint32_t>(
                (own.key(slot, own.axis(nodes[j].dim, nodes[j].component)) - nodes[j].low_key) >> nodes[j].shift);
          }
        }
        if (j != kNone) {
          bin = bin < last ? bin : last;
          own.bins()[slot] = static_cast<std::uint16_t>(bin);
          counter = j * bins + bin;
        }
      }
      sync_warp();
      equal[k] = match_lanes(counter);
      before[k] = 0;
      if (counter != kNone && lowest_bit(equal[k]) == lane_number()) {
        before[k] = atomic_add(histogram + counter, count_bits(equal[k]));
      }
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k) {
      const std::uint32_t slot = first + k * threads + thread_number();
      if (slot - lane_number() >= own.count) continue;
      sync_warp();
      const std::uint32_t position = shuffle(before[k], lowest_bit(equal[k])) + count_bits(equal[k] & lanes_before);
      if (slot < own.count) own.positions()[slot] = static_cast<std::uint16_t>(position);
    }
  }
}

/// Finds the counter of each counted node in which its rank falls; every block by itself. True if a node is left with
/// more candidates than a list holds. Synchronises the block.
template <typename T>
__device__ bool choose_counters(const ResidentBlock<T>& own, std::uint32_t level, std::uint32_t round) {
  const std::uint32_t each = own.p.counters / kResidentThreads;
  const std::uint32_t node_warps = kResidentThreads / kWarp >> level;
  const std::uint32_t j = warp_number() / node_warps, first_warp = j * node_warps;
  ResidentNode<T>& node = own.nodes(level)[j];
  const bool is_counted = node.round == round;
  const std::uint32_t rank = node.rank;
  const auto* pairs = reinterpret_cast<const std::uint64_t*>(own.histogram(own.turn)) + thread_number() * (each / 2);
  std::uint64_t pair[kMostCountersEach / 2];
  std::uint32_t sum = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < kMostCountersEach / 2; ++i) {
    pair[i] = 2 * i < each && is_counted ? load_fresh(pairs + i) : 0;
  }
#pragma unroll
  for (std::uint32_t i = 0; i < kMostCountersEach / 2; ++i) {
    sum += static_cast<std::uint32_t>(pair[i]) + static_cast<std::uint32_t>(pair[i] >> 32);
  }
  sync_warp();
  const std::uint32_t through = sum_to_lane(sum);
  if (lane_number() == kWarp - 1) own.sums()[warp_number()] = through;
  sync_block();
  const std::uint32_t warp = lane_number();
  std::uint32_t below = sum_of_warp(warp >= first_warp && warp < warp_number() ? own.sums()[warp] : 0) + through - sum;
  bool is_open = false;
  if (is_counted && rank >= below && rank < below + sum) {
    std::uint32_t counter = (thread_number() - first_warp * kWarp) * each, count = 0;
    bool is_found = false;
#pragma unroll
    for (std::uint32_t i = 0; i < kMostCountersEach; ++i) {
      const auto own_count = static_cast<std::uint32_t>(i % 2 == 0 ? pair[i / 2] : pair[i / 2] >> 32);
      if (is_found) continue;
      count = own_count;
      is_found = rank < below + count;
      if (!is_found) {
        below += count;
        ++counter;
      }
    }
    node.chosen = counter;
    node.rank = rank - below;
    node.count = count;
    is_open = count > kMostListed;  // nodes that were not counted have fewer already
  }
  return any_thread(is_open);
}

/// Decides the points outside the chosen counters, and lists those inside if they are few enough. The cluster must
/// synchronise before lists are read.
template <typename T>
__device__ void decide_by_counters(const ResidentBlock<T>& own, std::uint32_t level, std::uint32_t round) {
  const ResidentNode<T>* nodes = own.nodes(level);
  for (std::uint32_t slot = thread_number(); slot < own.count; slot += kResidentThreads) {
    const std::uint32_t state = own.states()[slot];
    if ((state & kUndecided) == 0) continue;
    const std::uint32_t j = state & ~kUndecided;
    const ResidentNode<T>& node = nodes[j];
    if (node.round != round) continue;
    const std::uint32_t bin = own.bins()[slot];
    if (bin != node.chosen) {
      own.states()[slot] = static_cast<std::uint8_t>(2 * j + (bin > node.chosen ? 1 : 0));
    } else if (node.count <= kMostListed) {
      const std::uint32_t entry = j * kMostListed + own.positions()[slot];
      own.p.list_keys[entry] = own.key(slot, own.axis(node.dim, node.component));
      own.p.list_places[entry] = own.place(slot);
    }
  }
  sync_warp();
}

}  // namespace kith::cuda
