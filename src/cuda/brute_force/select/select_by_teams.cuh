// Selection by teams of warps, for few and long rows: each warp selects from a part, the first one from what they
// found.
//
// Rows that are too long for a team are cut before, by all warps of the GPU.
#pragma once

#include "cuda/brute_force/select/row_parts.cuh"
#include "cuda/brute_force/select/select_by_warps.cuh"

#include <bit>
#include <cstdint>

namespace kith::cuda {

/// The memory of a team, which is a block.
template <typename T>
struct TeamStorage {
  static constexpr std::uint32_t kMostWarps = sizeof(T) == 4 ? 32 : 16;
  std::uint32_t warps = 0;
  std::uint32_t capacity = 0;  ///< for each warp: 0 if its part is short
  std::uint32_t at_last = 0;   ///< for the first one then
  std::uint32_t bytes = 0;

  TeamStorage(std::uint32_t longest, std::uint32_t k) {
    constexpr std::uint32_t kMostBytes = 48 << 10, kHeld = HeldKeys<T>::kMost;
    at_last = waiting_capacity(k);
    const std::uint32_t wanted = std::bit_ceil((longest + kHeld - 1) / kHeld);
    for (warps = wanted < kMostWarps ? wanted : kMostWarps;; warps /= 2) {
      capacity = longest <= warps * kHeld ? 0 : waiting_capacity(k);
      bytes = warps * HeldKeys<T>::kBinBytes +
              (warps * (capacity + k) + at_last) * static_cast<std::uint32_t>(sizeof(Entry<T>));
      if (bytes <= kMostBytes || warps == 1) return;
    }
  }
};

/// A warp for each part of a row: its k least go to its front, none behind them.
template <typename T>
__global__ void __launch_bounds__(kSelectWarps* kWarp, sizeof(T) == 4 ? 7 : 4)
    cut_parts(const __grid_constant__ SelectTask<T> task, RowParts parts, std::uint32_t capacity) {
  auto* waiting =
      reinterpret_cast<Entry<T>*>(shared_memory() + kSelectWarps * HeldKeys<T>::kBinBytes) + warp_number() * capacity;
  HeldKeys<T>::clear_bins();
  const std::uint64_t all = rows_of(task) * parts.count;
  const std::uint64_t warps = std::uint64_t{blocks_in_grid()} * kSelectWarps;
  for (std::uint64_t i = std::uint64_t{block_number()} * kSelectWarps + warp_number(); i < all; i += warps) {
    const std::uint64_t row = i / parts.count;
    const std::uint32_t begin = static_cast<std::uint32_t>(i % parts.count) * parts.length;
    const SelectRow<T> opened = open_row(task, row, begin == 0 && lane_number() == 0);
    if (opened.is_skipped || begin >= opened.length) continue;
    const std::uint32_t rest = opened.length - begin;
    const std::uint32_t length = rest < parts.length ? rest : parts.length;
    Entry<T>* list = opened.entries + begin;
    select_list(list, length, task.k, waiting, capacity, list, length < task.k ? length : task.k);
    sync_warp();
  }
}

template <typename T>
__global__ void __launch_bounds__(TeamStorage<T>::kMostWarps* kWarp, 1)
    select_by_teams(const __grid_constant__ SelectTask<T> task, RowParts parts, std::uint32_t capacity,
                    std::uint32_t at_last) {
  const std::uint32_t warps = threads_per_block() / kWarp;
  auto* waiting = reinterpret_cast<Entry<T>*>(shared_memory() + warps * HeldKeys<T>::kBinBytes);
  Entry<T>* found = waiting + warps * capacity;
  Entry<T>* end_storage = found + warps * task.k;
  HeldKeys<T>::clear_bins();
  const std::uint64_t rows = rows_of(task);
  for (std::uint64_t row = block_number(); row < rows; row += blocks_in_grid()) {
    const SelectRow<T> opened = open_row(task, row, thread_number() == 0);
    if (opened.is_skipped) continue;
    const std::uint32_t all =
        parts.count == 1 ? opened.length : join_parts(opened.entries, opened.length, parts.length, task.k);
    const std::uint32_t part = ((all + warps - 1) / warps + kWarp - 1) / kWarp * kWarp;
    const std::uint32_t begin = warp_number() * part < all ? warp_number() * part : all;
    const std::uint32_t length = all - begin < part ? all - begin : part;
    select_list(opened.entries + begin, length, task.k, waiting + warp_number() * capacity, capacity,
                found + warp_number() * task.k, task.k);
    sync_block();
    if (warp_number() == 0) end_row(task, row, opened, found, warps * task.k, end_storage, at_last);
    sync_block();
  }
}

}  // namespace kith::cuda
