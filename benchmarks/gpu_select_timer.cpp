// Times the selection of the k least entries of rows on the GPU: gpu_select_timer RESULTS.json [quick|STRATEGY]
//
// Per case: the median of 5 after 2 by CUDA events, without the copy that puts the entries back, as selections move
// them; and whether a sample of rows has the entries that sorting finds. `finish` writes sorted answers, `cut` leaves
// the k least at the front of the row. `quick` leaves out more than ten million entries, the name of a strategy all
// others.
#include "gpu_timing.hpp"

#include "cuda/brute_force/select/select.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/stream.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace kith;
using cuda::Entry;
using cuda::SelectGoal;
using cuda::SelectStrategy;

struct Case {
  std::uint64_t rows = 0;
  std::uint32_t length = 0;
  std::uint32_t k = 0;
  SelectGoal goal = SelectGoal::finish;
};

struct Row {
  Case what;
  SelectStrategy strategy = SelectStrategy::automatic;
  cuda::SelectChoice choice;
  const char* dtype = "";
  std::uint64_t bytes = 0;
  double ms = 0;
  bool is_right = false;
};

const char* name_of(SelectGoal goal) { return goal == SelectGoal::cut ? "cut" : "finish"; }

std::vector<Case> all_cases(bool is_quick) {
  const std::uint64_t most = is_quick ? 10'000'000 : 100'000'000;
  std::vector<Case> cases;
  for (const std::uint32_t length : {1'000u, 10'000u, 100'000u, 1'000'000u}) {
    for (const std::uint32_t k : {1u, 8u, 32u, 100u, 256u, 1000u}) {
      cases.push_back({most / length, length, k});
      cases.push_back({1, length, k});
    }
  }
  // The rounds of a search.
  for (const std::uint32_t length : {128u, 256u, 500u}) {
    for (const std::uint32_t k : {8u, 32u, 100u}) {
      cases.push_back({most / 1000, length, k, SelectGoal::cut});
      cases.push_back({most / 1000, length, k, SelectGoal::finish});
    }
  }
  cases.push_back({1, 16'000, 10});
  return cases;
}

/// One after the other takes k readings: left out where that takes long.
bool is_endless(const Case& what, SelectStrategy strategy) {
  constexpr std::uint64_t kMost = 4'000'000'000;
  return strategy == SelectStrategy::min_reduce && what.rows * what.length * what.k > kMost;
}

template <typename T>
class Bench {
 public:
  explicit Bench(std::uint64_t most) : entries_(most), given_(most, stream_), moved_(most, stream_) {
    std::mt19937_64 random(1);
    for (std::uint64_t i = 0; i < most; ++i) {
      entries_[i] = Entry<T>(static_cast<T>(random() >> 40), static_cast<std::uint32_t>(i));
    }
    cuda::check(cudaMemcpyAsync(given_.data(), entries_.data(), given_.bytes(), cudaMemcpyHostToDevice, stream_.get()),
                "copying");
    stream_.synchronize();
  }

  Row measure(const Case& what, SelectStrategy strategy) {
    Row row{what, strategy, {}, sizeof(T) == 4 ? "f32" : "f64", what.rows * what.length * sizeof(Entry<T>), 0, false};
    const std::uint64_t places = what.rows * what.k;
    cuda::DeviceBuffer<std::uint32_t> counts(what.rows, stream_), indices(places, stream_);
    cuda::DeviceBuffer<Entry<T>> limits(what.rows, stream_);
    cuda::DeviceBuffer<T> reduced(places, stream_);
    cuda::SelectTask<T> task;
    task.goal = what.goal;
    task.k = what.k;
    task.entries = moved_.data();
    task.rows = what.rows;
    task.capacity = what.length;
    task.length = what.length;
    task.counts = counts.data();
    task.limits = limits.data();
    task.answer = {indices.data(), reduced.data()};
    task.missing = kMissing;
    constexpr int kSelectWarmUps = 2, kSelectRuns = 5;
    std::vector<double> times;
    for (int run = -kSelectWarmUps; run < kSelectRuns; ++run) {
      cuda::check(cudaMemcpyAsync(moved_.data(), given_.data(), row.bytes, cudaMemcpyDeviceToDevice, stream_.get()),
                  "copying");
      cuda::check(cudaMemsetAsync(limits.data(), 0xff, limits.bytes(), stream_.get()), "clearing");
      const double ms = timer_.once_ms([&] { row.choice = cuda::select_entries(task, strategy, stream_); });
      if (run >= 0) times.push_back(ms);
    }
    row.ms = median(times);
    row.is_right = is_right(what, counts, limits, indices, reduced);
    return row;
  }

 private:
  static constexpr std::uint32_t kMissing = 0xfffffff0;
  static constexpr std::uint64_t kSample = 20;

  bool is_right(const Case& what, const cuda::DeviceBuffer<std::uint32_t>& counts,
                const cuda::DeviceBuffer<Entry<T>>& limits, const cuda::DeviceBuffer<std::uint32_t>& indices,
                const cuda::DeviceBuffer<T>& reduced) const {
    const std::uint32_t kept = std::min(what.k, what.length);
    for (std::uint64_t i = 0; i < std::min(kSample, what.rows); ++i) {
      const std::uint64_t row = i * what.rows / std::min(kSample, what.rows);
      const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(row * what.length);
      std::vector<Entry<T>> expected(begin, begin + what.length);
      std::nth_element(expected.begin(), expected.begin() + (kept - 1), expected.end());
      std::sort(expected.begin(), expected.begin() + kept);
      if (what.goal == SelectGoal::cut) {
        std::vector<Entry<T>> found = on_host(moved_.data() + row * what.length, kept);
        std::sort(found.begin(), found.end());
        if (!std::equal(found.begin(), found.end(), expected.begin())) return false;
        if (on_host(counts.data() + row, 1)[0] != kept) return false;
        if (kept == what.k && !(on_host(limits.data() + row, 1)[0] == expected[kept - 1])) return false;
        continue;
      }
      const std::vector<std::uint32_t> found = on_host(indices.data() + row * what.k, what.k);
      const std::vector<T> found_reduced = on_host(reduced.data() + row * what.k, what.k);
      for (std::uint32_t j = 0; j < what.k; ++j) {
        const bool is_there = j < kept;
        if (found[j] != (is_there ? expected[j].number() : kMissing)) return false;
        if (found_reduced[j] != (is_there ? expected[j].reduced() : std::numeric_limits<T>::infinity())) return false;
      }
    }
    return true;
  }

  cuda::Stream stream_;
  EventTimer timer_{stream_.get()};
  std::vector<Entry<T>> entries_;
  cuda::DeviceBuffer<Entry<T>> given_, moved_;
};

// --- reporting ---

void report(const Row& row, Results& results) {
  const std::string strategy(engine::name_of(row.strategy)), done(engine::name_of(row.choice.strategy));
  const double bytes_per_second = static_cast<double>(row.bytes) / row.ms * 1e3;
  char text[512];
  std::snprintf(text, sizeof text,
                "{\"strategy\": \"%s\", \"done_by\": \"%s\", \"goal\": \"%s\", \"dtype\": \"%s\", \"rows\": %llu, "
                "\"length\": %u, \"k\": %u, \"ms\": %.4f, \"is_right\": %s}",
                strategy.c_str(), done.c_str(), name_of(row.what.goal), row.dtype,
                static_cast<unsigned long long>(row.what.rows), row.what.length, row.what.k, row.ms,
                row.is_right ? "true" : "false");
  std::printf("%-10s %-10s %-7s %s %9llu %8u %5u %10.4f %7.1f  %s\n", strategy.c_str(), done.c_str(),
              name_of(row.what.goal), row.dtype, static_cast<unsigned long long>(row.what.rows), row.what.length,
              row.what.k, row.ms, bytes_per_second / 1e9, row.is_right ? "right" : "WRONG");
  results.add(text, row.is_right);
}

constexpr engine::SelectMethod kMethods[] = {engine::SelectMethod::automatic, engine::SelectMethod::insertion,
                                             engine::SelectMethod::warp,      engine::SelectMethod::radix,
                                             engine::SelectMethod::bitonic,   engine::SelectMethod::min_reduce};

template <typename T>
void measure_all(const std::vector<Case>& cases, const std::string& only, Results& results) {
  std::uint64_t most = 0;
  for (const Case& what : cases) most = std::max(most, what.rows * what.length);
  Bench<T> bench(most);
  for (const Case& what : cases) {
    for (const engine::SelectMethod strategy : kMethods) {
      if (!only.empty() && engine::name_of(strategy) != only) continue;
      if (cuda::choose_select(strategy, what.k, what.length, what.rows).is_fallback || is_endless(what, strategy))
        continue;
      report(bench.measure(what, strategy), results);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_timer(argc, argv, "gpu_select_timer RESULTS.json [quick|STRATEGY]",
                   [](Results& results, const std::string& which) {
                     std::printf("%-10s %-10s %-7s %s %9s %8s %5s %10s %7s\n", "strategy", "done by", "goal", "   ",
                                 "rows", "length", "k", "ms", "GB/s");
                     results.begin_list("rows");
                     const std::string only = which == "quick" ? "" : which;
                     measure_all<float>(all_cases(which == "quick"), only, results);
                     measure_all<double>(all_cases(true), only, results);
                   });
}
