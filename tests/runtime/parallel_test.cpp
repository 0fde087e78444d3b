// Loops over tasks: every task once, as many threads as they are worth, exceptions and stops carried out, forks
// noticed.
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
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

/// An estimate that makes any loop worth all threads.
constexpr double kLong = 1e9;

TEST(WorthThreads, EachThreadHasEnoughToDo) {
  const auto kPerThread = static_cast<double>(tuning().thread_nanoseconds);
  EXPECT_EQ(threads_worth(8, 1000, kPerThread), 8);
  EXPECT_EQ(threads_worth(8, 5, kPerThread), 5);
  EXPECT_EQ(threads_worth(8, 1000, kPerThread / 400), 2);
  EXPECT_EQ(threads_worth(8, 1000, kPerThread / 1000), 1);
  EXPECT_EQ(threads_worth(8, 1000, 0), 1);
  EXPECT_EQ(threads_worth(8, 0, kLong), 1);
  EXPECT_EQ(threads_worth(1, ~std::uint64_t{0}, kLong), 1);
}

TEST(Parallel, SmallLoopsStayOnTheThreadOfTheCaller) {
  std::set<std::thread::id> seen;
  parallel_for(100, {.threads = 4, .nanoseconds_per_task = 10},
               [&](std::uint64_t) { seen.insert(std::this_thread::get_id()); });
  EXPECT_EQ(seen, std::set{std::this_thread::get_id()});
}

TEST(Parallel, LongLoopsGetHelp) {
  std::atomic<int> begun{0};
  parallel_for(2, {.threads = 2, .nanoseconds_per_task = kLong}, [&](std::uint64_t) {
    ++begun;
    while (begun < 2) usleep(100);  // for ever, if one thread does both
  });
  EXPECT_EQ(begun, 2);
}

TEST(Parallel, FirstTasksShowThatHelpIsWorthIt) {
  std::atomic<int> begun{0};
  parallel_for(8, {.threads = 2}, [&](std::uint64_t i) {
    if (i == 0) {
      usleep(2000);
      return;
    }
    ++begun;
    while (begun < 2) usleep(100);
  });
  EXPECT_EQ(begun, 7);
}

TEST(Parallel, LoopsInsideTasksRunOnTheirThread) {
  std::atomic<int> wrong{0}, done{0};
  parallel_for(4, {.threads = 2, .nanoseconds_per_task = kLong}, [&](std::uint64_t) {
    const std::thread::id own = std::this_thread::get_id();
    parallel_for(4, {.threads = 2, .nanoseconds_per_task = kLong}, [&](std::uint64_t) {
      ++done;
      if (std::this_thread::get_id() != own) ++wrong;
    });
  });
  EXPECT_EQ(done, 16);
  EXPECT_EQ(wrong, 0);
}

TEST(Parallel, CallersFromSeveralThreadsShareThePool) {
  std::atomic<int> done{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        parallel_for(16, {.threads = 3, .nanoseconds_per_task = kLong}, [&](std::uint64_t) { ++done; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(done, 4 * 50 * 16);
}

TEST(Parallel, ZeroThreadsObeysTheLimitOfOpenMp) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);  // what threadpoolctl does
  EXPECT_EQ(resolve_threads(0), 1);
  EXPECT_EQ(resolve_threads(3), 3);
  omp_set_num_threads(1000);
  EXPECT_EQ(resolve_threads(0), omp_get_num_procs());
  omp_set_num_threads(before);
}

TEST(Watched, LoopsWithoutACallbackOfTheirOwnStop) {
  const ProgressCallback never = [](const Progress&) { return false; };
  const Watched watched(&never, "building");
  for (const int threads : {1, 2}) {
    EXPECT_THROW(parallel_for(1000, {.threads = threads, .nanoseconds_per_task = kLong}, [](std::uint64_t) {}),
                 Interrupted);
    usleep(30000);  // longer than the time between two checks
  }
}

TEST(Watched, LongTasksOfAllThreadsAreLeft) {
  std::atomic<int> begun{0};
  const ProgressCallback stop_when_all_work = [&](const Progress&) { return begun < 2; };
  const Watched watched(&stop_when_all_work, "building");
  EXPECT_THROW(parallel_for(2, {.threads = 2, .nanoseconds_per_task = kLong},
                            [&](std::uint64_t) {
                              ++begun;
                              for (;;) look_for_stop();
                            }),
               Interrupted);
}

TEST(Watched, PassesOnWhatTheLastMeterReported) {
  std::vector<std::string> reports;
  const ProgressCallback keep = [&](const Progress& progress) {
    reports.push_back(std::string(progress.stage) + " " + std::to_string(progress.done));
    return true;
  };
  const Watched watched(&keep, "building");
  look_for_stop();
  ProgressMeter meter(&keep, "sorting", 10);
  meter.report(4);  // too early for the callback, but not forgotten
  usleep(30000);
  look_for_stop();
  meter.finish();
  EXPECT_EQ(reports, (std::vector<std::string>{"building 0", "sorting 4", "sorting 10"}));
}

TEST(Watched, ACallbackMayDoWorkThatLooksForStops) {
  int calls = 0;
  const ProgressCallback works = [&](const Progress&) {
    ++calls;
    usleep(30000);
    look_for_stop();  // must not call the callback again
    return true;
  };
  const Watched watched(&works, "building");
  look_for_stop();
  EXPECT_EQ(calls, 1);
  usleep(30000);
  look_for_stop();
  EXPECT_EQ(calls, 2);
}

TEST(Watched, NobodyIsAskedAfterItsEnd) {
  {
    const ProgressCallback never = [](const Progress&) { return false; };
    const Watched watched(&never, "building");
  }
  const std::uint64_t before = looks_for_stop();
  look_for_stop();
  EXPECT_EQ(looks_for_stop(), before + 1);
}

TEST(Parallel, AChildOfForkWorksOnOneThread) {
  parallel_for(8, {.threads = 2, .nanoseconds_per_task = kLong}, [](std::uint64_t) {});
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
