// The last step of the build: one block finishes one subtree in shared memory. What it needs, and how large blocks are.
#pragma once

#include "cuda/kd_tree/build/build_types.hpp"
#include "cuda/kd_tree/tuning.hpp"
#include "cuda/runtime/shared_limit.hpp"

namespace kith::cuda {

/// Whether every thread has a point in row k of the node that it works on. With many rows no more are planned than the
/// largest subtree needs, an even number: it has more than (kRows - 2) * threads points. So have the others, or as
/// many. Halving a subtree keeps the points per thread, except for what is rounded down to an integer.
template <std::uint32_t kRows>
KITH_HOST_DEVICE constexpr bool is_sure(std::uint32_t k) {
  return kRows > kFewRows && k + 2 < kRows;
}

/// Codes of subtrees that have few values (finish_codes.cuh): dims and values of each, at most, and bits.
inline constexpr std::uint32_t kCodedDims = 4, kPartBits = 5, kCodedValues = 1u << kPartBits, kCodeBits = 24;

/// The values of a subtree that has few.
template <typename T>
struct SubtreeCodes {
  OrderedKey<T> values[kCodedDims][kCodedValues];  ///< their bits, by part of the range, then in order
  std::uint32_t used[kCodedDims];                  ///< a bit for each part that has a value
  T low[kCodedDims], scale[kCodedDims];            ///< of the range: what makes 1 of its width
};

/// What the step needs. The subtrees are the nodes of level `top_level`; none holds more than `capacity` points.
template <typename T>
struct FinishParameters {
  TreeShape shape;
  std::uint32_t top_level = 0;
  std::uint32_t capacity = 0;  ///< up to kMostFinished, or kMostUnstaged if not staged
  bool is_staged = true;       ///< the coordinates of a subtree fit in shared memory beside the rest
  /// The points of subtree j are those at the places [first(top_level, j), first(top_level, j + 1)).
  PointSource<T> source;
  /// Of each subtree, [2^top_level][lower, upper][dims]: its parent's box cut at the split. Not looked at if top_level
  /// is a multiple of kTightBoxEvery: then the box is the tight one, found here.
  const T* cut_boxes = nullptr;
  TreeArrays<T> tree;  ///< written: blocks; splits of levels top_level and below; boxes and smallest of all nodes
  std::uint32_t* arrivals = nullptr;  ///< [2^top_level], zero: subtrees that are done below each node above
  /// [number of a subtree >> tied_levels]: not 0 if a good part of its points may share coordinates; null:
  /// unknown.
  const std::uint32_t* tied = nullptr;
  std::uint32_t tied_levels = 0;
  std::uint32_t* refused = nullptr;  ///< not 0: an earlier step found bad points, nothing is done
  bool looks_for_bad = false;  ///< there was no earlier step: the only block writes `refused`, and stops if it is set
  bool is_arranged = false;    ///< points lie in the order of the leaves, and all splits are written: none is made here
};

/// Where the parts of a block's shared memory begin, in bytes.
template <typename T>
struct FinishLayout {
  static constexpr std::uint32_t kMostWarps = kMostFinished / kFewRows / 32;

  static constexpr std::uint32_t kKeyBytes = sizeof(OrderedKey<T>);

  // What needs no register to be found comes first.
  static constexpr std::uint32_t lows = 0;                                    ///< OrderedKey[2][warps]
  static constexpr std::uint32_t highs = lows + 2 * kMostWarps * kKeyBytes;   ///< OrderedKey[2][warps]
  static constexpr std::uint32_t cells = highs + 2 * kMostWarps * kKeyBytes;  ///< two u32 for each warp
  static constexpr std::uint32_t codes = cells + 8 * kMostWarps;              ///< SubtreeCodes
  /// u32[4][threads]; when the splits are done, boxes of leaves T[threads][2][dims]
  static constexpr std::uint32_t counters = codes + sizeof(SubtreeCodes<T>);
  static_assert(counters % 16 == 0);
  std::uint32_t boxes = 0;            ///< T[threads / 2][2][dims], if staged
  std::uint32_t candidate_keys = 0;   ///< OrderedKey[threads]; when the splits are done, smallest indices of leaves
  std::uint32_t candidate_slots = 0;  ///< u16[threads]
  std::uint32_t values = 0;           ///< T[dims][capacity], if staged
  std::uint32_t indices = 0;          ///< u32[capacity]
  std::uint32_t order = 0;            ///< u16[capacity]
  std::uint32_t bytes = 0;            ///< of all

