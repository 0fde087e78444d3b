// The GPU's searches, their kernels run on the host: the bytes of the CPU's answers, whatever the tree and the
// request.
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
void expect_knn_of_cpu(const SearchRequest<T>& request, std::uint32_t k, T bound, bool is_ordered,
                       std::uint64_t scratch_bytes) {
  const std::uint64_t entries = request.batch.count * k;
  std::vector<std::uint32_t> expected_indices(entries);
  std::vector<T> expected_reduced(entries);
  AnswerStorage<T> found(entries, request.batch.count + k);
  request.on_cpu()->knn(request.batch, k, {.bound = bound}, {.threads = 1}, expected_indices.data(),
                        expected_reduced.data(), nullptr);
  std::vector<std::uint32_t> order;
  const cuda::KnnTask<T> task{{.metric = search_metric(request),
                               .filter = search_filter(request.batch.filter),
                               .queries = query_source(request, is_ordered, order),
                               .k = k,
                               .bound = bound,
                               .answer = found.answer()},
                              search_tree(request.tree)};
  const cuda::ListsPlan plan =
      cuda::plan_knn(task.tree, request.batch.count, k, {.processors = 1, .scratch_bytes = scratch_bytes});
  std::vector<std::byte> scratch(plan.scratch_bytes, std::byte{0xa5});
  cuda::launch_knn_steps(task, plan, scratch.data(), kLaunch);
  found.expect(expected_indices, expected_reduced);
}

template <typename T>
void expect_radius_of_cpu(const SearchRequest<T>& request, T bound, bool is_ordered, bool by_packets = false) {
  const engine::ReducedLists<T> expected = request.on_cpu()->radius(request.batch, bound, 0, {.threads = 1});
  std::vector<std::uint32_t> order, counts(request.batch.count, 0xdeadbeef);
  cuda::RadiusTask<T> task{{.metric = search_metric(request),
                            .filter = search_filter(request.batch.filter),
                            .queries = query_source(request, is_ordered, order),
                            .bound = bound,
                            .bounds = request.batch.bounds,
                            .counts = counts.data()},
                           search_tree(request.tree)};
  std::vector<cuda::PackedWords> packed;
  if (by_packets) {
    task.tree = packed_tree(task.tree, packed);
    cuda::launch_packet_count_steps(task, kLaunch);
  } else {
    cuda::launch_count_steps(task, kLaunch);
  }
  std::vector<std::uint64_t> starts(counts.size() + 1), sums(cuda::sum_tiles_of(counts.size()) + 2);
  cuda::launch_sums_before(static_cast<const std::uint32_t*>(counts.data()), counts.size(), sums.data(), starts.data(),
                           true, kLaunch);
  expect_same_bytes(starts, expected.offsets, "offset");
  if (testing::Test::HasFatalFailure()) return;
  std::vector<std::uint32_t> indices(starts.back(), 0xdeadbeef);
  std::vector<T> reduced(starts.back(), T(-1));
  task.starts = starts.data();
  task.reduced = reduced.data();
  const auto list = [&] {
    if (by_packets) {
      std::vector<std::uint32_t> scratch(request.batch.count + 1, 0xdeadbeef);
      scratch[0] = 0;
      cuda::launch_packet_list_steps(task, scratch.data(), {.processors = 1}, kLaunch);
    } else {
      cuda::launch_list_steps(task, kLaunch);
    }
  };
  task.indices = indices.data();
  list();
  expect_same_bytes(indices, expected.indices, "index");
  expect_same_bytes(reduced, expected.reduced, "reduced");
  std::vector<std::int64_t> wide(starts.back(), -1);  // as callers on the GPU see them
  std::vector<T> roots;
  for (const T each : expected.reduced) roots.push_back(std::sqrt(each));
  task.indices = nullptr;
  task.wide = wide.data();
  task.takes_roots = true;
  list();
  expect_same_bytes(wide, std::vector<std::int64_t>(expected.indices.begin(), expected.indices.end()), "wide index");
  expect_same_bytes(reduced, roots, "root");
}

