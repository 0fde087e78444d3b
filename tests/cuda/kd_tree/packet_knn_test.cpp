// kNN by packets, the kernels run on the host: the bytes of the CPU's answers, and most of them by the packets
// themselves.
#include "cuda/kd_tree/emulated_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
class EmulatedPackets : public testing::Test {};

/// A box whose sides wrap, but for one of them at times; the points and queries move into it.
template <typename T>
void give_period(SearchRequest<T>& request, std::mt19937_64& random) {
  const std::uint32_t dims = request.points.dims();
  request.period.assign(dims, T(1));
  if (random() % 3 == 0) request.period[random() % dims] = std::numeric_limits<T>::infinity();
  const std::vector<double> lengths(request.period.begin(), request.period.end());
  for (PointSet* set : {&request.points, &request.queries}) {
    for (std::uint64_t i = 0; i < set->rows(); ++i) {
      engine::wrap_row(set->template values<T>().data() + i * dims, lengths);
    }
  }
}

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(EmulatedPackets, Types);

TYPED_TEST(EmulatedPackets, PacketsEqualTheCpuOnRandomCases) {
  for (std::uint64_t seed = 3000; seed < 3020 && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto shape = static_cast<NastyShape>(seed % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    const auto request = suitable_packet_request<TypeParam>(random, shape, 300, 1200);
    constexpr std::uint32_t kSizes[] = {1, 2, 4, 7, 8, 12, 16, 20, 29, 30, 32, 50, 61};
    const std::uint32_t k = kSizes[random() % std::size(kSizes)];
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text() << ", k " << k);
    const TypeParam bound =
        random() % 4 == 0 ? request->typical_reduced(random) : std::numeric_limits<TypeParam>::infinity();
    expect_packets_like_cpu(*request, k, bound);
  }
}

/// As many neighbours as a warp has lanes, and two more keys: a few lists of uniform points end within equal keys.
TYPED_TEST(EmulatedPackets, ListsOfAboutAWarpByPacketsEqualTheCpu) {
  for (const NastyShape shape : {NastyShape::uniform, NastyShape::huge_offset}) {
    for (const std::uint32_t k : {17u, 31u, 32u}) {
      std::mt19937_64 random(3070 + k);
      SearchRequest<TypeParam> request;
      request.points = nasty_points(shape, dtype_of<TypeParam>, 900, 3, random);
      request.tree = cpu::build_kd_tree(request.points.template values<TypeParam>().data(), 900, 3,
                                        {.leaf_size = 24, .threads = 1});
      request.batch.count = 900;
      for (const bool is_excluded : {false, true}) {
        request.batch.filter.exclude_self = is_excluded;
        SCOPED_TRACE(testing::Message() << request.text() << ", k " << k << (is_excluded ? " without itself" : ""));
        expect_packets_like_cpu(request, k, std::numeric_limits<TypeParam>::infinity());
      }
    }
  }
}

/// Three wide nodes above each other, of which the first has four children: walks go up and down again, more than once.
TYPED_TEST(EmulatedPackets, PacketsInDeepTreesEqualTheCpu) {
  constexpr std::uint64_t kPoints = 40000;
  std::mt19937_64 random(3090);
  SearchRequest<TypeParam> request;
  request.points = nasty_points(NastyShape::uniform, dtype_of<TypeParam>, kPoints, 3, random);
  request.queries = nasty_points(NastyShape::uniform, dtype_of<TypeParam>, 300, 3, random);
  TypeParam middle = 0;  // around which they all lie
  for (const TypeParam value : request.points.template values<TypeParam>()) middle += value / (3 * kPoints);
  for (TypeParam& value : request.queries.template values<TypeParam>()) value = middle + (value - middle) / 4;
  request.tree = cpu::build_kd_tree(request.points.template values<TypeParam>().data(), kPoints, 3,
                                    {.leaf_size = 10, .threads = 1});
  ASSERT_GE(cuda::WideTree(request.tree.geometry.levels).last, 2u);
  request.batch.rows = request.queries.template values<TypeParam>().data();
  request.batch.row_stride = 3;
  request.batch.count = 300;
  for (const std::uint32_t k : {8u, 16u, 30u, 40u}) {
    SCOPED_TRACE(testing::Message() << "k " << k);
    const std::uint32_t failed = expect_packets_like_cpu(request, k, std::numeric_limits<TypeParam>::infinity());
    EXPECT_LT(failed * 2, request.batch.count);
  }
}

