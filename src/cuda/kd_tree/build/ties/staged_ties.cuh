// The tables of a segment whose cells refine ties, in the shared memory of a step if dims are few, so that searching
// them does not access global memory.
#pragma once

#include "cuda/kd_tree/build/ties/tied_cells.cuh"

namespace kith::cuda {

/// Copies them to `at` in shared memory. They are there after wait_for_copies and a barrier.
template <typename T>
__device__ __forceinline__ void stage_ties(const GroupParameters<T>& p, std::uint32_t segment, std::size_t at) {
  const bool are_staged = p.shape.dims <= kOwnDims;
  if (thread_number() == 2) step_shared().ties_at = are_staged ? static_cast<std::uint32_t>(at) : 0;
  if (!are_staged) return;
  auto* ties = reinterpret_cast<std::uint32_t*>(shared_memory() + at);
  const auto* from = reinterpret_cast<const std::uint32_t*>(p.ties + segment);
#pragma unroll 1
  for (std::uint32_t i = thread_number(); i < sizeof(TiedCells<T>) / 4; i += threads_per_block()) {
    copy_to_shared(ties + i, from + i);
  }
  T* tables = reinterpret_cast<T*>(shared_memory() + at + kTiesBytes<T>);
#pragma unroll 1
  for (std::uint32_t i = thread_number(); i < p.shape.dims * kTableValues; i += threads_per_block()) {
    copy_to_shared(tables + i, p.tables + i);
  }
}

/// Those of the step's segment, wherever they lie.
template <typename T>
__device__ __forceinline__ TieMap<T> step_ties(const GroupParameters<T>& p, std::uint32_t segment) {
  const std::uint32_t at = step_shared().ties_at;
  if (at == 0) return TieMap<T>(p, segment);
  const std::byte* ties = shared_memory() + at;
  return TieMap<T>(reinterpret_cast<const TiedCells<T>*>(ties), reinterpret_cast<const T*>(ties + kTiesBytes<T>),
                   p.shape.dims);
}

}  // namespace kith::cuda
