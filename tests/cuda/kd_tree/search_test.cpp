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

}  // namespace
}  // namespace kith::test
