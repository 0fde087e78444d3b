// Many small clouds made ready for registration, a block each: box, mean, tree, planes and the spacing of points.
#pragma once

#include "core/cloud/motion.hpp"
#include "core/cloud/neighborhood.hpp"
#include "cuda/kd_tree/build/build_types.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/registration/ordered_total.cuh"
#include "cuda/registration/pairs_types.hpp"
#include "cuda/registration/small_cloud.cuh"
#include "cuda/registration/small_lists.cuh"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kMostSumBlocks = kMostSmallPoints / core::kSumBlock;
static_assert(kMostSumBlocks <= core::kSumGroup && kMostSumBlocks * core::kSumBlock == kMostSmallPoints);

template <typename T, std::uint32_t kDims>
struct PrepareShared {
  OrderedKey<T> lower[kDims], upper[kDims];
  T lower_corner[kDims];
  double middle[3];
  double blocks[kMostSumBlocks * 4];
  TotalShared<4> places;
  TotalShared<1> distances;

  /// With the tree and the keys that follow.
  KITH_HOST_DEVICE static constexpr std::uint32_t bytes(std::uint32_t points) {
    return header() + SmallTree<T, kDims>::bytes(points) + std::bit_ceil(points) * sizeof(std::uint64_t);
  }
  KITH_HOST_DEVICE static constexpr std::uint32_t header() { return (sizeof(PrepareShared) + 15) / 16 * 16; }
};

/// Whether a coordinate of the cloud is not finite; else its box and sums.
template <typename T, std::uint32_t kDims>
__device__ bool describe_cloud(const CloudTask<T>& task, PrepareShared<T, kDims>& shared, CloudFacts<T>& facts) {
  if (thread_number() < kDims) {
    shared.lower[thread_number()] = ~OrderedKey<T>{0};
    shared.upper[thread_number()] = 0;
  }
  bool is_finite = true;
  OrderedKey<T> lower[kDims], upper[kDims];
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    lower[d] = ~OrderedKey<T>{0};
    upper[d] = 0;
  }
  for (std::uint32_t i = thread_number(); i < task.points; i += threads_per_block()) {
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const T value = task.rows[i * task.row_stride + d];
      is_finite = is_finite && value - value == 0;
      const OrderedKey<T> key = ordered_key(value);
      lower[d] = key < lower[d] ? key : lower[d];
      upper[d] = key > upper[d] ? key : upper[d];
    }
  }
  const bool is_bad = any_thread(!is_finite);
  if (thread_number() == 0) facts.is_finite = !is_bad;
  if (is_bad) return false;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const OrderedKey<T> least = min_of_warp(lower[d]);
    const OrderedKey<T> most = max_of_warp(upper[d]);
    if (lane_number() == 0) {
      atomic_min(&shared.lower[d], least);
      atomic_max(&shared.upper[d], most);
    }
  }
  sync_block();
  if (thread_number() < kDims) {
    const std::uint32_t d = thread_number();
    const T from = value_of_key<T>(shared.lower[d]);
    const T to = value_of_key<T>(shared.upper[d]);
    shared.lower_corner[d] = facts.lower[d] = from;
    facts.upper[d] = to;
    shared.middle[d] = core::middle_of(static_cast<double>(from), static_cast<double>(to));
  }
  sync_block();
  const auto blocks = static_cast<std::uint32_t>(core::sum_blocks(task.points));
  for (std::uint32_t b = 0; b < blocks; ++b) {
    core::Terms<4> terms{};
    const std::uint32_t i = b * core::kSumBlock + thread_number();
    if (i < task.points) {
      double x[3] = {0, 0, 0};
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
        x[d] = static_cast<double>(task.rows[i * task.row_stride + d]) - shared.middle[d];
      }
      terms = {x[0], x[1], x[2], x[0] * x[0] + x[1] * x[1] + x[2] * x[2]};
    }
    add_block<4>(terms, shared.places, shared.blocks + b * 4);
  }
  if (thread_number() < 4) facts.sums[thread_number()] = sum_of_few_blocks(shared.blocks + thread_number(), 4, blocks);
  sync_block();
  return true;
}

template <typename T, std::uint32_t kDims>
__device__ void build_small_tree(const CloudTask<T>& task, const PrepareShared<T, kDims>& shared,
                                 const SmallTree<T, kDims>& tree, std::uint64_t* keys) {
  T side = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    side = greater(side, value_of_key<T>(shared.upper[d]) - value_of_key<T>(shared.lower[d]));
  }
  const T scale = side > 0 ? T(65536) / side : T(0);
  const std::uint32_t slots = std::bit_ceil(task.points);
  for (std::uint32_t i = thread_number(); i < slots; i += threads_per_block()) {
    keys[i] = i < task.points ? curve_key<T, kDims>(task.rows + i * task.row_stride, shared.lower_corner, scale, i)
                              : ~std::uint64_t{0};
  }
  sync_block();
  sort_keys(keys, slots);
  fill_tree<T, kDims>(tree, task.rows, task.row_stride, keys);
}

