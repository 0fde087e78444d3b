// The emulation of grids itself: barriers bring all threads together, and those that never can are errors.
#include "cuda/emulation/grid.hpp"

#include "cuda/emulation/cuda/primitives/intrinsics.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace kith::test {
namespace {

using namespace cuda;
using emulation::Residence;

std::string error_of(std::uint32_t threads, const std::function<void()>& kernel) {
  try {
    emulation::run_grid(2, threads, 0, Residence::all_together, kernel);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "none";
}

TEST(Grid, EveryThreadKeepsItsOwnVariables) {
  std::uint32_t started = 0, right = 0;
  emulation::run_grid(3, 96, 64, Residence::all_together, [&] {
    const double number = thread_number() + 100.0 * block_number();
    atomic_add(&started, 1u);
    wait_until(&started, 3 * 96);
    const std::uint32_t lanes = sum_of_warp(lane_number());
    sync_block();
    const bool is_seen = any_thread(thread_number() == 95);
    if (is_seen && lanes == 31 * 32 / 2 && number == thread_number() + 100.0 * block_number()) atomic_add(&right, 1u);
  });
  EXPECT_EQ(right, 3u * 96);
}

TEST(Grid, ThreadsThatWaitForeverAreAnError) {
  const std::string forever = "kernel: the threads wait for each other forever";
  std::uint32_t never = 0;
  for (int again = 0; again < 3; ++again) {  // on stacks that were left in the middle
    EXPECT_EQ(error_of(64,
                       [] {
                         if (thread_number() != 3) sync_block();
                       }),
              forever);
    EXPECT_EQ(error_of(64,
                       [] {
                         if (thread_number() != 3) sync_warp();
                       }),
              forever);
    EXPECT_EQ(error_of(40, [] { sync_warp(); }), forever) << "a warp of eight lanes";
    EXPECT_EQ(error_of(64, [&] { wait_until(&never, 1); }), forever);
    EXPECT_EQ(error_of(64, [] { sync_block(); }), "none");
  }
}

TEST(Grid, MeetingsThatDifferAreAnError) {
  EXPECT_EQ(error_of(64, [] { thread_number() == 3 ? static_cast<void>(ballot(true)) : sync_warp(); }),
            "kernel: a lane is at ballot, others of its warp at sync_warp");
  EXPECT_EQ(error_of(64, [] { sync_part(1, thread_number() < 32 ? 64 : 32); }), "kernel: two sizes at one barrier");
}

}  // namespace
}  // namespace kith::test
