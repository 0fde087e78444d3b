// The kernels of registrations, put into a stream. None of these waits; all arrays are in device memory.
#pragma once

#include "cuda/kd_tree/build/build_types.hpp"
#include "cuda/registration/registration_types.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstdint>

namespace kith::cuda {

/// All iterations of a stage and the sums at its last pose. `unknowns` is 6 or 7. Of few points, matches are looked for
/// in the lists of `task.near`, too.
template <typename T>
void refine_on_device(const RefineTask<T>& task, int unknowns, const Stream& stream);

/// Normals (rows x dims) and, unless null, curvatures from lists of k neighbours per point. Rows lie side by side.
template <typename T>
void fit_planes_on_device(const T* rows, std::uint64_t count, std::uint32_t dims, const std::uint32_t* lists,
                          std::uint32_t k, T* normals, T* curvatures, const Stream& stream);

/// The box of rows as ordered keys: the lower corner, then the upper one.
template <typename T>
void find_box_on_device(const T* rows, std::uint64_t count, std::uint32_t dims, OrderedKey<T>* box,
                        const Stream& stream);

/// The sums of coordinates less the middle of their box and of their squares: 4 numbers. `scratch` has
/// total_scratch(count, 4).
template <typename T>
void sum_places_on_device(const T* rows, std::uint64_t count, std::uint32_t dims, const OrderedKey<T>* box,
                          double* scratch, double* total, const Stream& stream);

/// The sum of every `step`-th value. `scratch` has total_scratch(count, 1).
template <typename T>
void sum_values_on_device(const T* values, std::uint64_t step, std::uint64_t count, double* scratch, double* total,
                          const Stream& stream);

}  // namespace kith::cuda