/// kNN where each query has a bound of its own: the first k of what a radius search finds.
template <typename T>
void expect_bounded_knn_of_cpu(const SearchRequest<T>& request, std::uint32_t k) {
  const engine::ReducedLists<T> expected = request.on_cpu()->radius(request.batch, T(0), k, {.threads = 1});
  const std::uint64_t entries = request.batch.count * k;
  std::vector<std::uint32_t> order, indices(entries, 0xdeadbeef), found_indices;
  std::vector<T> reduced(entries, T(-1)), found_reduced;
  const cuda::KnnTask<T> task{{.metric = search_metric(request),
                               .filter = search_filter(request.batch.filter),
                               .queries = query_source(request, true, order),
                               .k = k,
                               .bounds = request.batch.bounds,
                               .answer = {indices.data(), reduced.data()}},
                              search_tree(request.tree)};
  ASSERT_FALSE(cuda::packets_pay(task)) << "packets know one bound only";
  cuda::launch_knn_steps(task, cuda::plan_knn(task.tree, request.batch.count, k, {}), nullptr, kLaunch);
  for (std::uint64_t q = 0; q < request.batch.count; ++q) {
    const std::uint64_t length = expected.offsets[q + 1] - expected.offsets[q];
    for (std::uint64_t j = 0; j < k; ++j) {
      if (j < length) {
        found_indices.push_back(indices[q * k + j]);
        found_reduced.push_back(reduced[q * k + j]);
      } else {
        ASSERT_EQ(indices[q * k + j], request.tree.geometry.points) << "query " << q << ", rank " << j;
      }
    }
  }
  expect_same_bytes(found_indices, expected.indices, "index");
  expect_same_bytes(found_reduced, expected.reduced, "reduced");
}

template <typename T>
void expect_boxes_of_cpu(const BoxRequest<T>& request) {
  const auto cpu = engine::adopt_on_cpu(request.tree, Metric::l2(), {});
  const engine::IndexLists expected = cpu->box(request.batch, {.threads = 1});
  std::vector<std::uint32_t> counts(request.batch.count, 0xdeadbeef);
  cuda::BoxTask<T> task{{.filter = search_filter(request.batch.filter),
                         .lower = request.batch.lower,
                         .upper = request.batch.upper,
                         .count = request.batch.count,
                         .counts = counts.data()},
                        search_tree(request.tree)};
  cuda::launch_box_steps(task, false, kLaunch);
  std::vector<std::uint64_t> starts(1, 0);
  for (const std::uint32_t count : counts) starts.push_back(starts.back() + count);
  expect_same_bytes(starts, expected.offsets, "offset");
  if (testing::Test::HasFatalFailure()) return;
  std::vector<std::uint32_t> indices(starts.back(), 0xdeadbeef);
  task.starts = starts.data();
  task.indices = indices.data();
  cuda::launch_box_steps(task, true, kLaunch);
  expect_same_bytes(indices, expected.indices, "index");
}

template <typename T>
class EmulatedSearch : public testing::Test {};
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
TYPED_TEST_SUITE(EmulatedSearch, Types);

TYPED_TEST(EmulatedSearch, KnnEqualsTheCpuOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 300 && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto request = random_request<TypeParam>(random, seed % 10 == 0 ? 1500 : 200);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text());
    constexpr std::uint32_t kSizes[] = {1, 2, 5, 8, 31, 32, 33, 64, 65, 100, 300};
    const std::uint32_t k = kSizes[random() % std::size(kSizes)];
    const TypeParam bound =
        random() % 4 == 0 ? request->typical_reduced(random) : std::numeric_limits<TypeParam>::infinity();
    expect_knn_of_cpu(*request, k, bound, random() % 2 == 0, 1 << 20);
  }
}

/// Lists too long for shared memory, and hardly any memory for them.
TYPED_TEST(EmulatedSearch, KnnOfManyNeighboursEqualsTheCpu) {
  for (std::uint64_t seed = 500; seed < 512 && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto request = random_request<TypeParam>(random, 3000, 9);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text());
    const auto k = static_cast<std::uint32_t>(300 + random() % 2800);
    expect_knn_of_cpu(*request, k, std::numeric_limits<TypeParam>::infinity(), false, seed % 2 == 0 ? 1 : 1 << 20);
  }
}

