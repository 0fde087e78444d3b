// What engines take of a GPU's memory, by the formulas that they use themselves, also in builds without CUDA.
#pragma once

#include "engine/backend.hpp"
#include "engine/searcher.hpp"

#include <cstdint>

namespace kith::engine {

/// The chunks of a kNN search from host memory.
struct GpuChunks {
  std::uint64_t chunks = 0;
  std::uint64_t queries = 0;  ///< of the longest one
  std::uint64_t bytes = 0;    ///< that queries and answers in flight take at a time, and the search of one chunk
};

/// All in src/cuda/memory_model.cc. `shared_bytes`: what a block of the GPU may have. `free`: what may be taken of its
/// memory, of which cover trees make use; 0: the least that the build needs.
BuildBytes gpu_build_bytes(const PlanRequest& request, std::uint32_t shared_bytes, std::uint64_t free);
/// How many points brute force takes to a GPU at a time that has `free` bytes; 0: all of them.
std::uint64_t gpu_rows_of_part(const PlanRequest& request, std::uint64_t free);
/// `free`: what is left when the index is there.
GpuChunks gpu_knn_chunks(const PlanRequest& request, const SearchShape& shape, std::uint64_t free);

}  // namespace kith::engine
