// The kernels of distances and outliers, put into a stream. None of these waits.
#pragma once

#include "cuda/clouds/figure_types.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstdint>

namespace kith::cuda {

template <typename T>
void look_for_nonfinite_on_device(const T* rows, std::uint64_t row_stride, std::uint64_t count, std::uint32_t dims,
                                  std::uint32_t* bad, const Stream& stream);

/// Fills the arrays and facts of the task.
template <typename T>
void take_nearest_on_device(const NearestTask<T>& task, const Stream& stream);

/// The mean of each of `count` lists of k distances without the first `skip`.
template <typename T>
void mean_lists_on_device(const T* distances, std::uint64_t count, std::uint32_t k, std::uint32_t skip, double* means,
                          const Stream& stream);

/// The sum of values, and of their squared distances from a mean.
void sum_on_device(const double* values, std::uint64_t count, double* sum, const Stream& stream);
void sum_spread_on_device(const double* values, double mean, std::uint64_t count, double* sum, const Stream& stream);

/// Flags; `task.kept` has one entry more than points, whose last one is how many are kept. `kept` may be null.
void flag_outliers_on_device(const FlagTask& task, std::uint32_t* kept, const Stream& stream);

}  // namespace kith::cuda
