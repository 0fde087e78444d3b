// What a registration needs to know of clouds on a GPU: their boxes, their means, the planes of their points.
#pragma once

#include "core/cloud/motion.hpp"
#include "core/cloud/neighborhood.hpp"
#include "cuda/kd_tree/build/build_types.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/registration/ordered_total.cuh"
#include "cuda/registration/registration_types.hpp"

#include <cstdint>

namespace kith::cuda {

/// The box of rows: `box` holds the ordered keys of the lower corner, which begin with the largest, then of the upper
/// one, which begin with 0.
template <typename T, std::uint32_t kDims>
__global__ void find_box(const T* rows, std::uint64_t count, OrderedKey<T>* box) {
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * threads_per_block();
  OrderedKey<T> lower[kDims], upper[kDims];
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    lower[d] = ~OrderedKey<T>{0};
    upper[d] = 0;
  }
  for (std::uint64_t i = std::uint64_t{block_number()} * threads_per_block() + thread_number(); i < count; i += step) {
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const OrderedKey<T> key = ordered_key(rows[i * kDims + d]);
      lower[d] = key < lower[d] ? key : lower[d];
      upper[d] = key > upper[d] ? key : upper[d];
    }
  }
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const OrderedKey<T> least = min_of_warp(lower[d]);
    const OrderedKey<T> most = max_of_warp(upper[d]);
    if (lane_number() == 0) {
      atomic_min(&box[d], least);
      atomic_max(&box[kDims + d], most);
    }
  }
}

/// A point less the middle of a box, and its squared distance from it.
template <typename T, std::uint32_t kDims>
struct PlaceTerms {
  const T* rows;
  const OrderedKey<T>* box;  ///< as find_box leaves it

  __device__ void operator()(std::uint64_t i, core::Terms<4>& terms) const {
    double x[3] = {0, 0, 0};
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const auto lower = static_cast<double>(value_of_key<T>(box[d]));
      const auto upper = static_cast<double>(value_of_key<T>(box[kDims + d]));
      x[d] = static_cast<double>(rows[i * kDims + d]) - core::middle_of(lower, upper);
    }
    terms = {x[0], x[1], x[2], x[0] * x[0] + x[1] * x[1] + x[2] * x[2]};
  }
};

/// Every `step`-th of some values.
template <typename T>
struct ValueTerms {
  const T* values;
  std::uint64_t step;

  __device__ void operator()(std::uint64_t i, core::Terms<1>& terms) const {
    terms[0] = static_cast<double>(values[i * step]);
  }
};

/// The total of items: `sums` has total_scratch numbers, `counter` begins with 0.
template <int N, typename Item>
__global__ void total_items(Item item, std::uint64_t items, double* sums, double* total, std::uint32_t* counter) {
  struct Shared {
    bool is_last;
    TotalShared<N> total;
  };
  auto& shared = *reinterpret_cast<Shared*>(shared_memory());
  const std::uint64_t blocks = core::sum_blocks(items);
  for (std::uint64_t b = block_number(); b < blocks; b += blocks_in_grid()) {
    core::Terms<N> terms{};
    const std::uint64_t i = b * core::kSumBlock + thread_number();
    if (i < items) item(i, terms);
    add_block<N>(terms, shared.total, sums + b * N);
  }
  if (thread_number() == 0) {
    fence_device();
    shared.is_last = atomic_add(counter, 1u) == blocks_in_grid() - 1;
  }
  sync_block();
  if (!shared.is_last) return;
  fence_device();
  const double* all = add_levels<N>(sums, items, shared.total);
  if (thread_number() < N) total[thread_number()] = load_fresh_number(all + thread_number());
}

/// A thread for each point: its plane from its list of k neighbours. `curvatures` may be null.
template <typename T, std::uint32_t kDims>
__global__ void fit_planes(const T* rows, std::uint64_t count, const std::uint32_t* lists, std::uint32_t k, T* normals,
                           T* curvatures) {
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * threads_per_block();
  for (std::uint64_t i = std::uint64_t{block_number()} * threads_per_block() + thread_number(); i < count; i += step) {
    core::Neighborhood<kDims> around;
    for (std::uint32_t j = 0; j < k; ++j) {
      around.add(rows + std::uint64_t{lists[i * k + j]} * kDims, rows + i * kDims);
    }
    const core::FittedPlane<kDims> plane = core::fitted_plane(around);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) normals[i * kDims + d] = static_cast<T>(plane.normal[d]);
    if (curvatures != nullptr) curvatures[i] = static_cast<T>(plane.curvature);
  }
}

}  // namespace kith::cuda
