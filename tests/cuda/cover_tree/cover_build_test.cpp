// The kernels that build a cover tree, run without a GPU, against the tree of the definition, and by lists
// against that of the CPU.
#include "cpu/cover_tree/build_by_lists.hpp"
#include "cpu/cover_tree/vector_space.hpp"
#include "cuda/cover_tree/spaces/bit_space.cuh"
#include "cuda/cover_tree/spaces/edit_space.cuh"
#include "cuda/cover_tree/spaces/sequence_words.hpp"
#include "cuda/cover_tree/spaces/vector_space.cuh"
#include "cuda/cover_tree/emulated_cover_build.hpp"
#include "support/cover_oracle.hpp"
#include "support/plain_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace kith::cuda {
namespace {

template <typename T>
std::vector<std::uint32_t> words_of(const std::vector<T>& rows) {
  std::vector<std::uint32_t> words(rows.size() * sizeof(T) / 4);
  if (!rows.empty()) std::memcpy(words.data(), rows.data(), rows.size() * sizeof(T));
  return words;
}

template <typename T>
double metric_of(Metric::Kind kind, const T* a, const T* b, std::uint32_t dims) {
  T sum = 0;
  for (std::uint32_t d = 0; d < dims; ++d) {
    const T e = a[d] - b[d];
    if (kind == Metric::Kind::l1) sum += std::abs(e);
    if (kind == Metric::Kind::linf) sum = std::max(sum, std::abs(e));
    if (kind == Metric::Kind::l2) sum = std::fma(e, e, sum);
  }
  return static_cast<double>(kind == Metric::Kind::l2 ? std::sqrt(sum) : sum);
}

void expect_same(const engine::CoverTree& expected, const EmulatedCoverTree& tree) {
  ASSERT_EQ(expected.nodes.size(), tree.nodes.size());
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const engine::CoverNode &a = expected.nodes[i], &b = tree.nodes[i];
    ASSERT_EQ(std::memcmp(&a, &b, sizeof(a)), 0)
        << "node " << i << ": centre " << a.centre << ", " << b.centre << "; parent " << a.parent << ", " << b.parent
        << "; level " << a.level << ", " << b.level << "; objects " << a.first << "+" << a.count << ", " << b.first
        << "+" << b.count << "; reach " << a.reach << ", " << b.reach << "; lowest " << a.lowest << ", " << b.lowest
        << "; to parent " << a.to_parent << ", " << b.to_parent << "; children " << a.children << ", " << b.children;
  }
  for (std::size_t i = 0; i < tree.order.size(); ++i) {
    ASSERT_EQ(expected.order[i], tree.order[i]) << "place " << i;
    ASSERT_EQ(expected.distances[i], tree.distances[i]) << "place " << i;
  }
}

template <typename T>
void check(const std::vector<T>& rows, std::uint32_t dims, std::uint32_t leaf_size,
           Metric::Kind kind = Metric::Kind::l2, std::uint64_t list_capacity = 1 << 20) {
  const auto count = static_cast<std::uint32_t>(rows.size() / dims);
  const VectorSpace<T> space(dims, kind);
  const double most = std::is_same_v<T, float> ? 0x1p62 : 0x1p510;
  const engine::CoverTree expected =
      test::CoverOracle(count, leaf_size, space.rounding(), most, [&](std::uint32_t a, std::uint32_t b) {
        return metric_of(kind, rows.data() + std::size_t{a} * dims, rows.data() + std::size_t{b} * dims, dims);
      }).build();
  const cpu::VectorSpace<T> on_host(rows.data(), count, dims, Metric::of(kind, 2));
  const engine::CoverTree by_lists =
      cpu::build_cover_tree_by_lists(on_host, {.leaf_size = leaf_size, .run = {.threads = 1}});
  const std::vector<std::uint32_t> words = words_of(rows);
  using emulation::Residence;
  for (const Residence order : {Residence::one_by_one, Residence::last_first}) {  // decisions of others come late
    SCOPED_TRACE(order == Residence::last_first ? "last block first" : "first block first");
    ASSERT_NO_FATAL_FAILURE(
        expect_same(expected, emulated_cover_tree(space, words, count, {leaf_size}, list_capacity, order)));
    SCOPED_TRACE("by lists");
    const CoverRules rules = CoverRules::of(leaf_size, Builder::lists);
    ASSERT_NO_FATAL_FAILURE(expect_same(by_lists, emulated_cover_tree(space, words, count, rules, 0, order)));
  }
}

/// Clusters of clusters, so that there are levels.
template <typename T>
std::vector<T> clusters(std::uint32_t count, std::uint32_t dims, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<T> rows;
  std::vector<double> outer(dims), inner(dims);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t d = 0; d < dims; ++d) {
      if (i % 60 == 0) outer[d] = 30 * normal(random);
      if (i % 12 == 0) inner[d] = outer[d] + 3 * normal(random);
    }
    for (std::uint32_t d = 0; d < dims; ++d) rows.push_back(static_cast<T>(inner[d] + 0.3 * normal(random)));
  }
  return rows;
}

TEST(CoverBuild, FewObjects) {
  std::mt19937 random(1);
  for (const std::uint32_t count : {0u, 1u, 2u, 3u, 33u}) {
    SCOPED_TRACE(count);
    check(clusters<float>(count, 3, random), 3, 1);
  }
}

TEST(CoverBuild, Clusters) {
  std::mt19937 random(2);
  check(clusters<float>(500, 3, random), 3, 1);
  check(clusters<double>(300, 2, random), 2, 4, Metric::Kind::l1);
  check(clusters<float>(300, 2, random), 2, 8, Metric::Kind::linf);
}

