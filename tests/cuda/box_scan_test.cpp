// Points in boxes found by looking at all of them, the kernels run on the host: compared with a plain loop.
#include "cuda/brute_force/box_scan.cuh"

#include "cuda/emulation/grid.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

/// Fewer blocks than boxes.
constexpr auto kLaunch = [](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
                            auto... arguments) {
  cuda::emulation::run_grid(std::min(blocks, 3u), threads, shared_bytes, cuda::emulation::Residence::one_by_one,
                            [&] { kernel(arguments...); });
};

template <typename T>
void expect_right(std::uint64_t seed, std::uint64_t points, std::uint32_t dims) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << points << " points, " << dims << " dims");
  std::mt19937_64 random(seed);
  const std::uint64_t boxes = 7;
  const auto value = [&] { return static_cast<T>(random() % 8); };  // many lie on faces
  std::vector<T> rows(points * dims), lower(boxes * dims), upper(boxes * dims);
  for (T& x : rows) x = value();
  for (std::size_t i = 0; i < lower.size(); ++i) {
    lower[i] = value() / 2;
    upper[i] = lower[i] + value() - (random() % 32 == 0 ? T(4) : T(0));
  }
  for (std::uint32_t d = 0; d < dims; ++d) {  // one holds all, one has no sense
    lower[d] = -std::numeric_limits<T>::infinity();
    upper[d] = std::numeric_limits<T>::infinity();
  }
  lower[dims] = std::numeric_limits<T>::quiet_NaN();
  std::vector<std::uint64_t> allowed((points + 63) / 64 + 1);
  for (std::uint64_t& word : allowed) word = random() | random();
  std::vector<std::uint32_t> below(boxes), counts(boxes + 1, 77);
  for (std::uint32_t& end : below) end = static_cast<std::uint32_t>(random() % (2 * points + 1));

  cuda::BoxScanTask<T> task;
  task.points = {rows.data(), points, dims};
  if (seed % 3 != 0) task.filter.allowed = allowed.data();
  if (seed % 2 != 0) task.filter.below = below.data();
  task.lower = lower.data();
  task.upper = upper.data();
  task.count = boxes;
  task.counts = counts.data();
  const std::uint64_t base = 50;
  std::vector<std::uint32_t> expected;
  std::vector<std::uint64_t> starts{base};
  for (std::uint64_t box = 0; box < boxes; ++box) {
    for (std::uint64_t i = 0; i < points; ++i) {
      bool is_inside = (task.filter.below == nullptr || i < below[box]) &&
                       (task.filter.allowed == nullptr || (allowed[i / 64] >> (i % 64) & 1) != 0);
      for (std::uint32_t d = 0; d < dims; ++d) {
        const T x = rows[i * dims + d];
        is_inside = is_inside && lower[box * dims + d] <= x && x <= upper[box * dims + d];
      }
      if (is_inside) expected.push_back(static_cast<std::uint32_t>(i));
    }
    starts.push_back(base + expected.size());
  }
  cuda::launch_box_scan(task, false, kLaunch);
  for (std::uint64_t box = 0; box < boxes; ++box) ASSERT_EQ(counts[box], starts[box + 1] - starts[box]) << box;
  ASSERT_EQ(counts[boxes], 77u);

  std::vector<std::uint32_t> indices(expected.size() + 1, 0xdeadbeef);
  task.starts = starts.data();
  task.starts_base = base;
  task.indices = indices.data();
  cuda::launch_box_scan(task, true, kLaunch);
  expected.push_back(0xdeadbeef);
  ASSERT_EQ(indices, expected);
}

TEST(BoxScan, FindsThePointsOfEachBoxInTheirOrder) {
  std::uint64_t seed = 0;
  for (const std::uint64_t points : {0u, 1u, 31u, 256u, 1024u, 1025u, 5000u}) {
    for (const std::uint32_t dims : {1u, 2u, 3u, 9u}) {
      ASSERT_NO_FATAL_FAILURE(expect_right<float>(seed, points, dims));
      ASSERT_NO_FATAL_FAILURE(expect_right<double>(seed, points, dims));
      ++seed;
    }
  }
}

}  // namespace
}  // namespace kith::test