/// Each query has 33 points about as far from it, one more than the warp has lanes, and no other keeps them apart.
TYPED_TEST(EmulatedPackets, ListsOfEqualKeysByPacketsEqualTheCpu) {
  constexpr std::uint32_t kSide = 4, kShells = kSide * kSide * kSide, kOnShell = 33;
  std::mt19937_64 random(3080);
  std::normal_distribution<double> normal;
  SearchRequest<TypeParam> request;
  request.points = PointSet(dtype_of<TypeParam>, kShells * kOnShell, 3);
  request.queries = PointSet(dtype_of<TypeParam>, kShells, 3);
  TypeParam* values = request.points.template values<TypeParam>().data();
  TypeParam* rows = request.queries.template values<TypeParam>().data();
  for (std::uint32_t shell = 0; shell < kShells; ++shell) {
    const std::uint32_t cell[] = {shell % kSide, shell / kSide % kSide, shell / kSide / kSide};
    for (std::uint32_t d = 0; d < 3; ++d) rows[3 * shell + d] = static_cast<TypeParam>(4 * cell[d]);
  }
  for (std::uint32_t i = 0; i < kShells * kOnShell; ++i) {
    const double at[] = {normal(random), normal(random), normal(random)};
    const double length = std::hypot(at[0], at[1], at[2]) * (1 - 1e-5 * static_cast<double>(random() % 16));
    for (std::uint32_t d = 0; d < 3; ++d) {
      values[3 * i + d] = rows[3 * (i % kShells) + d] + static_cast<TypeParam>(at[d] / length);
    }
  }
  request.tree = cpu::build_kd_tree(values, kShells * kOnShell, 3, {.leaf_size = 24, .threads = 1});
  request.batch.rows = rows;
  request.batch.row_stride = 3;
  request.batch.count = kShells;
  for (const std::uint32_t k : {30u, 31u, 32u}) {
    SCOPED_TRACE(testing::Message() << "k " << k);
    const std::uint32_t failed = expect_packets_like_cpu(request, k, std::numeric_limits<TypeParam>::infinity());
    EXPECT_EQ(failed, 0u);
  }
}

/// Fuller leaves, and no other packets to hand ties to.
TYPED_TEST(EmulatedPackets, PacketsInFiveDimsEqualTheCpuOnRandomCases) {
  for (std::uint64_t seed = 3050; seed < 3062 && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto shape = static_cast<NastyShape>(seed % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    auto request = packet_request<TypeParam>(random, shape, 1600 + random() % 1000, 5);
    while (request->tree.geometry.levels < 5 || request->tree.geometry.most_per_leaf() < cuda::kFewestPerLeaf) {
      request = packet_request<TypeParam>(random, shape, 1600 + random() % 1000, 5);
    }
    constexpr std::uint32_t kSizes[] = {1, 8, 16, 20, 30};
    std::uint32_t k = kSizes[random() % std::size(kSizes)];
    if (k > 15 && sizeof(TypeParam) == 8) k = 15;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text() << ", k " << k);
    const std::uint32_t failed = expect_packets_like_cpu(*request, k, std::numeric_limits<TypeParam>::infinity());
    if (shape == NastyShape::uniform) {
      EXPECT_LT(failed * 4, request->batch.count);
    }
  }
}

