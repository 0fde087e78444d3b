// A whole kNN search by the Hamming distance, the kernels run on the host: rounds, ties, overflowing lists and the
// second look at them give what plain sorting gives.
#include "cuda/brute_force/scan/knn_steps.cuh"
#include "cuda/brute_force/select/select_steps.cuh"
#include "cuda/emulation/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

constexpr auto kLaunch = [](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
                            const auto&... arguments) {
  ASSERT_LE(shared_bytes, std::size_t{48} << 10);
  cuda::emulation::run_grid(blocks, threads, shared_bytes, cuda::emulation::Residence::one_by_one,
                            [&] { kernel(arguments...); });
};

/// Rows of words, kept as the kernels want them.
struct WordRows {
  std::vector<float> values;
  std::uint32_t words = 0;

  std::uint64_t count() const { return values.size() / words; }
  std::uint32_t word(std::uint64_t row, std::uint32_t w) const {
    std::uint32_t word = 0;
    std::memcpy(&word, &values[row * words + w], sizeof word);
    return word;
  }
  void set(std::uint64_t row, std::uint32_t w, std::uint32_t word) {
    std::memcpy(&values[row * words + w], &word, sizeof word);
  }
};

/// Each word has bits of `mask` only.
WordRows random_rows(std::uint64_t count, std::uint32_t words, std::uint32_t mask, std::mt19937_64& random) {
  WordRows rows{std::vector<float>(count * words), words};
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::uint32_t w = 0; w < words; ++w) rows.set(i, w, static_cast<std::uint32_t>(random()) & mask);
  }
  return rows;
}

int differences(const WordRows& a, std::uint64_t i, const WordRows& b, std::uint64_t j) {
  int differ = 0;
  for (std::uint32_t w = 0; w < a.words; ++w) {
    for (int bit = 0; bit < 32; ++bit) differ += (a.word(i, w) >> bit & 1) != (b.word(j, w) >> bit & 1) ? 1 : 0;
  }
  return differ;
}

/// Searches and compares; returns how many queries were retried.
std::uint32_t expect_right(const WordRows& points, const WordRows& queries, std::uint32_t k, float bound) {
  const std::uint64_t count = queries.count();
  std::vector<std::uint32_t> indices(count * k, 0xdeadbeef);
  std::vector<float> reduced(count * k, -7.0f);
  std::uint32_t asked_again = 0;
  cuda::ScannedPoints<float> scanned;
  scanned.points = {points.values.data(), points.count(), points.words};
  scanned.order = cuda::spread_order(cuda::tiles_of(points.count()));
  cuda::KnnRequest<float> request{
      .queries = {.rows = queries.values.data(), .row_stride = queries.words, .count = count},
      .k = k,
      .bound = bound,
      .answer = {indices.data(), reduced.data()},
      .asked_again = &asked_again};
  request.metric.is_hamming = true;
  const cuda::KnnRounds rounds = cuda::plan_rounds(points.count(), k, 10000);
  std::vector<std::byte> memory(cuda::KnnScratch<float>(count, rounds.capacity, false, queries.words).bytes + 256);
  auto* aligned = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 255) / 256 * 256);
  const auto select = [](const cuda::SelectTask<float>& task) {
    cuda::launch_select(task, engine::SelectMethod::automatic, 2, kLaunch);
  };
  cuda::KnnSteps(scanned, request, rounds, aligned, 2, kLaunch, select).run();
  for (std::uint64_t q = 0; q < count; ++q) {
    std::vector<std::pair<int, std::uint64_t>> expected;
    for (std::uint64_t i = 0; i < points.count(); ++i) {
      const int distance = differences(queries, q, points, i);
      if (static_cast<float>(distance) <= bound) expected.emplace_back(distance, i);
    }
    std::sort(expected.begin(), expected.end());
    for (std::uint32_t j = 0; j < k; ++j) {
      const bool is_there = j < expected.size();
      EXPECT_EQ(indices[q * k + j], is_there ? expected[j].second : points.count()) << q << ", rank " << j;
      EXPECT_EQ(reduced[q * k + j],
                is_there ? static_cast<float>(expected[j].first) : std::numeric_limits<float>::infinity());
      if (testing::Test::HasFailure()) return asked_again;
    }
  }
  return asked_again;
}

TEST(EmulatedBitSearch, FindsWhatSortingFinds) {
  std::mt19937_64 random(3);
  for (const std::uint32_t words : {2u, 4u, 6u, 20u}) {
    for (const std::uint32_t mask : {0xffffffffu, 0x00000101u, 0u}) {  // many ties, then nothing but ties
      const WordRows points = random_rows(2700, words, mask, random);
      for (const std::uint64_t queries : {1u, 5u, 40u}) {
        SCOPED_TRACE(testing::Message() << words << " words, mask " << mask << ", " << queries << " queries");
        expect_right(points, random_rows(queries, words, mask, random), 9, 1e6f);
        expect_right(points, random_rows(queries, words, mask, random), 70, static_cast<float>(words * 14));
        if (HasFailure()) return;
      }
    }
  }
}

/// Points that come the nearer the later they are scanned: lists overflow, and the queries are retried. One query
/// is longer than shared memory.
TEST(EmulatedBitSearch, ListsThatOverflowAreMadeAgain) {
  for (const std::uint32_t words : {6u, 13000u}) {
    const std::uint64_t count = words > 100 ? 2600 : 6000;
    WordRows points{std::vector<float>(count * words), words};
    const cuda::TileOrder order = cuda::spread_order(cuda::tiles_of(count));
    for (std::uint64_t i = 0; i < order.tiles; ++i) {
      const std::uint64_t first = order.at(i) * cuda::kTilePoints;
      for (std::uint64_t p = first; p < std::min(first + cuda::kTilePoints, count); ++p) {
        for (std::uint64_t bit = 0; bit < 2 * (order.tiles - i); ++bit) {
          const auto w = static_cast<std::uint32_t>(bit * 7 % words);
          points.set(p, w, points.word(p, w) | 1u << bit / words % 32);
        }
      }
    }
    const WordRows queries{std::vector<float>(std::size_t{3} * words), words};
    EXPECT_EQ(expect_right(points, queries, 10, 1e6f), 3u);
  }
}

}  // namespace
}  // namespace kith::test
