// The steps by which a GPU keeps the first of equal rows. Rows are sorted by a hash, so that equal ones lie side by
// side in the order of the loop (sorts are stable), and each is compared with the one before it.
//
//   step                  bytes per row, read and written          2^24 rows of 16 bytes, by bytes alone at 4 TB/s
//   scores, if there are  8 + 12, then 8 passes of 24              0.9 ms
//   keys                  the row, then 16                         0.13 ms
//   sort                  8, then 7 passes of 24 (2^24 rows)       0.75 ms
//   compare               12 + 4, and twice the row per copy       0.08 ms
//   number, map           4 x 12, and some random words per copy   0.25 ms
//
// The times are bounds, not measured; gpu_dedupe_timer measures.
//
// If rows with equal bits differ, which chance brings about once in a few hundred sets, equal ones may be apart: then
// all bits of the keys are sorted, by one pass more. If even those are equal, rows are sorted by one
// coordinate after the other, which always ends.
//
// Memory: 28 bytes per row, and what the sort takes.
#pragma once

#include "cuda/dedupe/equal_groups.cuh"
#include "cuda/dedupe/equal_types.hpp"
#include "cuda/primitives/sums_before.cuh"
#include "cuda/runtime/scratch_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kith::cuda {

/// Memory for `count` rows, at least one.
struct EqualScratch {
  SortPairs pairs, other;
  std::uint32_t* numbers;  ///< one more than rows
  std::uint32_t* sums;
  EqualReport* report;
  std::uint64_t bytes;
};

/// Lies in `memory`, aligned to 256 bytes; null: only `bytes` counts.
inline EqualScratch lay_out_equal_scratch(std::uint32_t count, std::byte* memory) {
  ScratchParts parts(memory);
  EqualScratch scratch;
  for (SortPairs* pairs : {&scratch.pairs, &scratch.other}) {
    pairs->keys = parts.take<std::uint64_t>(count);
    pairs->values = parts.take<std::uint32_t>(count);
  }
  scratch.numbers = parts.take<std::uint32_t>(std::uint64_t{count} + 1);
  scratch.sums = parts.take<std::uint32_t>(sum_tiles_of(count) + 2);
  scratch.report = parts.take<EqualReport>(1);
  scratch.bytes = parts.bytes();
  return scratch;
}

/// `Device`: StepDevice, or what stands for it in tests.
template <typename T, typename Device>
class EqualSteps {
 public:
  /// `kept` has as many entries as there are rows; `map`, too, or it is null.
  EqualSteps(Device& device, const EqualTask<T>& task, const EqualScratch& scratch, std::uint32_t* kept,
             std::uint32_t* map)
      : device_(device), task_(task), scratch_(scratch), kept_(kept), map_(map) {}

  /// Waits for the answer.
  EqualReport run() {
    device_.zero(scratch_.report, sizeof(EqualReport));
    const bool is_ordered = task_.scores != nullptr;
    if (is_ordered) {
      device_.phase("scores");
      launch(score_keys<T>, task_.count, task_, scratch_.pairs);
      sort(task_.count, 0, 64);
    }
    device_.phase("keys");
    if (task_.dims <= kMostDimsOfThread) {
      launch(hash_keys<1, T>, task_.count, task_, scratch_.pairs, is_ordered, scratch_.numbers, scratch_.report);
    } else {
      launch(hash_keys<kWarp, T>, task_.count * std::uint64_t{kWarp}, task_, scratch_.pairs, is_ordered,
             scratch_.numbers, scratch_.report);
    }
    device_.phase("sort");
    const std::uint32_t bits = sorted_bits(task_.count);
    sort(task_.count, 64 - bits, 64);
    EqualReport report = keep_firsts(bits, 1);
    if (report.mixed != 0 && bits < 64) {
      device_.phase("sort by all bits");
      sort(task_.count, 0, 64);
      report = keep_firsts(64, 2);
    }
    if (report.mixed != 0) {
      device_.phase("sort by coordinates");
      // Of equal rows the first in order is still first.
      for (std::uint32_t d = task_.dims; d-- > 0;) {
        launch(coordinate_keys<T>, task_.count, task_, d, task_.count - report.bad, scratch_.pairs);
        sort(task_.count - report.bad, 0, 8 * sizeof(T));
      }
      report = keep_firsts(0, 3);
    }
    device_.phase("");
    return report;
  }

 private:
  template <typename... Parameters, typename... Arguments>
  void launch(void (*kernel)(Parameters...), std::uint64_t threads, const Arguments&... arguments) {
    const std::uint64_t blocks = (threads + kEqualThreads - 1) / kEqualThreads;
    const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, device_.resident_blocks()));
    device_.launch(kernel, most, kEqualThreads, 0, arguments...);
  }

  /// The first `count` pairs; those behind them, which cannot be used, are of no use any more.
  void sort(std::uint32_t count, std::uint32_t first_bit, std::uint32_t end_bit) {
    const SortPairs sorted = device_.sort(scratch_.pairs, scratch_.other, count, first_bit, end_bit);
    if (sorted.keys != scratch_.pairs.keys) std::swap(scratch_.pairs, scratch_.other);
  }

  /// sums[i] becomes the sum of those before it, and one more entry that of all.
  void sum_before(std::uint32_t* values) {
    launch_sums_before(values, task_.count, scratch_.sums, values, true,
                       [&](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared,
                           auto... arguments) { device_.launch(kernel, blocks, threads, shared, arguments...); });
  }

  /// Rows are sorted by so many bits, or by coordinates (0), and this is the `sorts`th time; waits.
  EqualReport keep_firsts(std::uint32_t bits, std::uint32_t sorts) {
    const std::uint32_t count = task_.count;
    // What was sorted from is free. Two words per row have space for one more.
    std::uint32_t* const groups = map_ == nullptr ? nullptr : reinterpret_cast<std::uint32_t*>(scratch_.other.keys);
    std::uint32_t* const first_rows = scratch_.other.values;
    device_.phase("compare");
    if (sorts > 1) {
      device_.zero(scratch_.numbers, count * std::uint64_t{sizeof(std::uint32_t)});
      device_.zero(&scratch_.report->mixed, sizeof scratch_.report->mixed);
    }
    launch(mark_firsts<T>, count, task_, scratch_.pairs, bits, sorts > 1, groups, scratch_.numbers, scratch_.report);
    device_.phase("number");
    sum_before(scratch_.numbers);
    launch(write_kept, count, scratch_.numbers, count, kept_, map_, scratch_.report);
    if (map_ != nullptr) {
      device_.phase("map");
      sum_before(groups);
      launch(write_first_rows, count, groups, count, scratch_.pairs.values, first_rows);
      launch(map_copies, count, groups, count, scratch_.pairs.values, first_rows, scratch_.numbers, scratch_.report,
             map_);
    }
    EqualReport report;
    device_.read(&report, scratch_.report, sizeof report);
    report.sorts = sorts;
    return report;
  }

  Device& device_;
  EqualTask<T> task_;
  EqualScratch scratch_;
  std::uint32_t* kept_;
  std::uint32_t* map_;
};

}  // namespace kith::cuda
