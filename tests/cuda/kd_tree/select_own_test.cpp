// The split of a list with a candidate for each of many threads: the one of its rank, or none if others may be equal.
#include "cuda/emulation/grid.hpp"
#include "cuda/kd_tree/build/medians/step_node.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace kith::test {
namespace {

using namespace kith::cuda;

constexpr std::uint32_t kDims = 3;

template <typename T>
struct FoundSplit {
  bool is_clear = false;
  OrderedKey<T> key = 0;
  std::uint32_t place = 0;
  T value = 0;
};

/// The split of the candidates `keys` of a node, the one at entry i lying at place 3 i + 5.
template <typename T>
FoundSplit<T> find_split(const std::vector<OrderedKey<T>>& keys, const SplitNode<T>& node, bool is_tied = false) {
  GroupParameters<T> p;
  p.shape.dims = kDims;
  FoundSplit<T> found;
  emulation::run_grid(1, kStepThreads, StepLayout<T>(kDims, 0, false, kStepThreads).bytes,
                      emulation::Residence::one_by_one, [&] {
                        StepTask task(0, 1);
                        begin_step<T>(p);
                        OwnCandidate<T> own;
                        if (thread_number() < keys.size()) {
                          own.key = keys[thread_number()];
                          own.place = 3 * thread_number() + 5;
                        }
                        store_candidate(p, own);
                        if (thread_number() == 0) {
                          step_node<T>() = node;
                          step_shared().is_tied = is_tied ? 1 : 0;
                        }
                        sync_block();
                        task.complete(p);
                        const bool is_clear = find_clear_split(p, task, own);
                        if (thread_number() != 0) return;
                        const Selected<T> split(kDims, task.dim);
                        found = {is_clear, split.key, split.place, split.value};
                      });
  return found;
}

/// A node with the cells from `first` to `last` of dimension `dim`, a cell being 1 / 64.
template <typename T>
SplitNode<T> node_with(std::uint32_t candidates, std::uint32_t needed, std::uint32_t dim = 0,
                       std::uint32_t first = 40000, std::uint32_t last = 40099) {
  SplitNode<T> node;
  node.median = {dim, first, last};
  node.scale = {T(-300), T(64)};
  node.candidates = candidates;
  node.needed = needed;
  return node;
}

template <typename T>
class SelectOwn : public testing::Test {
 protected:
  /// A value in the cells from 40000 to 40099.
  T inside() { return static_cast<T>(325 + std::uniform_real_distribution<double>(0, 1.5624)(random_)); }
  std::vector<OrderedKey<T>> keys_inside(std::uint32_t count) {
    std::vector<OrderedKey<T>> keys(count);
    for (auto& key : keys) key = ordered_key(inside());
    return keys;
  }

  static void expect_rank(const std::vector<OrderedKey<T>>& keys, std::uint32_t rank, const FoundSplit<T>& found) {
    std::vector<std::uint32_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0u);
    std::nth_element(order.begin(), order.begin() + rank, order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    EXPECT_EQ(found.key, keys[order[rank]]) << "rank " << rank << " of " << keys.size();
    EXPECT_EQ(found.place, 3 * order[rank] + 5) << "rank " << rank << " of " << keys.size();
  }

