// What the engines take of a GPU's memory, for plans; compiled with and without CUDA.
#include "cuda/brute_force/scan_bytes.hpp"
#include "cuda/cover_tree/build/build_plan.hpp"
#include "cuda/kd_tree/build/build_plan.hpp"
#include "cuda/kd_tree/search/knn_bytes.hpp"
#include "cuda/queries/knn_chunks.hpp"
#include "core/dispatch.hpp"
#include "engine/cover_tree/cover_tree.hpp"
#include "engine/gpu_memory.hpp"
#include "engine/kd_tree/kd_tree.hpp"

#include <algorithm>
#include <vector>

namespace kith::engine {
namespace {

template <typename T>
BuildBytes build_bytes_of(const PlanRequest& request, std::uint32_t shared_bytes, std::uint64_t free) {
  if (request.engine == Engine::brute_force) {
    const std::uint64_t bytes = cuda::scan_bytes<T>(request.count, request.dims, request.metric, request.is_periodic);
    return {bytes, bytes};
  }
  cuda::BuildMemory memory;
  if (request.engine == Engine::cover_tree) {
    const auto stride = static_cast<std::uint32_t>(request.dims * sizeof(T) / sizeof(std::uint32_t));
    memory =
        cuda::cover_index_memory(request.count, stride, cuda::CoverRules::of(request.leaf_size, request.builder), free);
  } else {
    const std::uint32_t leaf_size = leaf_size_of(request.leaf_size, request.dims);
    memory = cuda::build_memory<T>(cuda::tree_shape<T>(request.count, request.dims, leaf_size, false), leaf_size,
                                   shared_bytes, request.builder);
  }
  return {memory.index_bytes, memory.peak_bytes};
}

/// What `queries` queries take while they are searched in a k-d tree.
template <typename T>
std::uint64_t tree_scratch_bytes(const PlanRequest& request, const SearchShape& shape, std::uint64_t queries) {
  static constexpr T kNothing{};  // stands for rows and lengths, which are not read
  const cuda::TreeShape tree =
      cuda::tree_shape<T>(request.count, request.dims, leaf_size_of(request.leaf_size, request.dims), false);
  return cuda::knn_scratch_bytes(
      cuda::KnnTask<T>{{.metric = cuda::SearchMetric<T>::of(request.metric, request.is_periodic ? &kNothing : nullptr),
                        .queries = {.rows = shape.is_self ? nullptr : &kNothing, .count = queries},
                        .k = shape.k},
                       cuda::SearchTree<T>(cuda::TreeArrays<T>{}, tree)},
      cuda::SearchLimits{});
}

template <typename T>
GpuChunks knn_chunks_of(const PlanRequest& request, const SearchShape& shape, std::uint64_t free) {
  const bool is_tree = request.engine == Engine::kd_tree;
  const cuda::KnnExtra extra = is_tree ? cuda::kTreeKnnExtra : cuda::KnnExtra{};
  cuda::KnnQueryBytes each = cuda::knn_query_bytes<T>(request.dims, shape.k, shape.is_self, extra);
  const std::vector<std::uint64_t> starts = cuda::knn_chunks(shape.queries, shape.is_self, each, free / 2);
  GpuChunks chunks{starts.size() - 1, cuda::longest(starts), 0};
  if (is_tree && shape.is_self && chunks.chunks == 1) each.in_flight -= extra.in_flight;  // they are in order already
  chunks.bytes = cuda::bytes_in_flight(starts, each);
  if (is_tree) chunks.bytes += tree_scratch_bytes<T>(request, shape, chunks.queries);
  if (request.engine == Engine::brute_force) chunks.bytes += std::min(cuda::kCandidateBytes, free / 2);
  return chunks;
}

}  // namespace

BuildBytes gpu_build_bytes(const PlanRequest& request, std::uint32_t shared_bytes, std::uint64_t free) {
  return core::visit_dtype(request.dtype,
                           [&](auto zero) { return build_bytes_of<decltype(zero)>(request, shared_bytes, free); });
}

std::uint64_t gpu_rows_of_part(const PlanRequest& request, std::uint64_t free) {
  return core::visit_dtype(request.dtype, [&](auto zero) {
    return cuda::rows_of_part<decltype(zero)>(request.count, request.dims, request.metric, request.is_periodic, free);
  });
}

GpuChunks gpu_knn_chunks(const PlanRequest& request, const SearchShape& shape, std::uint64_t free) {
  if (shape.queries == 0) return {};
  return core::visit_dtype(request.dtype,
                           [&](auto zero) { return knn_chunks_of<decltype(zero)>(request, shape, free); });
}

}  // namespace kith::engine
