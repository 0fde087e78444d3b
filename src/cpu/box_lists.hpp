// Box searches over a batch: which threads take which boxes, and how what they found becomes one result.
#pragma once

#include "engine/searcher.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::cpu {

/// Boxes per task: enough tasks for all threads, few enough to be cheap.
inline std::uint64_t boxes_per_task(std::uint64_t boxes, int threads) {
  constexpr std::uint64_t kTasksPerThread = 8;
  constexpr std::uint64_t kMostBoxes = 256;
  const std::uint64_t tasks = kTasksPerThread * static_cast<std::uint64_t>(runtime::resolve_threads(threads));
  return std::clamp<std::uint64_t>(boxes / tasks, 1, kMostBoxes);
}

/// Runs `task(t, first box, end)` over all boxes.
template <typename Task>
void for_boxes(std::uint64_t boxes, const engine::RunOptions& run, Task&& task) {
  const std::uint64_t size = boxes_per_task(boxes, run.threads);
  const runtime::ParallelOptions options{.threads = run.threads,
                                         .stage = "searching",
                                         .progress = run.progress,
                                         .units_per_task = size,
                                         .total_units = boxes};
  runtime::parallel_for((boxes + size - 1) / size, options,
                        [&](std::uint64_t t) { task(t, t * size, std::min(boxes, (t + 1) * size)); });
}

/// `append(box, list)` adds the points of a box by ascending index.
template <typename Append>
engine::IndexLists collect_boxes(std::uint64_t boxes, const engine::RunOptions& run, Append&& append) {
  const std::uint64_t size = boxes_per_task(boxes, run.threads);
  std::vector<std::vector<std::uint32_t>> found((boxes + size - 1) / size);  // per task, list after list
  engine::IndexLists lists;
  lists.offsets.resize(boxes + 1, 0);
  for_boxes(boxes, run, [&](std::uint64_t task, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t box = first; box < end; ++box) {
      const std::size_t before = found[task].size();
      append(box, found[task]);
      lists.offsets[box + 1] = found[task].size() - before;
    }
  });
  for (std::uint64_t box = 0; box < boxes; ++box) lists.offsets[box + 1] += lists.offsets[box];
  lists.indices.resize(lists.offsets.back());
  runtime::parallel_for(found.size(), {.threads = run.threads}, [&](std::uint64_t task) {
    std::copy(found[task].begin(), found[task].end(), lists.indices.data() + lists.offsets[task * size]);
    found[task] = {};  // what was copied is given back at once
  });
  return lists;
}

/// True if no point can lie in the box: a lower face above the upper one, or NaN.
template <typename T>
bool is_empty_box(const T* lower, const T* upper, std::uint32_t dims) {
  for (std::uint32_t d = 0; d < dims; ++d) {
    if (!(lower[d] <= upper[d])) return true;
  }
  return false;
}

}  // namespace kith::cpu