TYPED_TEST(EmulatedSearch, PacketsEqualTheCpuOnRandomCases) {
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
TYPED_TEST(EmulatedSearch, ListsOfAboutAWarpByPacketsEqualTheCpu) {
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
TYPED_TEST(EmulatedSearch, PacketsInDeepTreesEqualTheCpu) {
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
TYPED_TEST(EmulatedSearch, ListsOfEqualKeysByPacketsEqualTheCpu) {
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
TYPED_TEST(EmulatedSearch, PacketsInFiveDimsEqualTheCpuOnRandomCases) {
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
TYPED_TEST(EmulatedSearch, GeneralPacketsEqualTheCpuOnRandomCases) {
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
TYPED_TEST(EmulatedSearch, GeneralPacketsAnswerMostUniformQueriesThemselves) {
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
TYPED_TEST(EmulatedSearch, PacketsAnswerMostCopiesThemselves) {
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

/// So many packets in which most queries are tied that others are not tried any more.
TEST(EmulatedTies, AreFoundOutOnALargeGrid) {
  const auto request = grid_request<float>(22, 10);
  const std::uint32_t failed = expect_packets_like_cpu(*request, 8, std::numeric_limits<float>::infinity());
  EXPECT_LT(failed * 50, request->batch.count);
}

/// One neighbour of each point, itself included: of equal points the first.
TYPED_TEST(EmulatedSearch, PointsFindThemselvesByPackets) {
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
TYPED_TEST(EmulatedSearch, PacketsAnswerMostQueriesOnAGridThemselves) {
  const auto request = grid_request<TypeParam>(14, 24);
  const std::uint64_t rows = request->batch.count;
  for (const std::uint32_t k : {3u, 8u, 13u, 16u}) {
    request->batch.filter.exclude_self = k % 2 == 0 && k < 16;
    const std::uint32_t failed = expect_packets_like_cpu(*request, k, std::numeric_limits<TypeParam>::infinity());
    EXPECT_LT(failed * 50, rows) << failed << " of " << rows << " failed for k " << k;
  }
}

/// Else the fast way would not be fast.
TYPED_TEST(EmulatedSearch, PacketsAnswerMostUniformQueriesThemselves) {
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

TYPED_TEST(EmulatedSearch, RadiusEqualsTheCpuOnRandomCases) {
  for (std::uint64_t seed = 1000; seed < 1120 && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto request = random_request<TypeParam>(random, seed % 10 == 0 ? 1000 : 200);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text());
    const TypeParam reduced = request->typical_reduced(random);
    expect_radius_of_cpu(*request, reduced, random() % 2 == 0);
  }
}

TYPED_TEST(EmulatedSearch, RadiusByPacketsEqualsTheCpuOnRandomCases) {
  for (std::uint64_t seed = 5000; seed < 5016 && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto shape = static_cast<NastyShape>(seed % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    const auto request = suitable_packet_request<TypeParam>(random, shape, 300, 1000);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text());
    expect_radius_of_cpu(*request, request->typical_reduced(random), true, true);
  }
}

TYPED_TEST(EmulatedSearch, RadiusWithBoundsOfTheirOwnEqualsTheCpuOnRandomCases) {
  for (std::uint64_t seed = 6000; seed < 6060 && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto request = random_request<TypeParam>(random, seed % 10 == 0 ? 1000 : 200);
    request->give_bounds(random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text());
    expect_radius_of_cpu(*request, TypeParam(-1), random() % 2 == 0);
    expect_bounded_knn_of_cpu(*request, static_cast<std::uint32_t>(1 + random() % 32));
  }
}

TYPED_TEST(EmulatedSearch, RadiusByPacketsWithBoundsOfTheirOwnEqualsTheCpuOnRandomCases) {
  for (std::uint64_t seed = 7000; seed < 7012 && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto shape = static_cast<NastyShape>(seed % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    auto request = packet_request<TypeParam>(random, shape, 300 + random() % 1000);
    while (request->tree.geometry.most_per_leaf() < cuda::kFewestPerLeaf || request->tree.geometry.levels < 5) {
      request = packet_request<TypeParam>(random, shape, 300 + random() % 1000);
    }
    request->give_bounds(random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text());
    expect_radius_of_cpu(*request, TypeParam(-1), true, true);
  }
}

TYPED_TEST(EmulatedSearch, BoxesEqualTheCpuOnRandomCases) {
  for (std::uint64_t seed = 2000; seed < 2200 && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto request = random_boxes<TypeParam>(random, seed % 10 == 0 ? 2000 : 200);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_boxes_of_cpu(*request);
  }
}

/// Host threads share nothing but the tree, whatever they ask it.
TYPED_TEST(EmulatedSearch, SixtyFourThreadsSearchOneTree) {
  std::mt19937_64 random(9);
  auto shared = packet_request<TypeParam>(random, NastyShape::clusters, 300);
  while (!shared->batch.is_self() || shared->tree.geometry.levels != 5) {
    shared = packet_request<TypeParam>(random, NastyShape::clusters, 300);
  }
  const TypeParam typical = shared->typical_reduced(random);
  const auto ask = [&](std::uint64_t t) {
    std::mt19937_64 own_random(t);
    SearchRequest<TypeParam> request;  // the shared tree, other queries
    request.tree = shared->tree;
    request.queries = nasty_points(NastyShape::clusters, dtype_of<TypeParam>, 40, shared->tree.dims, own_random);
    request.batch.rows = request.queries.template values<TypeParam>().data();
    request.batch.row_stride = shared->tree.dims;
    request.batch.count = request.queries.rows();
    constexpr TypeParam kInfinity = std::numeric_limits<TypeParam>::infinity();
    switch (t % 4) {
      case 0:
        return expect_knn_of_cpu(request, static_cast<std::uint32_t>(1 + t), kInfinity, t % 8 == 0, 1 << 20);
      case 1:
        expect_packets_like_cpu(request, static_cast<std::uint32_t>(1 + t % 30), kInfinity);
        return;
      case 2:
        if (t % 8 == 2) request.give_bounds(own_random);
        return expect_radius_of_cpu(request, typical, true, t % 16 < 8);
      default: {
        BoxRequest<TypeParam> boxes;
        boxes.tree = shared->tree;
        boxes.batch.lower = request.batch.rows;
        boxes.batch.upper = request.batch.rows + 20 * shared->tree.dims;
        boxes.batch.lower_stride = boxes.batch.upper_stride = shared->tree.dims;
        boxes.batch.count = 20;
        return expect_boxes_of_cpu(boxes);
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 64; ++t) threads.emplace_back(ask, t);
  for (std::thread& thread : threads) thread.join();
}

/// A part of the points asks, by numbers: answers go to rows counted from the first.
TYPED_TEST(EmulatedSearch, PartsOfASelfSearchEqualTheWhole) {
  std::mt19937_64 random(7);
  auto request = random_request<TypeParam>(random, 700);
  while (!request->batch.is_self() || request->tree.geometry.points < 100) {
    request = random_request<TypeParam>(random, 700);
  }
  const auto points = static_cast<std::uint32_t>(request->tree.geometry.points);
  constexpr std::uint32_t kNeighbours = 4;
  std::vector<std::uint32_t> expected(points * kNeighbours);
  std::vector<TypeParam> expected_reduced(points * kNeighbours);
  request->on_cpu()->knn(request->batch, kNeighbours, {}, {.threads = 1}, expected.data(), expected_reduced.data(),
                         nullptr);
  const std::uint32_t first = points / 3, end = points - 5;
  std::vector<std::uint32_t> chosen(end - first + 1), indices((end - first) * kNeighbours, 0xdeadbeef);
  std::vector<TypeParam> reduced(indices.size());
  std::uint32_t count = 0;
  const auto tree = search_tree(request->tree);
  cuda::launch_choose_steps(tree, first, end, chosen.data(), &count, kLaunch);
  ASSERT_EQ(count, end - first);
  const cuda::KnnTask<TypeParam> task{
      {.metric = search_metric(*request),
       .filter = search_filter(request->batch.filter),
       .queries = {.count = end - first, .chosen = chosen.data(), .chosen_count = &count, .first = first},
       .k = kNeighbours,
       .bound = std::numeric_limits<TypeParam>::infinity(),
       .answer = {indices.data(), reduced.data()}},
      tree};
  cuda::launch_knn_steps(task, cuda::plan_knn(tree, end - first, kNeighbours, {}), nullptr, kLaunch);
  expect_same_bytes(indices, {expected.begin() + first * kNeighbours, expected.begin() + end * kNeighbours}, "index");
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