TEST(CoverBuild, TiesOnAGrid) {
  std::mt19937 random(3);
  std::vector<float> rows(2 * 700);
  for (float& x : rows) x = static_cast<float>(random() % 24);  // some objects are the same
  check(rows, 2, 4, Metric::Kind::l1);
  check(rows, 2, 1, Metric::Kind::l2);
}

TEST(CoverBuild, TheSameObjectManyTimes) {
  std::vector<float> rows(300, 1.5f);
  check(rows, 1, 4);
  for (std::size_t i = 0; i < 120; ++i) rows[7 * i % 300] = static_cast<float>(i % 40);
  check(rows, 1, 4);
}

TEST(CoverBuild, DistancesOfAllSizes) {
  std::vector<double> far;
  std::vector<float> near;
  for (int e = -6; e <= 6; ++e) {
    for (int i = 0; i < 20; ++i) far.push_back(std::ldexp(1 + 0.01 * i, 40 * e));
    for (int i = 0; i < 20; ++i) near.push_back(std::ldexp(1 + 0.01f * static_cast<float>(i), 3 * e - 60));
  }
  check(far, 1, 2);
  check(near, 1, 2);  // squares of the lower ones vanish
}

TEST(CoverBuild, DistancesThatOverflow) {
  std::vector<float> rows;
  for (int i = 0; i < 100; ++i) rows.push_back(static_cast<float>(i % 10) * (i % 2 == 0 ? 1e37f : 1.0f));
  check(rows, 1, 4);  // squares are infinite
  check(rows, 1, 4, Metric::Kind::l1);
}

TEST(CoverBuild, ListsInParts) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform;
  std::vector<float> rows(2 * 800);
  for (float& x : rows) x = uniform(random);
  check(rows, 2, 16, Metric::Kind::l2, 0);
  const VectorSpace<float> space(2, Metric::Kind::l2);
  EXPECT_GT(emulated_cover_tree(space, words_of(rows), 800, {16}, 0).evaluations,
            emulated_cover_tree(space, words_of(rows), 800, {16}).evaluations);  // they were made again and again
}

TEST(CoverBuild, RowsThatAreNotCopied) {
  std::mt19937 random(6);
  check(clusters<float>(70, 1030, random), 1030, 4);
}

// A necklace of clusters, of which only neighbours are within the radius. The objects at 10 to 14 depend on each other,
// one after the other, and lie in different blocks, so that the centre at 14 is found last; the one at 16, of higher
// rank, depends on no other and takes the objects at 15 first.
TEST(CoverBuild, CentresThatWaitForManyOthers) {
  constexpr std::uint32_t kClusters = 40, kObjects = 20 * kClusters, kFirst = 100;
  std::mt19937 random(8);
  std::normal_distribution<float> normal;
  std::vector<std::uint32_t> by_rank(kObjects);
  std::iota(by_rank.begin(), by_rank.end(), 0u);
  std::ranges::sort(by_rank, {}, core::cover_rank);
  std::vector<float> rows(std::size_t{kObjects} * kClusters);
  for (std::uint32_t place = 0; place < kObjects; ++place) {
    std::uint32_t cluster = place == 0 ? 0 : place < kFirst ? 30 : static_cast<std::uint32_t>(random() % kClusters);
    if (place % 4 == 1 && place < 20) cluster = 10 + place / 4;
    if (place == 21) cluster = 16;
    float* row = rows.data() + std::size_t{by_rank[place]} * kClusters;
    for (std::uint32_t d = 0; d < kClusters; ++d) row[d] = 0.001f * normal(random);
    row[cluster] += 1.2f;
    row[(cluster + 1) % kClusters] += 1.2f;
  }
  check(rows, kClusters, 4);
}

TEST(CoverBuild, BitsByLists) {
  std::mt19937 random(7);
  std::vector<std::uint32_t> rows(2 * 600);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = i < 16 ? static_cast<std::uint32_t>(random()) : rows[i % 16];
    if (i >= 16) rows[i] ^= 1u << (random() % 32) | 1u << (random() % 32);
  }
  const test::PlainSpace<float> space(
      600,
      [&](std::uint32_t a, std::uint32_t b) {
        return static_cast<float>(std::popcount(rows[2 * a] ^ rows[2 * b]) +
                                  std::popcount(rows[2 * a + 1] ^ rows[2 * b + 1]));
      },
      {}, false);
  const engine::CoverTree expected = cpu::build_cover_tree_by_lists(space, {.leaf_size = 2, .run = {.threads = 1}});
  EXPECT_GE(expected.nodes.size(), 9u);
  expect_same(expected, emulated_cover_tree(BitSpace(2), rows, 600, CoverRules::of(2, Builder::lists), 0,
                                            emulation::Residence::last_first));
}

/// What a block may have on GPUs of compute capability 7.5, 8.6 and 9.0.
TEST(CoverBuild, TwoTablesOfEditDistancesFitInABlock) {
  for (const std::uint32_t limit : {64u << 10, 99u << 10, 227u << 10}) {
    const std::uint32_t context = most_table_bytes(limit) + static_cast<std::uint32_t>(sizeof(EditHead));
    EXPECT_LE(cover::tile_shared_bytes(context), limit);
    EXPECT_LE(cover::near_shared_bytes(cover::contexts_at_a_time(context), context), limit);
  }
  EXPECT_EQ(most_table_bytes(99 << 10), kMostTableBytes);
}

}  // namespace
}  // namespace kith::cuda