  std::mt19937_64 random_{7};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SelectOwn, Types);

TYPED_TEST(SelectOwn, FindsTheOneOfAnyRank) {
  for (const std::uint32_t count : {kFewCandidates, kFewCandidates + 1, 244u, 488u}) {
    const auto keys = this->keys_inside(count);
    for (const std::uint32_t rank : {0u, 1u, count / 3, count / 2, count - 1}) {
      const auto found = find_split(keys, node_with<TypeParam>(count, rank));
      EXPECT_TRUE(found.is_clear) << "rank " << rank << " of " << count;
      this->expect_rank(keys, rank, found);
    }
  }
}

/// With more than a few in each bin some bins are too full, but not most.
TYPED_TEST(SelectOwn, FindsMostOfAsManyAsThreads) {
  const auto keys = this->keys_inside(kStepThreads);
  std::uint32_t clear = 0;
  for (std::uint32_t rank = 0; rank < kStepThreads; rank += 32) {
    const auto found = find_split(keys, node_with<TypeParam>(kStepThreads, rank));
    if (!found.is_clear) continue;
    ++clear;
    this->expect_rank(keys, rank, found);
  }
  EXPECT_GT(clear, 24u);
}

TYPED_TEST(SelectOwn, TellsNumbersApart) {
  std::vector<OrderedKey<TypeParam>> keys(300);  // number + 1
  for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = 1000 + i * 77 % 300;
  SplitNode<TypeParam> node = node_with<TypeParam>(300, 123, kDims, 9900, 13000);
  node.scale = {TypeParam(0), TypeParam(10)};
  const auto found = find_split(keys, node);
  EXPECT_TRUE(found.is_clear);
  this->expect_rank(keys, 123, found);
}

/// Where cells refine ties, and the candidates are equal: the split has their coordinate, whatever its number is.
TYPED_TEST(SelectOwn, TellsEqualPointsApartByTheirNumbers) {
  for (const std::uint32_t count : {100u, 300u}) {
    std::vector<OrderedKey<TypeParam>> keys(count);  // number + 1
    for (std::uint32_t i = 0; i < count; ++i) keys[i] = 5000 + i * 77 % count * 3;
    SplitNode<TypeParam> node = node_with<TypeParam>(count, count / 3, 1);
    node.scale = {TypeParam(0.25), TypeParam(0.25)};
    node.first_number = 4990;
    node.last_number = 4999 + 3 * count;
    const auto found = find_split(keys, node, true);
    EXPECT_TRUE(found.is_clear);
    EXPECT_EQ(found.value, TypeParam(0.25));
    this->expect_rank(keys, count / 3, found);
  }
}

/// The outer cells hold all that lies beyond them, whatever the distance.
TYPED_TEST(SelectOwn, TakesWhatLiesBeyondTheCells) {
  constexpr TypeParam kMost = std::numeric_limits<TypeParam>::max();
  auto keys = this->keys_inside(244);
  for (std::uint32_t i = 0; i < 8; ++i) {
    keys[i] = ordered_key(-kMost / static_cast<TypeParam>(i + 1));
    keys[100 + i] = ordered_key(kMost / static_cast<TypeParam>(i + 1));
  }
  for (const std::uint32_t rank : {0u, 3u, 7u, 120u, 236u, 243u}) {
    const auto found = find_split(keys, node_with<TypeParam>(244, rank, 0, 40000, 40099));
    EXPECT_TRUE(found.is_clear) << "rank " << rank;
    this->expect_rank(keys, rank, found);
  }
}

TYPED_TEST(SelectOwn, FindsNoSplitThatOthersMayBeEqualTo) {
  auto keys = this->keys_inside(244);
  std::sort(keys.begin(), keys.end());
  keys[100] = keys[101];  // ranks 100 and 101 are equal
  for (std::uint32_t rank = 98; rank < 104; ++rank) {
    EXPECT_EQ(find_split(keys, node_with<TypeParam>(244, rank)).is_clear, rank != 100 && rank != 101) << rank;
  }
  const std::vector<OrderedKey<TypeParam>> equal(244, keys[0]);
  EXPECT_FALSE(find_split(equal, node_with<TypeParam>(244, 5)).is_clear);
  // All in one bin, though they differ.
  EXPECT_FALSE(find_split(keys, node_with<TypeParam>(244, 5, 0, 0, kLastCell)).is_clear);
  EXPECT_FALSE(find_split(keys, node_with<TypeParam>(244, 5), true).is_clear) << "where cells refine ties";
}

}  // namespace
}  // namespace kith::test
