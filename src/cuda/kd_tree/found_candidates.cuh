// Candidates on their way to the lists of their nodes: each warp gathers some in shared memory, so that room in a list
// is reserved for many at once even where every point is a candidate.
#pragma once

#include "cuda/kd_tree/pass_shared.cuh"
#include "cuda/kd_tree/segment_slice.cuh"

namespace kith::cuda {

/// Puts the `found` candidates of this warp into the lists of their nodes, which lie `level` below the segment. With
/// their coordinates, unless the scatter has begun: those who read the list later then need not gather them.
template <bool kWithValues, typename T>
__device__ __forceinline__ void list_candidates(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level,
                                                std::uint32_t found) {
  FoundCandidates<T>& warp = pass_shared<T>().found[warp_number()];
  const std::uint32_t nodes = 1u << level;
  warp.counts[lane_number()] = 0;
  sync_warp();
  constexpr std::uint32_t kEach = FoundCandidates<T>::kRoom / kWarp;
  std::uint32_t ranks[kEach];
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    const std::uint32_t i = lane_number() + k * kWarp;
    ranks[k] = i < found ? atomic_add(&warp.counts[warp.nodes[i]], 1u) : 0;
  }
  sync_warp();
  if (warp.counts[lane_number()] > 0) {
    const std::uint32_t heap = nodes + lane_number();
    const std::uint32_t base =
        atomic_add(&p.nodes[std::uint64_t{segment} * kHeap + heap].candidates, warp.counts[lane_number()]);
    warp.bases[lane_number()] = static_cast<std::uint32_t>(first_place(p, segment, level, heap)) + base;
  }
  sync_warp();
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    const std::uint32_t i = lane_number() + k * kWarp;
    if (i < found) {
      const std::uint32_t entry = warp.bases[warp.nodes[i]] + ranks[k];
      p.keys[entry] = warp.keys[i];
      p.places[entry] = warp.places[i];
      ranks[k] = entry;
    }
  }
  if constexpr (kWithValues) {
    for (std::uint32_t d = 0; d < p.shape.dims; ++d) {
      T* column = p.candidate_values + d * p.out_stride;
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        const std::uint32_t i = lane_number() + k * kWarp;
        if (i < found) column[ranks[k]] = p.source.at(warp.places[i], d);
      }
    }
  }
  sync_warp();
}

/// Adds the candidates of a warp, at most one per lane, to the `found` ones. `node` counts from the first of its level.
template <bool kWithValues, typename T>
__device__ __forceinline__ void note_candidate(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level,
                                               bool is_candidate, std::uint32_t node, T x, std::uint32_t place,
                                               std::uint32_t& found) {
  const std::uint32_t lanes = ballot(is_candidate);
  if (lanes == 0) return;
  FoundCandidates<T>& warp = pass_shared<T>().found[warp_number()];
  if (found + count_bits(lanes) > FoundCandidates<T>::kRoom) {
    list_candidates<kWithValues>(p, segment, level, found);
    found = 0;
  }
  if (is_candidate) {
    const std::uint32_t i = found + count_bits(lanes & ((1u << lane_number()) - 1));
    const bool is_number = pass_shared<T>().tables.parent_dim(node) == p.shape.dims;
    warp.keys[i] = is_number ? static_cast<OrderedKey<T>>(p.source.index(place)) + 1 : ordered_key(x);
    warp.places[i] = place;
    warp.nodes[i] = static_cast<std::uint8_t>(node);
  }
  found += count_bits(lanes);
  sync_warp();
}

}  // namespace kith::cuda
