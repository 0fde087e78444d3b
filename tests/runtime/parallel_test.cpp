// Loops over tasks: every task once, exceptions and stops carried out, forks noticed.
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

namespace kith::runtime {
namespace {

TEST(Parallel, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 7}) {
    for (const std::uint64_t count : {0ull, 1ull, 2ull, 1000ull}) {
      std::vector<std::atomic<int>> runs(count);
      parallel_for(count, {.threads = threads}, [&](std::uint64_t i) { ++runs[i]; });
      for (const auto& times : runs) EXPECT_EQ(times.load(), 1);
    }
  }
}

TEST(Parallel, CarriesTheExceptionOut) {
  for (const int threads : {1, 4}) {
    EXPECT_THROW(parallel_for(100, {.threads = threads},
                              [](std::uint64_t i) {
                                if (i == 37) throw std::out_of_range("37");
                              }),
                 std::out_of_range);
  }
}

TEST(Parallel, StopsWhenTheCallbackSaysSo) {
  for (const int threads : {1, 2}) {
    std::atomic<int> done{0};
    const ProgressCallback never = [](const Progress&) { return false; };
    EXPECT_THROW(parallel_for_workers(1000000, {.threads = threads, .progress = &never},
                                      [&](std::uint64_t, Worker& worker) {
                                        ++done;
                                        usleep(1000);
                                        worker.checkpoint(0.5);
                                      }),
                 Interrupted);
    EXPECT_LT(done.load(), 1000000);
  }
}

TEST(Parallel, ReportsTheEndOnce) {
  std::vector<Progress> reports;
  const ProgressCallback keep = [&](const Progress& progress) {
    reports.push_back(progress);
    return true;
  };
  parallel_for(10, {.threads = 2, .stage = "x", .progress = &keep, .units_per_task = 10, .total_units = 95},
               [](std::uint64_t) {});
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().done, 95u);
  EXPECT_EQ(reports.back().total, 95u);
}

TEST(Parallel, ALongTaskShowsThatItMoves) {
  std::vector<std::uint64_t> reports;
  const ProgressCallback keep = [&](const Progress& progress) {
    reports.push_back(progress.done);
    return true;
  };
  parallel_for_workers(2, {.threads = 1, .progress = &keep, .units_per_task = 100}, [](std::uint64_t, Worker& worker) {
    for (const double share : {0.25, 0.5, 0.75}) {
      usleep(25000);  // longer than the meter waits between reports
      worker.checkpoint(share);
    }
  });
  EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
  EXPECT_NE(std::find(reports.begin(), reports.end(), 150u), reports.end());
  EXPECT_EQ(reports.back(), 200u);
}

TEST(Parallel, AChildOfForkWorksOnOneThread) {
  parallel_for(8, {.threads = 2}, [](std::uint64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> done{0};
    parallel_for(8, {.threads = 2}, [&](std::uint64_t) { ++done; });
    _exit(done == 8 && forked_after_threads() && resolve_threads(4) == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(forked_after_threads());
}

}  // namespace
}  // namespace kith::runtime
