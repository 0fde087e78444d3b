// Searches in a tree on the GPU, with queries and answers in its memory. Each call puts kernels into a stream and does
// not wait for them; the memory that they need on the way comes from the device's pool.
//
// | call            | bytes it takes besides its arguments                                                        |
// |-----------------|---------------------------------------------------------------------------------------------|
// | knn, exact or   | none for k up to some hundred; beyond, lists in global memory: 16 or 32 k per warp, 1 GiB   |
// | not             | at most                                                                                     |
// | count, list     | none                                                                                        |
// | these by packets| the points once more: packed_bytes; 8 per query                                             |
// | boxes           | none                                                                                        |
// | order_queries   | 4 per query and per leaf                                                                    |
#pragma once

#include "cuda/kd_tree/search/approximate/approximate_types.hpp"
#include "cuda/kd_tree/search/search_types.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstdint>

namespace kith::cuda {

/// The k nearest of each query. k is at least 1. Throws OutOfMemory, DeviceError, as all of these.
template <typename T>
void search_knn(const KnnTask<T>& task, const Stream& stream);

/// The same with leave to miss something, and whether it did.
template <typename T>
void search_knn_approximately(const ApproximateTask<T>& task, const Stream& stream);

/// Fills task.counts.
template <typename T>
void count_within(const RadiusTask<T>& task, const Stream& stream);
/// Fills the lists that begin at task.starts.
template <typename T>
void list_within(const RadiusTask<T>& task, const Stream& stream);

/// The same for boxes.
template <typename T>
void count_in_boxes(const BoxTask<T>& task, const Stream& stream);
template <typename T>
void list_in_boxes(const BoxTask<T>& task, const Stream& stream);

/// Puts the rows of queries into the order of the leaves that they lie in.
template <typename T>
void order_queries(const SearchTree<T>& tree, const T* rows, std::uint64_t row_stride, std::uint64_t count,
                   std::uint32_t* order, const Stream& stream);

/// The places of the points numbered from `first` to `end`, and how many they are.
template <typename T>
void choose_points(const SearchTree<T>& tree, std::uint32_t first, std::uint32_t end, std::uint32_t* chosen,
                   std::uint32_t* chosen_count, const Stream& stream);

}  // namespace kith::cuda
