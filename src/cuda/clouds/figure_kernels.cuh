// Figures of distances, a thread for each point: nearest points as callers see them, mean distances, flags, and the
// terms of sums.
#pragma once

#include "core/cloud/ordered_sum.hpp"
#include "cuda/clouds/figure_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <bit>
#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kFigureThreads = 256;

/// Calls work(i) for each i below count.
template <typename Work>
__device__ __forceinline__ void for_each_figure(std::uint64_t count, Work&& work) {
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * kFigureThreads;
  for (std::uint64_t i = std::uint64_t{block_number()} * kFigureThreads + thread_number(); i < count; i += step)
    work(i);
}

/// `bad` becomes 1 if a coordinate is not finite.
template <typename T>
__global__ void __launch_bounds__(kFigureThreads)
    look_for_nonfinite(const T* rows, std::uint64_t row_stride, std::uint64_t count, std::uint32_t dims,
                       std::uint32_t* bad) {
  for_each_figure(count, [&](std::uint64_t i) {
    T zero = 0;  // NaN unless all are finite
    for (std::uint32_t d = 0; d < dims; ++d) zero += rows[i * row_stride + d] * T(0);
    if (!(zero == T(0))) atomic_or(bad, 1u);
  });
}

/// What a search for the nearest point of each left, as callers see it, and some of its figures.
template <typename T>
__global__ void __launch_bounds__(kFigureThreads) take_nearest(const __grid_constant__ NearestTask<T> task) {
  std::uint32_t matched = 0;
  std::uint64_t most = 0;
  for_each_figure(task.count, [&](std::uint64_t i) {
    const bool is_found = task.found[i] < task.points;
    const auto distance = static_cast<double>(task.distances[i]);
    if (task.wide != nullptr) task.wide[i] = distance;
    if (task.nearest != nullptr) task.nearest[i] = is_found ? task.found[i] : 0xffffffffu;
    if (task.ranked.keys != nullptr) {
      task.ranked.keys[i] = is_found ? ordered_key(task.distances[i]) : ~OrderedKey<T>{0};
      task.ranked.values[i] = static_cast<std::uint32_t>(i);
    }
    if (!is_found) return;
    ++matched;
    const auto bits = std::bit_cast<std::uint64_t>(distance);  // in the order of distances, which are not negative
    most = bits > most ? bits : most;
  });
  matched = sum_of_warp(matched);
  most = max_of_warp(most);
  if (lane_number() != 0) return;
  atomic_add(&task.facts->matched, matched);
  atomic_max(&task.facts->most, most);
}

/// The first row at the largest distance.
template <typename T>
__global__ void __launch_bounds__(kFigureThreads) find_first_most(const __grid_constant__ NearestTask<T> task) {
  const auto most = std::bit_cast<double>(task.facts->most);
  for_each_figure(task.count, [&](std::uint64_t i) {
    if (task.found[i] < task.points && static_cast<double>(task.distances[i]) == most) {
      atomic_max(&task.facts->inverted_row, ~static_cast<std::uint32_t>(i));
    }
  });
}

/// Distances of points that have a nearest one, and their squares.
template <typename T>
struct NearestTerms {
  const std::uint32_t* found;
  const T* distances;
  std::uint32_t points;

  __device__ void operator()(std::uint64_t i, core::Terms<2>& terms) const {
    if (found[i] >= points) return;
    const auto distance = static_cast<double>(distances[i]);
    terms = {distance, distance * distance};
  }
};

/// The mean of each list, without its first `skip` entries.
template <typename T>
__global__ void __launch_bounds__(kFigureThreads)
    mean_lists(const T* distances, std::uint64_t count, std::uint32_t k, std::uint32_t skip, double* means) {
  for_each_figure(count, [&](std::uint64_t i) {
    double sum = 0;
    for (std::uint32_t j = skip; j < k; ++j) sum += static_cast<double>(distances[i * k + j]);
    means[i] = sum / (k - skip);
  });
}

struct MeanTerms {
  const double* means;
  __device__ void operator()(std::uint64_t i, core::Terms<1>& terms) const { terms[0] = means[i]; }
};

struct SpreadTerms {
  const double* means;
  double mean;
  __device__ void operator()(std::uint64_t i, core::Terms<1>& terms) const {
    const double apart = means[i] - mean;
    terms[0] = apart * apart;
  }
};

/// Flags by mean distance, or by count, and the reverse of them in `kept`.
__global__ void __launch_bounds__(kFigureThreads) flag_outliers(const __grid_constant__ FlagTask task) {
  for_each_figure(task.count, [&](std::uint64_t i) {
    const bool is_kept = task.means != nullptr ? task.means[i] <= task.threshold : task.counts[i] >= task.min_neighbors;
    task.flags[i] = is_kept ? 0 : 1;
    task.kept[i] = is_kept ? 1 : 0;
  });
}

/// `places` are the sums of flag_outliers' kept before each, and behind the last.
__global__ void __launch_bounds__(kFigureThreads)
    list_kept(const std::uint32_t* places, std::uint64_t count, std::uint32_t* kept) {
  for_each_figure(count, [&](std::uint64_t i) {
    if (places[i + 1] != places[i]) kept[places[i]] = static_cast<std::uint32_t>(i);
  });
}

}  // namespace kith::cuda
