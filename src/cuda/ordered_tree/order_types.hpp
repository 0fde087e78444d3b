// Balanced trees with one node per point, on a GPU: the ranges of a level, and what kernels know of each.
#pragma once

#include "core/host_device.hpp"
#include "cuda/kd_tree/build/build_types.hpp"

#include <cstdint>

namespace kith::cuda {

/// Which points become a tree, and by which rules.
template <typename T>
struct OrderTask {
  const T* rows = nullptr;
  std::uint64_t row_stride = 0;            ///< at least dims
  const std::uint32_t* numbers = nullptr;  ///< of the rows that are taken, ascending; null: all
  std::uint32_t count = 0;                 ///< of points that are taken
  std::uint32_t dims = 0;
  bool cycles = false;      ///< dimensions take turns instead of the widest side
  bool takes_left = false;  ///< of two middles the left one is the node
};

/// The tree in order, and what links its nodes. All but the first two may be null.
template <typename T>
struct OrderedNodes {
  std::uint32_t* point = nullptr;
  std::uint32_t* split_dim = nullptr;
  std::uint32_t* less = nullptr;
  std::uint32_t* greater = nullptr;
  T* rows = nullptr;  ///< the coordinates of `point`, side by side
};

/// A tree as someone claims it to be: in order if `less` is null.
template <typename T>
struct ClaimedNodes {
  const std::uint32_t* point = nullptr;
  const std::uint32_t* split_dim = nullptr;
  const std::uint32_t* less = nullptr;
  const std::uint32_t* greater = nullptr;
  std::uint32_t root = 0;   ///< of a table; below the number of nodes
  const T* rows = nullptr;  ///< coordinates in order, or null
};

/// The node of the places [first, last), which are not empty.
KITH_HOST_DEVICE inline std::uint32_t middle_of(std::uint32_t first, std::uint32_t last, bool takes_left) {
  return first + (last - first - (takes_left ? 1 : 0)) / 2;
}

/// Points as they are moved: coordinate d of the one at place p at d * stride + p.
template <typename T>
struct MovedPoints {
  T* values = nullptr;
  std::uint32_t* numbers = nullptr;
  std::uint64_t stride = 0;

  KITH_HOST_DEVICE T& at(std::uint32_t p, std::uint32_t d) const { return values[d * stride + p]; }
};

/// What is known of the node of a range: its candidates are the points whose components before `stage` are those known,
/// and whose component `stage` has a key from `low` to `high`.
template <typename T>
struct MiddleSearch {
  OrderedKey<T> low, high;
  std::uint32_t dim;
  std::uint32_t stage;
  std::uint32_t rank;        ///< of the node among them
  std::uint32_t candidates;  ///< how many there are
  std::uint32_t place;       ///< of the node, once it is found
  std::uint32_t is_found;
};

/// One level: range i is [first[i], first[i + 1] - 1); the place behind it has the node that divides it from the next.
template <typename T>
struct OrderLevel {
  MovedPoints<T> from, to;
  std::uint32_t dims = 0;
  std::uint32_t level = 0;
  std::uint32_t parts = 1;  ///< blocks for a range
  std::uint32_t tile = 0;   ///< points of each
  bool cycles = false;
  bool takes_left = false;
  std::uint32_t* first = nullptr;       ///< 2^level + 1
  std::uint32_t* next_first = nullptr;  ///< of the next level
  MiddleSearch<T>* searches = nullptr;
  T* known = nullptr;                   ///< [range][dims]: components that all candidates share
  OrderedKey<T>* boxes = nullptr;       ///< [range][complement of the least, greatest][dims]
  OrderedKey<T>* next_boxes = nullptr;  ///< of the next level; null if they are not used
  std::uint32_t* tickets = nullptr;     ///< [range] blocks that are done; 0 between kernels
  std::uint32_t* moved = nullptr;       ///< [range][left, right]
  std::uint32_t* bins = nullptr;        ///< [range][kOrderBins]; 0 between kernels; null if a range has one block
  std::uint32_t* lists = nullptr;       ///< [range][kMostListed]: places of candidates
  std::uint32_t* listed = nullptr;      ///< [range]: how many there are
  std::uint32_t* open = nullptr;        ///< not 0: 1 + the level of a range that has more; later levels have to wait
  std::uint32_t* out_points = nullptr;
  std::uint32_t* out_dims = nullptr;
};

inline constexpr std::uint32_t kOrderThreads = 256;
/// Points of a range that a block moves.
inline constexpr std::uint32_t kOrderRounds = 16;
inline constexpr std::uint32_t kOrderTile = kOrderThreads * kOrderRounds;
inline constexpr std::uint32_t kOrderBins = 2048;
/// So many candidates are compared with each other.
inline constexpr std::uint32_t kMostListed = 256;

}  // namespace kith::cuda
