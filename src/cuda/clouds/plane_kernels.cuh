// The planes of points, fitted to their neighbours by a thread each.
//
// Points are taken in the order of the tree, so that the threads of a warp gather the same few hundred points, which
// are in the caches then, whatever the order of the caller's rows. By bytes alone at 4 TB/s, 10^7 points of f32 in 3-D
// with 16 neighbours take 0.3 ms: 0.64 GB of lists, 0.48 GB of points, normals and curvatures. The sums are 300 and a
// plane some 600 operations in f64: 0.6 ms at 15 T/s.
#pragma once

#include "core/cloud/neighborhood.hpp"
#include "cuda/clouds/plane_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kPlaneThreads = 128;

/// A thread for each row.
template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kPlaneThreads)
    pad_points(const T* rows, std::uint64_t row_stride, std::uint64_t count, std::byte* padded) {
  auto* const to = reinterpret_cast<PaddedPoint<T, kDims>*>(padded);
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * kPlaneThreads;
  for (std::uint64_t i = std::uint64_t{block_number()} * kPlaneThreads + thread_number(); i < count; i += step) {
    PaddedPoint<T, kDims> point{};
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) point.values[d] = rows[i * row_stride + d];
    to[i] = point;
  }
}

struct alignas(16) FourNumbers {
  std::uint32_t numbers[4];
};

/// The sums of the points of a list, in its order. `kFours`: its length is a multiple of 4, and it lies at such a
/// place.
template <bool kFours, typename Point, typename Sums>
__device__ __forceinline__ void add_neighbors(const Point* points, const std::uint32_t* list, std::uint32_t k,
                                              const Point& own, Sums& around) {
  constexpr std::uint32_t kAtOnce = kFours ? 4 : 1;
  for (std::uint32_t first = 0; first < k; first += kAtOnce) {
    Point found[kAtOnce];
    if constexpr (kFours) {
      const FourNumbers four = *reinterpret_cast<const FourNumbers*>(list + first);
#pragma unroll
      for (std::uint32_t j = 0; j < kAtOnce; ++j) found[j] = points[four.numbers[j]];
    } else {
      found[0] = points[list[first]];
    }
#pragma unroll
    for (std::uint32_t j = 0; j < kAtOnce; ++j) around.add(found[j].values, own.values);
  }
}

template <typename T, std::uint32_t kDims, bool kFours>
__global__ void __launch_bounds__(kPlaneThreads) fit_planes_by_leaf(const __grid_constant__ PlaneTask<T> task) {
  const auto* const points = reinterpret_cast<const PaddedPoint<T, kDims>*>(task.points);
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * kPlaneThreads;
  const std::uint64_t own = std::uint64_t{block_number()} * kPlaneThreads + thread_number();
  for (std::uint64_t i = own; i - lane_number() < task.count; i += step) {  // in whole warps
    bool is_without = false;
    if (i < task.count) {
      const std::uint64_t place = task.places == nullptr ? i : task.places[i];
      const std::uint64_t leaf = task.tree.leaf_of_place(place);
      const std::uint32_t number =
          task.tree.leaf(leaf).numbers[place - task.tree.geometry.first(task.tree.geometry.levels, leaf)];
      const PaddedPoint<T, kDims> point = points[number];
      core::Neighborhood<kDims> around;
      add_neighbors<kFours>(points, task.lists + std::uint64_t{number - task.first} * task.k, task.k, point, around);
      const core::FittedPlane<kDims> plane = core::fitted_plane(around);
      T normal[kDims];
      is_without = true;
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
        normal[d] = static_cast<T>(plane.normal[d]);
        is_without = is_without && normal[d] == T(0);
      }
      if (task.has_viewpoint) {
        double along = 0;
#pragma unroll
        for (std::uint32_t d = 0; d < kDims; ++d) {
          along += static_cast<double>(normal[d]) * (task.viewpoint[d] - static_cast<double>(point.values[d]));
        }
#pragma unroll
        for (std::uint32_t d = 0; d < kDims; ++d) normal[d] = along < 0 ? T(0) - normal[d] : normal[d];
      }
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) task.normals[std::uint64_t{number} * kDims + d] = normal[d];
      if (task.curvatures != nullptr) task.curvatures[number] = static_cast<T>(plane.curvature);
    }
    const std::uint32_t without = ballot(is_without);
    if (without != 0 && lane_number() == 0) atomic_add(task.without, count_bits(without));
  }
}

}  // namespace kith::cuda