/// Periodic axes, points below a number, earlier ones, and those that are allowed, in all dims that packets know.
TYPED_TEST(EmulatedPackets, GeneralPacketsEqualTheCpuOnRandomCases) {
  constexpr auto kShapes = static_cast<std::uint64_t>(NastyShape::count_of_shapes);
  for (std::uint64_t seed = 3200; seed < 3200 + 3 * kShapes && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto shape = static_cast<NastyShape>(seed % kShapes);
    const auto dims = static_cast<std::uint32_t>(2 + seed / kShapes % 3 + (seed % 5 == 0 ? 1 : 0));
    const std::uint64_t rows = (dims == 5 ? 1600 : 500) + random() % 700;
    SearchRequest<TypeParam> request;
    request.points = nasty_points(shape, dtype_of<TypeParam>, rows, dims, random);
    request.queries = nasty_points(shape, dtype_of<TypeParam>, rows / 2, dims, random);
    const std::uint64_t kind = seed % 6;
    if (kind == 0 || kind >= 4) give_period(request, random);
    request.tree = cpu::build_kd_tree(request.points.template values<TypeParam>().data(), rows, dims,
                                      {.leaf_size = dims == 5 ? 40u : 12u + dims, .threads = 1});
    ASSERT_GE(request.tree.geometry.levels, 5u);
    request.batch.count = rows;
    request.batch.filter.exclude_self = random() % 2 == 0;
    if (kind == 1 || kind == 4) request.batch.filter.earlier_only = true;
    if (kind == 2 || kind == 5) {
      request.allowed.resize(rows / 64 + 1);
      for (std::uint64_t& word : request.allowed) word = seed % 2 == 0 ? random() : random() & random() & random();
      request.batch.filter.allowed = request.allowed.data();
    }
    if (kind == 3 || random() % 4 == 0) {
      request.batch.filter = {.allowed = request.batch.filter.allowed};
      request.batch.rows = request.queries.template values<TypeParam>().data();
      request.batch.row_stride = dims;
      request.batch.count = request.queries.rows();
      for (std::uint64_t q = 0; q < request.batch.count; ++q) {
        request.below.push_back(static_cast<std::uint32_t>(random() % (rows + 2)));
      }
      request.batch.filter.below = request.below.data();
    }
    constexpr std::uint32_t kSizes[] = {1, 4, 8, 15, 20, 30};
    std::uint32_t k = kSizes[random() % std::size(kSizes)];
    if (k > 15 && sizeof(TypeParam) == 8) k = 15;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request.text() << ", k " << k);
    const TypeParam bound =
        random() % 4 == 0 ? request.typical_reduced(random) : std::numeric_limits<TypeParam>::infinity();
    expect_packets_like_cpu(request, k, bound);
  }
}

/// Else the fast way would not be fast: in a periodic box no query is at a side, and half of the points is enough.
TYPED_TEST(EmulatedPackets, GeneralPacketsAnswerMostUniformQueriesThemselves) {
  std::mt19937_64 random(3300);
  SearchRequest<TypeParam> request;
  constexpr std::uint64_t kRows = 4000;
  request.points = nasty_points(NastyShape::uniform, dtype_of<TypeParam>, kRows, 3, random);
  give_period(request, random);
  request.tree =
      cpu::build_kd_tree(request.points.template values<TypeParam>().data(), kRows, 3, {.leaf_size = 14, .threads = 1});
  request.batch.count = kRows;
  constexpr TypeParam kInfinity = std::numeric_limits<TypeParam>::infinity();
  EXPECT_LT(expect_packets_like_cpu(request, 8, kInfinity) * 10, kRows);
  request.period.clear();
  request.allowed.assign(kRows / 64 + 1, 0x5a5a3c3c69696699);
  request.batch.filter.allowed = request.allowed.data();
  EXPECT_LT(expect_packets_like_cpu(request, 8, kInfinity) * 5, kRows);
  request.batch.filter = {.earlier_only = true};
  EXPECT_LT(expect_packets_like_cpu(request, 8, kInfinity) * 3, kRows);
}

/// A few places with hundreds of points each: of the leaves at a place only the first ones matter.
TYPED_TEST(EmulatedPackets, PacketsAnswerMostCopiesThemselves) {
  for (const std::uint64_t side : {2u, 3u, 6u}) {
    std::mt19937_64 random(3400 + side);
    SearchRequest<TypeParam> request;
    constexpr std::uint64_t kRows = 3000;
    request.points = PointSet(dtype_of<TypeParam>, kRows, 3);
    for (TypeParam& value : request.points.template values<TypeParam>()) {
      value = static_cast<TypeParam>(random() % side) * (random() % 2 == 0 ? 1 : -1);  // some are -0
    }
    request.tree = cpu::build_kd_tree(request.points.template values<TypeParam>().data(), kRows, 3,
                                      {.leaf_size = 14, .threads = 1});
    request.batch.count = kRows;
    for (const std::uint32_t k : {1u, 3u, 8u, 15u, 30u, 40u}) {
      request.batch.filter.exclude_self = k % 2 == 0;
      SCOPED_TRACE(testing::Message() << side << " values a side, k " << k);
      const std::uint32_t failed = expect_packets_like_cpu(request, k, std::numeric_limits<TypeParam>::infinity());
      if (k <= 8 && side < 6) {
        EXPECT_LT(failed * 5, kRows);
      }
    }
    request.batch.filter = {.earlier_only = true};
    expect_packets_like_cpu(request, 8, std::numeric_limits<TypeParam>::infinity());
  }
}