/// The places of the `listed` nearest points in their order, of the lanes that are there.
template <typename T, std::uint32_t kDims, std::uint32_t kList>
__device__ __forceinline__ void find_places(const SmallTree<T, kDims>& tree, const T (&query)[kDims], bool is_there,
                                            std::uint32_t listed, std::uint32_t (&places)[kList]) {
  bool is_open = is_there;
  if constexpr (sizeof(T) == sizeof(float) && kList > 2) {
    KeyList<kList> list;
    if (!is_there) list.limit = -1;
    find_lists<T, kDims>(tree, query, list);
    is_open = is_there && !list.holds(listed);
    if (is_there && !is_open) {
      list.put_in_order(tree, query);
#pragma unroll
      for (std::uint32_t j = 0; j < kList; ++j) places[j] = list.place(j);
    }
    if (!any_lane(is_open)) return;
  }
  NearestList<T, kList> list;
  if (!is_open) list.limit = -1;
  find_lists<T, kDims>(tree, query, list);
#pragma unroll
  for (std::uint32_t j = 0; j < kList; ++j) {
    if (is_open) places[j] = list.place(j);
  }
}

/// Normals and the distances to nearest neighbours, by number. Warps take 32 points that lie together.
template <typename T, std::uint32_t kDims, std::uint32_t kList>
__device__ void fit_small_planes(const CloudTask<T>& task, const SmallTree<T, kDims>& tree, T* distances) {
  const std::uint32_t wanted = task.normals != nullptr ? task.neighbors : 2;
  const std::uint32_t listed = wanted < task.points ? wanted : task.points;
  for (std::uint32_t first = warp_number() * kWarp; first < task.points; first += threads_per_block()) {
    const std::uint32_t place = first + lane_number();
    const bool is_point = place < task.points;
    T query[kDims] = {};
    if (is_point) tree.load(place, query);
    std::uint32_t places[kList] = {};
    find_places<T, kDims, kList>(tree, query, is_point, listed, places);
    if (!is_point) continue;
    const std::uint32_t number = tree.numbers[place];
    const auto distance = [&](std::uint32_t at) {
      return core::square_root(reduced_to_point<T, kDims>(query, tree.leaves[at / kSmallLeaf], at % kSmallLeaf));
    };
    distances[number] = task.points > 1 ? distance(places[1]) : T(0);
    if (task.normals == nullptr) continue;
    core::Neighborhood<kDims> around;
#pragma unroll
    for (std::uint32_t j = 0; j < kList; ++j) {
      if (j >= listed) continue;
      T other[kDims];
      tree.load(places[j], other);
      around.add(other, query);
    }
    const core::FittedPlane<kDims> plane = core::fitted_plane(around);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      task.normals[std::uint64_t{number} * kDims + d] = static_cast<T>(plane.normal[d]);
    }
  }
}

/// Blocks at a time on a multiprocessor, as far as registers decide.
template <typename T, std::uint32_t kList>
inline constexpr int kPreparedTogether = sizeof(T) == sizeof(float) && kList <= 16 ? 3 : 2;

/// A block of kSumBlock threads for each cloud. Lists of kList, at least the neighbours of planes and two.
template <typename T, std::uint32_t kDims, std::uint32_t kList>
__global__ void __launch_bounds__(core::kSumBlock, (kPreparedTogether<T, kList>))
    prepare_clouds(const CloudTask<T>* tasks, CloudFacts<T>* facts) {
  using Shared = PrepareShared<T, kDims>;
  const CloudTask<T> task = tasks[block_number()];
  CloudFacts<T>& known = facts[block_number()];
  auto& shared = *reinterpret_cast<Shared*>(shared_memory());
  if (!describe_cloud<T, kDims>(task, shared, known)) return;
  std::byte* const memory = shared_memory() + Shared::header();
  const SmallTree<T, kDims> tree(memory, task.points);
  const std::uint32_t tree_bytes = SmallTree<T, kDims>::bytes(task.points);
  auto* const keys = reinterpret_cast<std::uint64_t*>(memory + tree_bytes);
  build_small_tree<T, kDims>(task, shared, tree, keys);
  for (std::uint32_t i = thread_number(); i < tree_bytes / sizeof(std::uint64_t); i += threads_per_block()) {
    reinterpret_cast<std::uint64_t*>(task.tree)[i] = reinterpret_cast<const std::uint64_t*>(memory)[i];
  }
  if (task.normals == nullptr && !task.wants_spacing) return;
  auto* const distances = reinterpret_cast<T*>(keys);  // which are not needed any more
  fit_small_planes<T, kDims, kList>(task, tree, distances);
  sync_block();
  const auto blocks = static_cast<std::uint32_t>(core::sum_blocks(task.points));
  for (std::uint32_t b = 0; b < blocks; ++b) {
    core::Terms<1> terms{};
    const std::uint32_t i = b * core::kSumBlock + thread_number();
    if (i < task.points) terms[0] = static_cast<double>(distances[i]);
    add_block<1>(terms, shared.distances, shared.blocks + b);
  }
  if (thread_number() == 0) known.spacing = sum_of_few_blocks(shared.blocks, 1, blocks);
}

}  // namespace kith::cuda
