// A warp takes a query to a cover tree: where it lies, where its answer goes, and the memory that the warp has for it.
#pragma once

#include "cuda/cover_tree/search/cover_walk.cuh"
#include "cuda/cover_tree/search/search_types.hpp"
#include "cuda/queries/search_warp.cuh"

namespace kith::cuda {

/// What a warp has of shared memory: the queue, what is prepared, perhaps frames, perhaps a list.
template <typename T>
struct CoverStorage {
  std::uint32_t context_at = 0, frames_at = 0, list_at = 0, bytes = 0;

  KITH_HOST_DEVICE CoverStorage(std::uint32_t context_bytes, std::uint32_t frame_bytes, std::uint32_t list_bytes) {
    const auto rounded = [](std::uint32_t size) { return (size + 15) / 16 * 16; };
    context_at = rounded(sizeof(CoverQueue));
    frames_at = context_at + rounded(context_bytes);
    list_at = frames_at + rounded(frame_bytes);
    bytes = list_at + rounded(list_bytes);
  }
};

/// Where the frames of walks are.
template <typename T>
struct CoverFrames {
  CoverFrame<T>* memory = nullptr;  ///< height for each warp of the grid; null: in shared memory

  KITH_HOST_DEVICE std::uint32_t shared_bytes(std::uint32_t height) const {
    return memory == nullptr ? height * static_cast<std::uint32_t>(sizeof(CoverFrame<T>)) : 0;
  }
  __device__ CoverFrame<T>* of_warp(std::byte* shared, std::uint32_t height) const {
    return memory == nullptr ? reinterpret_cast<CoverFrame<T>*>(shared) : memory + search_warp() * height;
  }
};

/// Where query i of a source lies, and who it is.
template <typename T>
struct CoverQuery {
  RowView row;
  QueryInfo info;
  bool is_own = false;  ///< an object of the tree
  std::uint32_t position = 0;

  __device__ CoverQuery(const CoverSearchTree& tree, const QuerySource<T>& source, const SearchFilter& filter,
                        std::uint64_t i) {
    constexpr std::uint32_t kWords = sizeof(T) / 4;
    const std::uint64_t chosen = source.chosen == nullptr ? i : source.chosen[i];
    if (source.rows != nullptr) {
      row = {reinterpret_cast<const std::uint32_t*>(source.rows) + chosen * source.row_stride * kWords, 1};
      info.row = chosen;
      info.number = static_cast<std::uint32_t>(chosen);
    } else {
      is_own = true;
      position = static_cast<std::uint32_t>(chosen);
      row = tree.objects.at(chosen);
      info.number = tree.order[chosen];
      info.row = info.number - source.first;
    }
    info.is_open = filter.is_open();
    info.end = info.is_open ? kNoPoint : filter.end(info.number, info.row);
  }
};

/// Adds what the lanes of the warp measured to a counter, if there is one.
__device__ inline void report_evaluations(std::uint64_t* evaluations, std::uint64_t own) {
  if (evaluations == nullptr) return;
  for (std::uint32_t step = kWarp / 2; step > 0; step /= 2) own += shuffle_xor(own, step);
  if (lane_number() == 0 && own > 0) atomic_add(evaluations, own);
}

}  // namespace kith::cuda