/// Places with a few points or many, so that the list of a query has those of one place, a part of them, or those of
/// several; points ask, or other queries at the same places.
TYPED_TEST(EmulatedPackets, PacketsSearchPlacesOfCopiesOnce) {
  constexpr TypeParam kInfinity = std::numeric_limits<TypeParam>::infinity();
  constexpr std::uint64_t kRows = 2000;
  for (const std::uint64_t copies : {2u, 7u, 25u, 90u}) {
    std::mt19937_64 random(3500 + copies);
    const auto dims = static_cast<std::uint32_t>(2 + random() % 3);
    const PointSet places = nasty_points(NastyShape::uniform, dtype_of<TypeParam>, kRows / copies, dims, random);
    const auto at_places = [&](std::uint64_t rows) {
      PointSet points(dtype_of<TypeParam>, rows, dims);
      for (std::uint64_t row = 0; row < rows; ++row) {
        const std::uint64_t from = random() % places.rows() * dims;
        for (std::uint32_t d = 0; d < dims; ++d) {
          points.template values<TypeParam>()[row * dims + d] = places.template values<TypeParam>()[from + d];
        }
      }
      return points;
    };
    SearchRequest<TypeParam> request;
    request.points = at_places(kRows);
    request.tree = cpu::build_kd_tree(request.points.template values<TypeParam>().data(), kRows, dims,
                                      {.leaf_size = 12, .threads = 1});
    request.batch.count = kRows;
    for (const std::uint32_t k : {2u, 7u, 8u, 16u, 21u, 32u}) {
      for (const bool excludes_self : {false, true}) {
        request.batch.filter.exclude_self = excludes_self;
        SCOPED_TRACE(testing::Message() << copies << " copies, dims " << dims << ", k " << k << ", " << excludes_self);
        const std::uint32_t failed = expect_packets_like_cpu(request, k, kInfinity);
        if (this->HasFailure()) return;
        if (k <= 8) {
          EXPECT_LT(failed * 4, kRows);
        }
      }
    }
    request.batch.filter.exclude_self = false;
    for (const TypeParam bound : {TypeParam(0), request.typical_reduced(random)}) {
      expect_packets_like_cpu(request, 8, bound);
    }
    request.queries = at_places(kRows / 2);
    request.batch.rows = request.queries.template values<TypeParam>().data();
    request.batch.row_stride = dims;
    request.batch.count = request.queries.rows();
    expect_packets_like_cpu(request, 8, kInfinity);
    if (this->HasFailure()) return;
  }
}

/// Points at different places whose reduced distance is 0, because squares of their gaps are too small for a number:
/// copies of one do not come before those of others.
TYPED_TEST(EmulatedPackets, PacketsHeedPlacesAtNoReducedDistance) {
  constexpr std::uint64_t kRows = 2000;
  for (const double middle : {0.0, 1e-300, 1.0}) {
    std::mt19937_64 random(3600);
    SearchRequest<TypeParam> request;
    request.points = PointSet(dtype_of<TypeParam>, kRows, 3);
    for (std::uint64_t row = 0; row < kRows; ++row) {
      const TypeParam tiny = sizeof(TypeParam) == 4 ? TypeParam(1e-30) : TypeParam(1e-200);
      for (std::uint32_t d = 0; d < 3; ++d) {
        request.points.template values<TypeParam>()[3 * row + d] =
            static_cast<TypeParam>(middle) + static_cast<TypeParam>(random() % 2) * (d == 0 ? TypeParam(1) : tiny);
      }
    }
    request.tree = cpu::build_kd_tree(request.points.template values<TypeParam>().data(), kRows, 3,
                                      {.leaf_size = 12, .threads = 1});
    request.batch.count = kRows;
    for (const std::uint32_t k : {3u, 8u, 20u}) {
      for (const bool excludes_self : {false, true}) {
        request.batch.filter.exclude_self = excludes_self;
        SCOPED_TRACE(testing::Message() << "around " << middle << ", k " << k << ", " << excludes_self);
        expect_packets_like_cpu(request, k, std::numeric_limits<TypeParam>::infinity());
        if (this->HasFailure()) return;
      }
    }
  }
}

/// So many packets in which most queries are tied that others are not tried any more.
TEST(EmulatedTies, AreFoundOutOnALargeGrid) {
  const auto request = grid_request<float>(22, 10);
  const std::uint32_t failed = expect_packets_like_cpu(*request, 8, std::numeric_limits<float>::infinity());
  EXPECT_LT(failed * 50, request->batch.count);
}

