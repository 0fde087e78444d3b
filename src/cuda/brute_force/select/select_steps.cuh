// The kernels of a selection. `launch(kernel, blocks, threads, shared bytes, arguments...)` puts one into a stream, or
// runs it on the host in tests.
#pragma once

#include "cuda/brute_force/select/select_by_insertion.cuh"
#include "cuda/brute_force/select/select_by_minima.cuh"
#include "cuda/brute_force/select/select_by_radix.cuh"
#include "cuda/brute_force/select/select_by_sorting.cuh"
#include "cuda/brute_force/select/select_by_teams.cuh"
#include "cuda/brute_force/select/select_by_warps.cuh"
#include "cuda/brute_force/select/select_strategy.hpp"
#include "cuda/brute_force/select/select_types.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Blocks for `rows`, `per_block` of them each at a time; not more than keep the processors busy.
inline std::uint32_t select_blocks(std::uint64_t rows, std::uint32_t per_block, std::uint32_t processors,
                                   std::uint32_t most_per_processor) {
  const std::uint64_t wanted = (rows + per_block - 1) / per_block;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, std::uint64_t{processors} * most_per_processor));
}

/// Whether a team of warps takes a row, or all of them: if there are too few rows to give each warp one.
inline bool teams_pay(std::uint64_t rows, std::uint32_t longest, std::uint32_t processors) {
  constexpr std::uint64_t kFewRows = 4, kRows = 24;  // per processor
  constexpr std::uint32_t kShortest = 1024, kLong = 16384;
  return (longest > kShortest && rows <= kFewRows * processors) || (longest > kLong && rows <= kRows * processors);
}

template <typename T, typename Launch>
void launch_teams(const SelectTask<T>& task, std::uint32_t longest, std::uint32_t processors, Launch&& launch) {
  constexpr std::uint32_t kWarpBlocks = 64, kTeams = 16;
  constexpr std::uint32_t kLong = 16384, kShortestPart = 2048;
  constexpr std::uint64_t kWarpsPerProcessor = 32;
  const std::uint64_t most_parts = longest > kLong ? kWarpsPerProcessor * processors / task.rows + 1 : 1;
  const RowParts parts(longest, task.k, kShortestPart, most_parts);
  if (parts.count > 1) {
    const WarpsStorage<T> storage(task, parts.length);
    launch(cut_parts<T>, select_blocks(task.rows * parts.count, kSelectWarps, processors, kWarpBlocks),
           kSelectWarps * kWarp, std::size_t{storage.bytes}, task, parts, storage.capacity);
  }
  const TeamStorage<T> storage(parts.count > 1 ? parts.count * task.k : longest, task.k);
  launch(select_by_teams<T>, select_blocks(task.rows, 1, processors, kTeams), storage.warps * kWarp,
         std::size_t{storage.bytes}, task, parts, storage.capacity, storage.at_last);
}

template <typename T, typename Launch>
void launch_radix(const SelectTask<T>& task, std::uint32_t longest, std::uint32_t processors, Launch&& launch) {
  constexpr std::uint32_t kBlocks = 16, kShortestPart = 16384;
  const RowParts parts(longest, task.k, kShortestPart, 2 * std::uint64_t{processors} / task.rows + 1);
  if (parts.count > 1) {
    launch(cut_parts_by_radix<T>, select_blocks(task.rows * parts.count, 1, processors, kBlocks), kSelectThreads,
           sizeof(RadixStorage<T>), task, parts);
  }
  launch(select_by_radix<T>, select_blocks(task.rows, 1, processors, kBlocks), kSelectThreads, sizeof(RadixStorage<T>),
         task, parts);
}

/// `processors`: of the GPU. Returns what was done. All strategies give the same rows, but for the order of a cut.
template <typename T, typename Launch>
SelectChoice launch_select(const SelectTask<T>& task, SelectStrategy asked, std::uint32_t processors, Launch&& launch) {
  constexpr std::uint32_t kWarpBlocks = 64, kThreadBlocks = 64, kBlocks = 16;
  const SelectChoice choice = choose_select(asked, task.k, task.length == 0 ? task.capacity : task.length, task.rows);
  if (task.rows == 0 || task.k == 0) return choice;
  const std::uint32_t longest = task.length == 0 ? task.capacity : task.length;
  const std::uint32_t blocks = select_blocks(task.rows, 1, processors, kBlocks);
  switch (choice.strategy) {
    case SelectStrategy::insertion:
      launch(select_by_insertion<T>, select_blocks(task.rows, kInsertionThreads, processors, kThreadBlocks),
             kInsertionThreads, std::size_t{0}, task);
      break;
    case SelectStrategy::bitonic:
      launch(select_by_sorting<T>, blocks, kSelectThreads, sizeof(BlockStorage<T>), task);
      break;
    case SelectStrategy::min_reduce:
      launch(select_by_minima<T>, blocks, kSelectThreads, sizeof(BlockStorage<T>), task);
      break;
    case SelectStrategy::radix:
      launch_radix(task, longest, processors, launch);
      break;
    default:
      if (teams_pay(task.rows, longest, processors)) {
        launch_teams(task, longest, processors, launch);
      } else {
        const WarpsStorage<T> storage(task, longest);
        const auto kernel = longest > HeldKeys<T>::kMost ? select_by_warps<T, true> : select_by_warps<T, false>;
        launch(kernel, select_blocks(task.rows, kSelectWarps, processors, kWarpBlocks), kSelectWarps * kWarp,
               std::size_t{storage.bytes}, task, storage.capacity);
      }
  }
  return choice;
}

}  // namespace kith::cuda
