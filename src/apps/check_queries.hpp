// Checks the lists of some or all queries, on all threads.
#pragma once

#include "runtime/parallel.hpp"

#include <kith/apps/verify_neighbors.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace kith::apps::inline v0 {

/// `sample` different numbers below `count`, ascending; all of them if `sample` is 0 or too large.
std::vector<std::uint64_t> choose_queries(std::uint64_t count, std::uint64_t sample, std::uint64_t seed);

/// Runs `check(query)` on the chosen queries; the first violation is that of the lowest query, whatever the threads do.
template <typename Check>
Verdict check_queries(std::uint64_t count, const VerifyOptions& options, const Check& check) {
  const std::vector<std::uint64_t> chosen = choose_queries(count, options.sample, options.seed);
  Verdict verdict;
  verdict.checked = chosen.size();
  std::uint64_t first = count;
  std::mutex lock;
  const runtime::ParallelOptions parallel{
      .threads = options.threads, .stage = "verifying", .progress = &options.progress};
  runtime::parallel_for(chosen.size(), parallel, [&](std::uint64_t i) {
    const std::string violation = check(chosen[i]);
    if (violation.empty()) return;
    const std::lock_guard guard(lock);
    ++verdict.wrong;
    if (chosen[i] >= first) return;
    first = chosen[i];
    verdict.first_violation = fmt::format("query {}, {}", first, violation);
  });
  return verdict;
}

}  // namespace kith::apps::inline v0
