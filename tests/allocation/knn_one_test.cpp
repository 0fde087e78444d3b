// One query at a time allocates no memory. A program of its own, because it replaces operator new for all of it.
#include "support/engines.hpp"
#include "support/random_case.hpp"

#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

std::atomic<std::uint64_t> allocations{0};

void* counted_or_null(std::size_t size, std::size_t alignment = 0) {
  ++allocations;
  return alignment == 0 ? std::malloc(size)
                        : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* counted(std::size_t size, std::size_t alignment = 0) {
  void* block = counted_or_null(size, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

/// Not inlined: a compiler that sees free() beside a call of operator new takes them for a mismatch.
[[gnu::noinline]] void release(void* block) noexcept { std::free(block); }

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted_or_null(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted_or_null(size); }
void operator delete(void* block) noexcept { release(block); }
void operator delete[](void* block) noexcept { release(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { release(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete[](void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete[](void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { release(block); }

namespace kith::test {
namespace {

class Allocation : public testing::TestWithParam<EngineOnDevice> {};

template <typename T>
std::uint64_t allocations_of_queries(const Index& index, const PointSet& queries, std::uint32_t k,
                                     const SearchOptions& options) {
  std::vector<std::uint32_t> indices(k);
  std::vector<T> distances(k);
  // The first request of all may bring the index to the host.
  index.knn_one(std::span(queries.view().row<T>(0), queries.dims()), indices, distances, options);
  const std::uint64_t before = allocations;
  for (std::uint64_t q = 0; q < queries.rows(); ++q) {
    index.knn_one(std::span(queries.view().row<T>(q), queries.dims()), indices, distances, options);
  }
  return allocations - before;
}

TEST_P(Allocation, OneQueryAtATimeNeedsNone) {
  std::mt19937_64 random(5);
  const bool with_periods = knows_periods(GetParam());
  for (const std::uint32_t dims : {1u, 3u, 8u, 40u}) {
    const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 700, dims, random);
    const PointSet queries = nasty_points(NastyShape::uniform, DType::f32, 5, dims, random);
    const PointSet wide_points = nasty_points(NastyShape::clusters, DType::f64, 700, dims, random);
    const PointSet wide_queries = nasty_points(NastyShape::clusters, DType::f64, 5, dims, random);
    std::vector<std::uint64_t> allowed((700 + 63) / 64);
    for (std::uint64_t& word : allowed) word = random();
    const std::uint32_t below[] = {500};
    for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::lp(3), Metric::cosine()}) {
      if (!knows_metric(GetParam(), metric)) continue;
      BuildOptions build{.engine = GetParam().engine, .device = GetParam().device, .metric = metric};
      const Index index = Index::build(points.view(), build);
      const Index wide_index = Index::build(wide_points.view(), build);
      for (const std::uint32_t k : {1u, 8u, 16u, 17u, 64u, 65u, 500u, 800u}) {
        for (const SearchOptions& options :
             {SearchOptions{}, SearchOptions{.max_distance = 0.2},
              SearchOptions{.eps = 0.1, .max_leaves = 5, .allowed = allowed, .index_below = below}}) {
          EXPECT_EQ(allocations_of_queries<float>(index, queries, k, options), 0u)
              << metric.name() << ", k " << k << ", dims " << dims;
          EXPECT_EQ(allocations_of_queries<double>(wide_index, wide_queries, k, options), 0u)
              << metric.name() << ", k " << k << ", dims " << dims;
        }
      }
    }
    if (GetParam().engine == Engine::brute_force) {
      const Index products = Index::build(
          points.view(), {.engine = GetParam().engine, .device = GetParam().device, .metric = Metric::inner_product()});
      for (const std::uint32_t k : {1u, 17u, 500u}) {
        EXPECT_EQ(allocations_of_queries<float>(products, queries, k, {.allowed = allowed}), 0u) << "k " << k;
      }
    }
    if (!with_periods) continue;
    const Index torus = Index::build(
        points.view(),
        {.engine = GetParam().engine, .device = GetParam().device, .period = std::vector<double>(dims, 1.0)});
    EXPECT_EQ(allocations_of_queries<float>(torus, queries, 8, {}), 0u);
  }
}

TEST(AllocationCounter, Counts) {
  const std::uint64_t before = allocations;
  const std::vector<int> some(100);
  EXPECT_EQ(allocations, before + 1);
}

INSTANTIATE_TEST_SUITE_P(Available, Allocation, testing::ValuesIn(available_engines()));

}  // namespace
}  // namespace kith::test