  KITH_HOST_DEVICE FinishLayout(std::uint32_t capacity, std::uint32_t threads, std::uint32_t dims, bool is_staged) {
    const std::uint32_t point = is_staged ? dims * static_cast<std::uint32_t>(sizeof(T)) : 0;
    const std::uint32_t splitting = 16 * threads + threads * point, leaves = 2 * threads * point;
    boxes = counters + 16 * threads;
    candidate_keys = counters + (splitting > leaves ? splitting : leaves);
    candidate_slots = candidate_keys + threads * kKeyBytes;
    values = candidate_slots + 2 * threads;
    indices = values + capacity * point;
    order = indices + 4 * capacity;
    bytes = order + 2 * capacity;
  }
};

/// How the step is launched: 2^top_level blocks of `threads`.
struct FinishPlan {
  std::uint32_t threads = 0;   ///< a power of two
  std::uint32_t rows = 0;      ///< points per thread: kFewRows, or an even number from 10 to kManyRows
  std::uint32_t capacity = 0;  ///< threads * rows
  std::uint32_t top_level = 0;
  std::uint32_t shared_bytes = 0;
  bool is_staged = false;
};

/// Two blocks fit into the shared memory of a multiprocessor as long as coordinates are staged. A set of few points is
/// cut smaller, so that more blocks work, and so is any set where a block may have less than that. A leaf always fits:
/// coordinates of large leaves that do not are not staged.
template <typename T>
FinishPlan plan_finish(std::uint64_t points, std::uint32_t dims, std::uint32_t leaf_size,
                       std::uint32_t most_shared_bytes = kMostSharedBytes) {
  constexpr std::uint64_t kFewPoints = std::uint64_t{1} << 16, kManyPoints = std::uint64_t{1} << 18;
  constexpr std::uint32_t kLeastCapacity = 256;
  const std::uint64_t row = std::uint64_t{dims} * sizeof(T);
  const core::KdGeometry geometry = core::KdGeometry::of(points, leaf_size);
  FinishPlan plan;
  plan.is_staged = row <= 64;
  std::uint32_t most = row <= 16 ? kMostFinished : row <= 32 ? 2048 : row <= 64 ? 1024 : kMostUnstaged;
  if (points < kFewPoints && most / 2 >= kLeastCapacity) most /= 2;
  const auto bytes_of = [&](std::uint32_t capacity) {
    return FinishLayout<T>(capacity, capacity / kFewRows, dims, plan.is_staged).bytes;
  };
  while (most > kLeastCapacity && bytes_of(most) > most_shared_bytes) most /= 2;
  while (most < geometry.most_per_leaf()) most *= 2;
  if (plan.is_staged && bytes_of(most) > most_shared_bytes) {
    plan.is_staged = false;
    most = kMostUnstaged;
  }
  const auto held = [&] { return core::KdGeometry{points, plan.top_level}.most_per_leaf(); };
  while (held() > most) ++plan.top_level;
  const bool has_many = plan.is_staged && points >= kManyPoints && most == kManyRows * kManyRowsThreads &&
                        kManyRowsThreads >= geometry.leaves() >> plan.top_level;
  plan.threads = most / (has_many ? kManyRows : kFewRows);
  plan.rows = kFewRows;
  while (std::uint64_t{plan.rows} * plan.threads < held()) plan.rows += 2;
  plan.capacity = plan.rows * plan.threads;
  plan.shared_bytes = FinishLayout<T>(plan.capacity, plan.threads, dims, plan.is_staged).bytes;
  return plan;
}

}  // namespace kith::cuda
