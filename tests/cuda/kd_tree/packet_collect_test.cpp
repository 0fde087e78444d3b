// kNN by packets that collect points, the kernels run on the host: long lists with the bytes of the CPU's.
#include "cuda/kd_tree/emulated_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

constexpr std::uint32_t kPacketSizes[] = {17, 30, 31, 32, 50, 62, 63, 64, 100, 128, 200, 201, 207};

template <typename T>
class EmulatedCollecting : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(EmulatedCollecting, Types);

TYPED_TEST(EmulatedCollecting, EqualsTheCpuOnRandomCases) {
  constexpr TypeParam kInfinity = std::numeric_limits<TypeParam>::infinity();
  for (std::uint64_t seed = 6000; seed < 6024 && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto shape = static_cast<NastyShape>(seed % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    const auto request = suitable_packet_request<TypeParam>(random, shape, 225, 150);
    const std::uint32_t k = kPacketSizes[random() % std::size(kPacketSizes)];
    const TypeParam bound = random() % 3 != 0   ? kInfinity
                            : random() % 4 == 0 ? TypeParam(0)
                                                : request->typical_reduced(random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text() << ", k " << k << ", bound "
                                    << bound);
    expect_packets_like_cpu(*request, k, bound);
  }
}

/// Every k where another way begins, both ways to ask, on points that are neither even nor all different.
TYPED_TEST(EmulatedCollecting, EqualsTheCpuForEveryLengthOfList) {
  for (const std::uint32_t k : kPacketSizes) {
    for (const bool excludes_self : {false, true}) {
      std::mt19937_64 random(k);
      auto request = suitable_packet_request<TypeParam>(random, NastyShape::clusters, 300, 150);
      request->batch.filter.exclude_self = excludes_self && request->batch.is_self();
      SCOPED_TRACE(testing::Message() << request->text() << ", k " << k);
      expect_packets_like_cpu(*request, k, std::numeric_limits<TypeParam>::infinity());
      if (this->HasFatalFailure()) return;
    }
  }
}

/// Else the fast way would not be fast.
TYPED_TEST(EmulatedCollecting, AnswersUniformQueriesItself) {
  std::uint64_t queries = 0, failed = 0;
  for (const std::uint32_t dims : {2u, 3u, 4u}) {
    for (const std::uint32_t k : {30u, 50u, 100u, 200u}) {
      std::mt19937_64 random(dims + k);
      SearchRequest<TypeParam> request;
      const std::uint64_t rows = 1000;
      request.points = nasty_points(NastyShape::uniform, dtype_of<TypeParam>, rows, dims, random);
      request.tree = cpu::build_kd_tree(request.points.template values<TypeParam>().data(), rows, dims,
                                        {.leaf_size = 16, .threads = 1});
      request.batch.count = rows;
      queries += rows;
      failed += expect_packets_like_cpu(request, k, std::numeric_limits<TypeParam>::infinity());
      if (this->HasFatalFailure()) return;
    }
  }
  EXPECT_LT(failed * 50, queries) << failed << " of " << queries << " failed";
}

/// Radii that are too small or too large where the density changes are tried again with what the counts suggest.
TYPED_TEST(EmulatedCollecting, AnswersMostQueriesOfAClusterItself) {
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  SearchRequest<TypeParam> request;
  const std::uint64_t rows = 3000;
  request.points = PointSet(dtype_of<TypeParam>, rows, 3);
  for (TypeParam& value : request.points.template values<TypeParam>()) value = static_cast<TypeParam>(normal(random));
  request.tree =
      cpu::build_kd_tree(request.points.template values<TypeParam>().data(), rows, 3, {.leaf_size = 12, .threads = 1});
  request.batch.count = rows;
  const std::uint32_t failed = expect_packets_like_cpu(request, 64, std::numeric_limits<TypeParam>::infinity());
  EXPECT_LT(failed * 20, rows) << failed << " of " << rows << " failed";
}

/// Where many distances tie the lists are sorted by exact distances and numbers, not searched again.
TYPED_TEST(EmulatedCollecting, AnswersMostQueriesOnAGridItself) {
  const auto request = grid_request<TypeParam>(11, 16);
  const std::uint64_t rows = request->batch.count;
  for (const std::uint32_t k : {20u, 64u, 100u}) {
    const std::uint32_t failed = expect_packets_like_cpu(*request, k, std::numeric_limits<TypeParam>::infinity());
    EXPECT_LT(failed * 20, rows) << failed << " of " << rows << " failed for k " << k;
  }
}

/// A list in the lanes of a warp, many of its keys equal.
template <std::uint32_t kRows>
void expect_sorted_across_lanes(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> keys(kRows * cuda::kWarp);
  const std::uint32_t values = seed % 2 == 0 ? 0xffffffff : 40;
  for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random()) % values;
  std::vector<std::uint32_t> expected = keys;
  std::sort(expected.begin(), expected.end());
  cuda::emulation::run_grid(1, cuda::kWarp, 0, cuda::emulation::Residence::one_by_one, [&] {
    std::uint32_t own[kRows];
    for (std::uint32_t i = 0; i < kRows; ++i) own[i] = keys[cuda::lane_number() * kRows + i];
    cuda::sort_across_lanes(own);
    for (std::uint32_t i = 0; i < kRows; ++i) keys[cuda::lane_number() * kRows + i] = own[i];
  });
  EXPECT_EQ(keys, expected) << "seed " << seed;
}

TEST(SortAcrossLanes, SortsRowsOfAnyLength) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    expect_sorted_across_lanes<2>(seed);
    expect_sorted_across_lanes<4>(seed);
    expect_sorted_across_lanes<8>(seed);
  }
}

}  // namespace
}  // namespace kith::test
