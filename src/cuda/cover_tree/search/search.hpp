// Searches in a cover tree on the GPU, with queries and answers in its memory. Each call puts kernels into a stream and
// does not wait for them; the memory that they need on the way comes from the device's pool: frames of trees that are
// higher than some ten steps, lists of more than some hundred neighbours, 1 GiB at most.
#pragma once

#include "cuda/cover_tree/search/search_types.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstdint>

namespace kith::cuda {

/// The k nearest of each query; k is at least 1. Throws OutOfMemory, DeviceError, as all of these.
template <typename Space>
void search_cover_knn(const CoverKnnTask<Space>& task, const Stream& stream);
/// Fills request.counts, or the lists that begin at request.starts.
template <typename Space>
void search_cover_radius(const CoverRadiusTask<Space>& task, bool lists, const Stream& stream);

}  // namespace kith::cuda