/// One neighbour of each point, itself included: of equal points the first.
TYPED_TEST(EmulatedPackets, PointsFindThemselvesByPackets) {
  constexpr auto kShapes = static_cast<std::uint64_t>(NastyShape::count_of_shapes);
  for (std::uint64_t seed = 3100; seed < 3100 + 2 * kShapes && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto shape = static_cast<NastyShape>(seed % kShapes);
    const auto request = suitable_packet_request<TypeParam>(random, shape, 300, 1200);
    request->batch.rows = nullptr;
    request->batch.count = request->points.rows();
    request->batch.filter.exclude_self = false;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text());
    const TypeParam bound = seed % 2 == 0 ? TypeParam(0) : std::numeric_limits<TypeParam>::infinity();
    const std::uint32_t failed = expect_packets_like_cpu(*request, 1, bound);
    if (shape == NastyShape::uniform) {
      EXPECT_EQ(failed, 0u);
    }
  }
}

/// Every distance ties on a grid: lists that are too short for that are made once more, longer.
TYPED_TEST(EmulatedPackets, PacketsAnswerMostQueriesOnAGridThemselves) {
  const auto request = grid_request<TypeParam>(14, 24);
  const std::uint64_t rows = request->batch.count;
  for (const std::uint32_t k : {3u, 8u, 13u, 16u}) {
    request->batch.filter.exclude_self = k % 2 == 0 && k < 16;
    const std::uint32_t failed = expect_packets_like_cpu(*request, k, std::numeric_limits<TypeParam>::infinity());
    EXPECT_LT(failed * 50, rows) << failed << " of " << rows << " failed for k " << k;
  }
}

/// Else the fast way would not be fast.
TYPED_TEST(EmulatedPackets, PacketsAnswerMostUniformQueriesThemselves) {
  std::uint64_t queries = 0, failed = 0;
  for (std::uint64_t seed = 4000; seed < 4012 && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    auto request = packet_request<TypeParam>(random, NastyShape::uniform, 4000);
    while (!request->batch.is_self() || request->tree.dims != 3 || request->tree.geometry.most_per_leaf() < 12) {
      request = packet_request<TypeParam>(random, NastyShape::uniform, 4000);
    }
    queries += request->batch.count;
    const std::uint32_t k = seed % 4 == 0 ? 8 : seed % 4 == 1 ? 16 : seed % 4 == 2 ? 29 : 50;
    failed += expect_packets_like_cpu(*request, k, std::numeric_limits<TypeParam>::infinity());
  }
  EXPECT_LT(failed * 10, queries) << failed << " of " << queries << " failed";
}

TEST(PacketReasons, AreNamed) {
  cuda::SearchTree<float> tree;
  tree.geometry = core::KdGeometry{40000, 11};
  tree.dims = 3;
  const auto said = [&](const cuda::KnnRequest<float>& request) {
    const char* reason = cuda::why_no_packets(cuda::KnnTask<float>{request, tree});
    EXPECT_EQ(cuda::packets_pay(cuda::KnnTask<float>{request, tree}), reason == nullptr);
    return std::string(reason == nullptr ? "" : reason);
  };
  cuda::KnnRequest<float> request{.queries = {.count = 40000}, .k = 8};
  EXPECT_EQ(said(request), "");
  request.filter.exclude_self = true;
  EXPECT_EQ(said(request), "");
  request.k = 208;
  EXPECT_EQ(said(request), "k is too large");
  request.k = 8;
  request.filter.earlier_only = true;
  EXPECT_EQ(said(request), "");
  request.k = 33;
  EXPECT_EQ(said(request), "k is too large for packets with a filter or periodic axes");
  request.filter.earlier_only = false;
  request.k = 8;
  request.queries.count = 4000;
  EXPECT_EQ(said(request), "there is fewer than one query for 8 points");
  request.queries.count = 2000;
  EXPECT_EQ(said(request), "there are too few queries");
  request.queries.count = 40000;
  const float bounds = 1;
  request.bounds = &bounds;
  EXPECT_EQ(said(request), "queries have bounds of their own");
  request.bounds = nullptr;
  request.metric.kind = Metric::Kind::l1;
  EXPECT_EQ(said(request), "packets are for L2");
  request.metric.kind = Metric::Kind::l2;
  tree.dims = 6;
  EXPECT_EQ(said(request), "packets take 2 to 5 dims");
}

}  // namespace
}  // namespace kith::test
