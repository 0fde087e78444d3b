// What a packet has in shared memory.
#pragma once

#include "cuda/kd_tree/search/packet/packet_types.hpp"
#include "cuda/kd_tree/search/wide_tree.hpp"

#include <cstdint>

namespace kith::cuda {

/// Warps of a block; each has its own packet.
inline constexpr std::uint32_t kPacketWarps = 2;

/// Where a walk is. It lies in shared memory while pairs are worked off, which takes all registers there are.
struct alignas(16) PacketPlace {
  std::uint32_t own = 0;              ///< the bottom node where it began
  std::uint32_t group = 0, left = 0;  ///< the node it is at, and which of its children are still to come
  std::uint8_t top = 0, depth = 0;    ///< how far up it went, and how far down it is
  std::uint16_t own_leaf = 0;         ///< of the bottom node where it began
};

/// What the walk of a packet has in shared memory; kLeaves is how many leaves have names, 2048 at most.
template <typename T, std::uint32_t kDims, std::uint32_t kLeaves = 256>
struct PacketWalkStorage {
  static constexpr std::uint32_t kHistory = kLeaves;
  static constexpr std::uint32_t kPairs = 160;       ///< as many are worked off before more come
  static constexpr std::uint32_t kLeavesAtOnce = 4;  ///< that pairs are made of together

  T queries[kDims + 1][kPacketQueries];  ///< coordinates, then the reduced distance up to which a query looks
  std::uint32_t counts[kPacketQueries];  ///< what each query has in its buffer
  std::uint32_t history[kHistory];       ///< the place of the first point of each leaf seen; top bit: one point fewer
  // From here on nothing is needed after the walk.
  alignas(16) T boxes[kPacketQueries][2 * kDims];  ///< of the leaves that are looked at now: middles, half widths
  std::uint16_t pairs[kPairs + kLeavesAtOnce * kPacketQueries];  ///< history << 5 | query
  PacketPlace place;
  std::uint32_t left_at[WideTree::kMostDepths];  ///< the children that are still to come above the place
  alignas(16) T span[2 * kDims];                 ///< the box of the packet
};
}  // namespace kith::cuda
