// Points in boxes found by looking at all of them, the kernels run on the host: compared with a plain loop.
#include "cuda/brute_force/scan/box_scan.cuh"

#include "cuda/emulation/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
    upper[i] = lower[i] + value();
    upper[i] -= random() % 32 == 0 ? T(4) : T(0);
  }
  for (std::uint32_t d = 0; d < dims; ++d) {  // one holds all, one has no sense
    lower[d] = -std::numeric_limits<T>::infinity();
    upper[d] = std::numeric_limits<T>::infinity();
  }
  lower[dims] = std::numeric_limits<T>::quiet_NaN();
  std::vector<std::uint64_t> allowed((points + 63) / 64 + 1);
  for (std::uint64_t& word : allowed) word = random() | random();
  const auto pieces = static_cast<std::uint32_t>(1 + seed % 4);
  std::vector<std::uint32_t> below(boxes), counts(boxes * pieces + 1, 77);
  for (std::uint32_t& end : below) end = static_cast<std::uint32_t>(random() % (2 * points + 1));

  cuda::BoxScanTask<T> task;
  task.points = {rows.data(), points, dims};
  if (seed % 3 != 0) task.filter.allowed = allowed.data();
  if (seed % 2 != 0) task.filter.below = below.data();
  task.lower = lower.data();
  task.upper = upper.data();
  task.count = boxes;
  task.pieces = pieces;
  task.counts = counts.data();
  const std::uint64_t base = 50;
  std::vector<std::uint32_t> expected;
  std::vector<std::uint64_t> starts{base};
  for (std::uint64_t box = 0; box < boxes; ++box) {
    std::uint64_t ended = 0;
    const auto end_pieces = [&](std::uint64_t i) {
      for (; ended < pieces && points * (ended + 1) / pieces <= i; ++ended) starts.push_back(base + expected.size());
    };
    for (std::uint64_t i = 0; i < points; ++i) {
      end_pieces(i);
      bool is_inside = (task.filter.below == nullptr || i < below[box]) &&
                       (task.filter.allowed == nullptr || (allowed[i / 64] >> (i % 64) & 1) != 0);
      for (std::uint32_t d = 0; d < dims; ++d) {
        const T x = rows[i * dims + d];
        is_inside = is_inside && lower[box * dims + d] <= x && x <= upper[box * dims + d];
      }
      if (is_inside) expected.push_back(static_cast<std::uint32_t>(i));
    }
    end_pieces(points);
  }
  cuda::launch_box_scan(task, false, kLaunch);
  ASSERT_EQ(starts.size(), counts.size());
  for (std::uint64_t i = 0; i < boxes * pieces; ++i) ASSERT_EQ(counts[i], starts[i + 1] - starts[i]) << i;
  ASSERT_EQ(counts.back(), 77u);

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

TEST(BoxScan, IsCutIfThereAreFewBoxes) {
  EXPECT_EQ(cuda::box_scan_pieces(1, 1 << 23, 132), 1056u);
  EXPECT_EQ(cuda::box_scan_pieces(1, 100000, 132), 24u);
  EXPECT_EQ(cuda::box_scan_pieces(100, 1 << 23, 132), 10u);
  EXPECT_EQ(cuda::box_scan_pieces(5000, 1 << 23, 132), 1u);
  EXPECT_EQ(cuda::box_scan_pieces(1, 0, 132), 1u);
}

}  // namespace
}  // namespace kith::test
