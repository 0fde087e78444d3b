// The first of many things that has a property, looked for by all threads.
#pragma once

#include "runtime/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace kith::runtime {

/// The smallest i in [0, count) for which `matches(i)`, or `count` if there is none: the same for every number of
/// threads. `per_task` of them are looked at in a row.
template <typename Matches>
std::uint64_t first_match(std::uint64_t count, std::uint64_t per_task, int threads, Matches&& matches) {
  std::atomic<std::uint64_t> first = count;
  parallel_for((count + per_task - 1) / per_task, {.threads = threads}, [&](std::uint64_t task) {
    const std::uint64_t end = std::min(count, (task + 1) * per_task);
    for (std::uint64_t i = task * per_task; i < end && i < first.load(std::memory_order_relaxed); ++i) {
      if (!matches(i)) continue;
      std::uint64_t known = first.load();
      while (i < known && !first.compare_exchange_weak(known, i)) {
      }
      return;
    }
  });
  return first;
}

}  // namespace kith::runtime
