// Candidates on their way to the lists of their nodes: each warp gathers some in shared memory, so that room in a list
// is reserved for many at once even where every point is a candidate.
#pragma once

#include "cuda/kd_tree/build/passes/pass_shared.cuh"
#include "cuda/kd_tree/build/passes/segment_slice.cuh"

namespace kith::cuda {

/// Puts the `found` candidates of this warp into the lists of their nodes, which lie `level` below the segment.
/// `kIsLast`: the scatter has begun.
template <std::uint32_t kCapacity, bool kIsLast, typename T>
KITH_NOINLINE __device__ void list_candidates(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level,
                                              std::uint32_t found) {
  FoundCandidates<T, kCapacity>& warp = found_by_warp<T, kCapacity>();
  const std::uint32_t nodes = 1u << level;
  warp.counts[lane_number()] = 0;
  sync_warp();
  constexpr std::uint32_t kEach = kCapacity / kWarp;
  std::uint32_t ranks[kEach];
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    const std::uint32_t i = lane_number() + k * kWarp;
    ranks[k] = i < found ? atomic_add(&warp.counts[warp.nodes[i]], 1u) : 0;
  }
  sync_warp();
  ListEntries<kIsLast> entries;  // of the node with the number of the lane
  if (warp.counts[lane_number()] > 0) {
    const std::uint32_t heap = nodes + lane_number();
    SplitNode<T>& node = p.nodes[std::uint64_t{segment} * kHeap + heap];
    const std::uint32_t needed = kIsLast ? node.needed : 0;
    warp.counts[lane_number()] = atomic_add(&node.candidates, warp.counts[lane_number()]);
    entries = ListEntries<kIsLast>(p, segment, level, heap, needed);
  }
  sync_warp();
  std::uint32_t* const places = listed_places<kIsLast>(p);
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    if (k * kWarp >= found) break;
    const std::uint32_t i = lane_number() + k * kWarp;
    const std::uint32_t node = i < found ? warp.nodes[i] : 0;
    ListEntries<kIsLast> list;
    list.left = shuffle(entries.left, node);
    if constexpr (kIsLast) {
      list.right = shuffle(entries.right, node);
      list.needed = shuffle(entries.needed, node);
    }
    if (i < found) {
      const std::uint32_t entry = list(warp.counts[node] + ranks[k]);
      p.keys[entry] = warp.keys[i];
      places[entry] = warp.places[i];
    }
  }
  sync_warp();
}

/// The dimension whose coordinates are the keys of a node's candidates; `kMayBeTied`: cells may refine ties.
template <bool kMayBeTied, typename T>
__device__ __forceinline__ std::uint32_t key_dim(const GroupParameters<T>& p, std::uint32_t node) {
  const NodeTables<T>& tables = node_tables<T>();
  return kMayBeTied && tables.are_equal(node) ? p.shape.dims : tables.parent_dim(node);
}

/// Adds candidates of a warp to the `found` ones: of each lane the points of `candidates`, a bit for each, which lie at
/// `place` and on. `nodes` count from the first of their level; `value(k, d)` is coordinate d of point k.
template <std::uint32_t kCapacity, bool kIsLast, bool kMayBeTied, typename T, std::uint32_t kEach, typename Value>
__device__ __forceinline__ void note_candidates(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level,
                                                std::uint32_t candidates, const std::uint32_t (&nodes)[kEach],
                                                const Value& value, std::uint32_t place, std::uint32_t& found) {
  static_assert(kEach * kWarp <= kCapacity);
  if (!any_lane(candidates != 0)) return;
  if constexpr (!kIsLast) {  // otherwise all of a tile fit
    if (found + sum_of_warp(count_bits(candidates)) > kCapacity) {
      list_candidates<kCapacity, kIsLast>(p, segment, level, found);
      found = 0;
    }
  }
  FoundCandidates<T, kCapacity>& warp = found_by_warp<T, kCapacity>();
  OrderedKey<T> keys[kEach];
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {  // all are on their way before the first is put down
    const std::uint32_t dim = key_dim<kMayBeTied>(p, nodes[k]);
    keys[k] = 0;
    if ((candidates >> k & 1) == 0) continue;
    keys[k] =
        dim == p.shape.dims ? static_cast<OrderedKey<T>>(p.source.index(place + k)) + 1 : ordered_key(value(k, dim));
  }
  sync_warp();
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    const bool is_candidate = (candidates >> k & 1) != 0;
    const std::uint32_t lanes = ballot(is_candidate);
    if (is_candidate) {
      const std::uint32_t i = found + count_bits(lanes & ((1u << lane_number()) - 1));
      warp.keys[i] = keys[k];
      warp.places[i] = place + k;
      warp.nodes[i] = static_cast<std::uint8_t>(nodes[k]);
    }
    found += count_bits(lanes);
  }
  sync_warp();
}

/// The same where few lanes have a candidate, and hardly any has two: of four points, whose nodes are bytes.
/// Coordinates are gathered.
template <std::uint32_t kCapacity, typename T>
__device__ __forceinline__ void note_few_candidates(const GroupParameters<T>& p, std::uint32_t segment,
                                                    std::uint32_t level, std::uint32_t candidates, std::uint32_t nodes,
                                                    std::uint32_t place, std::uint32_t& found) {
  FoundCandidates<T, kCapacity>& warp = found_by_warp<T, kCapacity>();
#pragma unroll 1
  for (std::uint32_t lanes = ballot(candidates != 0); lanes != 0; lanes = ballot(candidates != 0)) {
    if (found + count_bits(lanes) > kCapacity) {
      list_candidates<kCapacity, false>(p, segment, level, found);
      found = 0;
    }
    if (candidates != 0) {
      const std::uint32_t k = lowest_bit(candidates), node = nodes >> (8 * k) & 0xff;
      const std::uint32_t i = found + count_bits(lanes & ((1u << lane_number()) - 1));
      const std::uint32_t dim = key_dim<true>(p, node);
      warp.keys[i] = dim == p.shape.dims ? static_cast<OrderedKey<T>>(p.source.index(place + k)) + 1
                                         : ordered_key(p.source.at(place + k, dim));
      warp.places[i] = place + k;
      warp.nodes[i] = static_cast<std::uint8_t>(node);
      candidates &= candidates - 1;
    }
    found += count_bits(lanes);
    sync_warp();
  }
}

}  // namespace kith::cuda
