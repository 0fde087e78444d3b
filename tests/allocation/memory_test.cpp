// What builds and searches take is what their plans say, and no more than a MemoryLimit allows: every byte that the
// process allocates is counted. The counting needs a C library that offers its allocator by other names, too.
#include "support/random_case.hpp"
#include "support/sanitized.hpp"

#include <kith/apps/classify.hpp>
#include <kith/apps/dedupe.hpp>
#include <kith/apps/tree_export.hpp>
#include <kith/apps/verify_tree.hpp>
#include <kith/bit_index.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/job_plan.hpp>
#include <kith/memory_limit.hpp>
#include <kith/sequence_index.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#if defined(__GLIBC__) && !KITH_TEST_SANITIZED
#define KITH_TEST_COUNTS 1
#include <malloc.h>

namespace {

std::atomic<std::int64_t> bytes_in_use{0}, most_in_use{0};

/// Of blocks on huge pages the system has more behind them, which is never touched: their sizes are noted.
constexpr std::size_t kHugePage = 2 << 20, kMostHuge = 64;
std::mutex huge_lock;
struct {
  void* block = nullptr;
  std::size_t bytes = 0;
} huge_blocks[kMostHuge];

void note_huge(void* block, std::size_t bytes) {
  const std::lock_guard guard(huge_lock);
  for (auto& noted : huge_blocks) {
    if (noted.block != nullptr) continue;
    noted.block = block;
    noted.bytes = bytes;
    return;
  }
}

/// `is_given_back`: a note of it ends.
std::int64_t size_of_block(void* block, bool is_given_back) {
  if (reinterpret_cast<std::uintptr_t>(block) % kHugePage == 0) {
    const std::lock_guard guard(huge_lock);
    for (auto& noted : huge_blocks) {
      if (noted.block != block) continue;
      if (is_given_back) noted.block = nullptr;
      return static_cast<std::int64_t>(noted.bytes);
    }
  }
  return static_cast<std::int64_t>(malloc_usable_size(block));
}

void* taken(void* block) {
  if (block == nullptr) return block;
  const std::int64_t bytes = size_of_block(block, false);
  const std::int64_t now = bytes_in_use.fetch_add(bytes) + bytes;
  for (std::int64_t most = most_in_use; now > most && !most_in_use.compare_exchange_weak(most, now);) {
  }
  return block;
}

void given_back(void* block) {
  if (block != nullptr) bytes_in_use -= size_of_block(block, true);
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t size) { return taken(__libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) { return taken(__libc_calloc(count, size)); }
void* realloc(void* block, std::size_t size) {
  given_back(block);
  void* moved = __libc_realloc(block, size);
  return moved == nullptr && size != 0 ? (taken(block), moved) : taken(moved);
}
void* memalign(std::size_t alignment, std::size_t size) {
  void* block = __libc_memalign(alignment, size);
  if (block != nullptr && alignment == kHugePage) note_huge(block, size);
  return taken(block);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  *block = memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}
void free(void* block) {
  given_back(block);
  __libc_free(block);
}
}
#else
#define KITH_TEST_COUNTS 0
namespace {
std::atomic<std::int64_t> bytes_in_use{0}, most_in_use{0};
}
#endif

namespace kith::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr int kThreads = 2;

/// The most that was in use while `work` ran, and what it has left, above what was before.
struct Taken {
  std::uint64_t peak = 0, kept = 0;
};
template <typename Work>
Taken taken_by(const Work& work) {
  const std::int64_t before = bytes_in_use;
  most_in_use = before;
  work();
  return {static_cast<std::uint64_t>(most_in_use - before), static_cast<std::uint64_t>(bytes_in_use - before)};
}

/// Within 5 %, and what threads and messages take.
void expect_about(std::uint64_t measured, std::uint64_t planned) {
  EXPECT_LE(measured, planned + kMiB / 4);
  EXPECT_GE(measured + kMiB / 4, planned * 95 / 100);
}

PointSet uniform_points(DType dtype, std::uint64_t rows, std::uint32_t dims, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return nasty_points(NastyShape::uniform, dtype, rows, dims, random);
}

class PlanAndMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (!KITH_TEST_COUNTS) GTEST_SKIP() << "allocations cannot be counted here";
    const PointSet points = uniform_points(DType::f32, 100000, 3, 1);  // what threads keep is there before it counts
    Index::build(points.view(), {.engine = Engine::kd_tree, .threads = kThreads}).knn_self(2, {.threads = kThreads});
  }
};

TEST_F(PlanAndMemory, AgreeForBuildsOfEachBuilder) {
  constexpr std::uint64_t kRows = 300001;
  const std::pair<Engine, Builder> builders[] = {{Engine::brute_force, Builder::automatic},
                                                 {Engine::kd_tree, Builder::histogram},
                                                 {Engine::kd_tree, Builder::presort},
                                                 {Engine::kd_tree, Builder::select},
                                                 {Engine::kd_tree, Builder::segsort}};
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const std::uint32_t dims : {1u, 2u, 3u, 5u, 8u, 16u}) {
      const PointSet points = uniform_points(dtype, kRows, dims, 2);
      for (const auto& [engine, builder] : builders) {
        SCOPED_TRACE(testing::Message() << name_of(engine) << ", " << name_of(builder) << ", " << name_of(dtype) << ", "
                                        << dims << " dims");
        const BuildOptions options{.engine = engine, .device = Device::cpu(), .builder = builder, .threads = kThreads};
        const BuildPlan plan = Index::plan(kRows, dims, dtype, options);
        std::optional<Index> index;
        const Taken taken = taken_by([&] { index = Index::build(points.view(), options); });
        expect_about(taken.peak, plan.peak_bytes);
        expect_about(taken.kept, plan.index_bytes);
        EXPECT_EQ(index->memory_bytes(), plan.index_bytes);
      }
    }
  }
}

TEST_F(PlanAndMemory, AgreeForSearches) {
  const std::tuple<Engine, std::uint64_t, std::uint64_t> jobs[] = {{Engine::kd_tree, 300000, 500000},
                                                                   {Engine::brute_force, 20000, 3000}};
  for (const auto& [engine, rows, asked] : jobs) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const std::uint32_t dims : {2u, 3u, 16u}) {
        if (engine == Engine::kd_tree && dims > 8) continue;  // it takes long
        SCOPED_TRACE(testing::Message() << name_of(engine) << ", " << name_of(dtype) << ", " << dims << " dims");
        const PointSet points = uniform_points(dtype, rows, dims, 3), queries = uniform_points(dtype, asked, dims, 4);
        const Index index = Index::build(points.view(), {.engine = engine, .device = Device::cpu()});
        const JobPlan plan = plan_job({.points = rows,
                                       .dims = dims,
                                       .dtype = dtype,
                                       .queries = asked,
                                       .engine = engine,
                                       .device = Device::cpu()});
        const Taken taken = taken_by([&] { index.knn(queries.view(), 8); });
        expect_about(index.memory_bytes() + taken.peak, plan.search_bytes);
      }
    }
  }
}

TEST_F(PlanAndMemory, OfACoverTreeIsAtMostThat) {
  const PointSet points = uniform_points(DType::f32, 20000, 8, 5);
  const BuildOptions options{.engine = Engine::cover_tree, .device = Device::cpu(), .threads = kThreads};
  const BuildPlan plan = Index::plan(20000, 8, DType::f32, options);
  std::optional<Index> index;
  const Taken taken = taken_by([&] { index = Index::build(points.view(), options); });
  EXPECT_LE(taken.peak, plan.peak_bytes + kMiB / 4);
  EXPECT_LE(index->memory_bytes(), plan.index_bytes);
  EXPECT_LE(taken.kept, index->memory_bytes() * 11 / 10 + kMiB / 4);
}

/// What an error says that is needed, the number behind "needs"; 0 if there is no error.
std::uint64_t needed_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const OutOfMemory& error) {
    const std::string message = error.what();
    return std::stoull(message.substr(message.find("needs ") + 6));
  }
  return 0;
}

class LimitedMemory : public PlanAndMemory {
 protected:
  /// `work` runs with as many bytes as it says it needs, takes no more, and is refused with one byte less.
  void expect_obeyed(const std::function<void()>& work, std::uint64_t held = 0) {
    std::uint64_t needed = 1;
    for (int steps = 0; steps < 20; ++steps) {  // what a later step needs is known only when the earlier ones are done
      const MemoryLimit limit(needed);
      const std::uint64_t more = needed_of(work);
      if (more == 0) break;
      ASSERT_GT(more, needed);
      needed = more;
    }
    ASSERT_GT(needed, 1u);
    {
      const MemoryLimit less(needed - 1);
      EXPECT_EQ(needed_of(work), needed);
    }
    const MemoryLimit limit(needed);
    const Taken taken = taken_by(work);
    EXPECT_LE(held + taken.peak, needed + kMiB / 2);
  }
};

TEST_F(LimitedMemory, IsObeyedByBuilds) {
  const PointSet points = uniform_points(DType::f32, 200000, 3, 6), few = uniform_points(DType::f32, 20000, 3, 7);
  for (const Engine engine : {Engine::brute_force, Engine::kd_tree, Engine::cover_tree}) {
    for (const Metric metric : {Metric::l2(), Metric::cosine()}) {
      SCOPED_TRACE(testing::Message() << name_of(engine) << ", " << metric.name());
      const PointView view = engine == Engine::cover_tree ? few.view() : points.view();
      expect_obeyed([&] {
        Index::build(view, {.engine = engine, .device = Device::cpu(), .metric = metric, .threads = kThreads});
      });
    }
  }
}

TEST_F(LimitedMemory, CountsWhatTheCallerHolds) {
  const PointSet points = uniform_points(DType::f32, 10000, 3, 6);
  const auto build = [&] { Index::build(points.view(), {.engine = Engine::kd_tree, .device = Device::cpu()}); };
  const std::uint64_t needed = Index::plan(10000, 3, DType::f32, {.engine = Engine::kd_tree}).peak_bytes;
  const MemoryLimit limit(needed + points.bytes());
  {
    const MemoryLimit held(0, points.bytes());
    EXPECT_NO_THROW(build());
    const MemoryLimit larger(needed * 10);  // the smaller one counts
    EXPECT_NO_THROW(build());
  }
  const MemoryLimit held(0, points.bytes() + 1);
  EXPECT_THROW(build(), OutOfMemory);
}

TEST_F(LimitedMemory, OfLimitsThatOverlapIsTheSmallestOpenOne) {
  const PointSet points = uniform_points(DType::f32, 1000, 3, 6);
  const auto is_allowed = [&] {
    return needed_of([&] { Index::build(points.view(), {.device = Device::cpu()}); }) == 0;
  };
  auto small = std::make_unique<MemoryLimit>(10), large = std::make_unique<MemoryLimit>(kMiB * 100);
  EXPECT_FALSE(is_allowed());
  small.reset();
  EXPECT_TRUE(is_allowed());
  small = std::make_unique<MemoryLimit>(10);
  large.reset();
  EXPECT_FALSE(is_allowed());
  small.reset();
  EXPECT_TRUE(is_allowed());
}

/// The tree that serves points next to zero sooner is left out if it is not allowed.
TEST_F(LimitedMemory, LeavesOutTheTreeOfTinyPoints) {
  PointSet points = uniform_points(DType::f32, 20000, 3, 15);
  for (float& x : points.values<float>()) x *= 1e-40f;
  const BuildOptions options{.engine = Engine::kd_tree, .device = Device::cpu(), .threads = kThreads};
  const BuildPlan plan = Index::plan(20000, 3, DType::f32, options);
  const Index whole = Index::build(points.view(), options);
  EXPECT_GT(whole.memory_bytes(), plan.index_bytes);
  std::optional<Index> index;
  {
    const MemoryLimit limit(plan.peak_bytes);
    EXPECT_LE(taken_by([&] { index = Index::build(points.view(), options); }).peak, plan.peak_bytes + kMiB / 2);
  }
  EXPECT_EQ(index->memory_bytes(), plan.index_bytes);
  const PointView queries(points.values<float>().data(), 100, 3);
  EXPECT_TRUE(std::ranges::equal(index->knn(queries, 4).indices(), whole.knn(queries, 4).indices()));
}

/// Searches of it that are not exact need the contract's tree, too.
TEST_F(LimitedMemory, IsObeyedByIndexesFromTrees) {
  const PointSet points = uniform_points(DType::f32, 100000, 8, 16);
  const apps::NodeTable table = apps::export_node_table(points.view(), {.split = SplitRule::cycle});
  const BuildOptions options{
      .engine = Engine::kd_tree, .device = Device::cpu(), .split = SplitRule::cycle, .threads = kThreads};
  expect_obeyed([&] { apps::verify_tree(table, points.view(), {.threads = kThreads}); });
  expect_obeyed([&] { Index::from_tree(table, points.view(), options); });

  const Index index = Index::from_tree(table, points.view(), options);
  const std::uint64_t held = index.memory_bytes();
  const PointView queries(points.values<float>().data(), 1000, 8);
  const auto search = [&] { index.knn(queries, 4, {.max_leaves = 8, .threads = kThreads}); };
  std::uint64_t needed = 0;
  {
    const MemoryLimit limit(held + kMiB);
    needed = needed_of(search);
    ASSERT_GT(needed, 2 * held);
  }
  {
    const MemoryLimit limit(needed - 1);
    EXPECT_GT(needed_of(search), 0u);
    EXPECT_EQ(index.memory_bytes(), held);
  }
  const MemoryLimit limit(needed);
  EXPECT_LE(held + taken_by(search).peak, needed + kMiB / 2);
  EXPECT_GE(index.memory_bytes(), 2 * held);
}

/// A tree with many queries, searched under a limit: in chunks as long as there is memory for answers.
TEST_F(LimitedMemory, OfSearchesMakesChunks) {
  const PointSet points = uniform_points(DType::f32, 50000, 3, 8), queries = uniform_points(DType::f32, 200000, 3, 9);
  const Index index = Index::build(points.view(), {.engine = Engine::kd_tree, .device = Device::cpu()});
  const SearchOptions options{.threads = kThreads};
  const std::uint64_t held = index.memory_bytes();
  const Neighbors expected = index.knn(queries.view(), 4, options);
  const auto expect_same = [&] {
    const Neighbors found = index.knn(queries.view(), 4, options);
    EXPECT_TRUE(std::ranges::equal(found.indices(), expected.indices()));
    EXPECT_TRUE(found.distances() == expected.distances());
  };
  expect_obeyed([&] { index.knn(queries.view(), 4, options); }, held);
  expect_obeyed([&] { index.to_bytes(); }, held);
  const std::uint64_t answers = 200000 * 4 * 8;
  for (const std::uint64_t more : {200000u, 1000000u, 3000000u, 10000000u}) {
    const MemoryLimit limit(held + answers + more);
    EXPECT_LE(taken_by(expect_same).peak, answers + more + kMiB / 2) << more;
  }

  const NeighborLists within = index.radius(queries.view(), 0.02, options);
  const std::vector<std::uint32_t> counts = index.count(queries.view(), 0.02, options);
  expect_obeyed([&] { index.radius(queries.view(), 0.02, options); }, held);
  expect_obeyed([&] { index.count(queries.view(), 0.02, options); }, held);
  const std::uint64_t lists = within.indices().size() * 8 + 200000 * 24;
  for (const std::uint64_t more : {1000000u, 3000000u, 100000000u}) {
    const MemoryLimit limit(held + lists + more);
    EXPECT_LE(taken_by([&] {
                const NeighborLists found = index.radius(queries.view(), 0.02, options);
                EXPECT_TRUE(std::ranges::equal(found.offsets(), within.offsets()));
                EXPECT_TRUE(std::ranges::equal(found.indices(), within.indices()));
                EXPECT_TRUE(found.distances() == within.distances());
                EXPECT_EQ(index.count(queries.view(), 0.02, options), counts);
              }).peak,
              lists + more + kMiB / 2);
  }
  expect_obeyed([&] { index.knn_self(4, options); }, held);
  expect_obeyed([&] { index.radius_self(0.02, options); }, held);

  const PointSet upper = [&] {
    PointSet corners = PointSet::copy_of(queries.view());
    for (float& x : corners.values<float>()) x += 0.03f;
    return corners;
  }();
  const PointLists inside = index.box(queries.view(), upper.view(), options);
  expect_obeyed(
      [&] {
        const PointLists found = index.box(queries.view(), upper.view(), options);
        EXPECT_TRUE(std::ranges::equal(found.indices(), inside.indices()));
      },
      held);
}

TEST_F(LimitedMemory, IsObeyedByBitsAndSequences) {
  std::mt19937_64 random(10);
  std::vector<std::uint8_t> bytes(20000 * 16);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  const BitView rows(bytes.data(), 20000, 128);
  std::vector<std::uint32_t> items(20000 * 8);
  std::vector<std::uint64_t> offsets(20001);
  for (std::uint32_t& item : items) item = static_cast<std::uint32_t>(random() % 26 + 'a');
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = 8 * i;
  const SequenceView words(SequenceKind::text, items.data(), offsets.data(), 20000);
  for (const Engine engine : {Engine::brute_force, Engine::cover_tree}) {
    SCOPED_TRACE(name_of(engine));
    const BuildOptions options{.engine = engine, .device = Device::cpu(), .threads = kThreads};
    expect_obeyed([&] { BitIndex::build(rows, options); });
    expect_obeyed([&] { SequenceIndex::build(words, SequenceMetric::hamming, options); });
    const BitIndex bits = BitIndex::build(rows, options);
    expect_obeyed([&] { bits.knn(BitView(bytes.data(), 500, 128), 5, {.threads = kThreads}); }, bits.memory_bytes());
    expect_obeyed([&] { bits.radius(BitView(bytes.data(), 500, 128), 40, {.threads = kThreads}); },
                  bits.memory_bytes());
  }
}

TEST_F(LimitedMemory, IsObeyedByWorkOnPoints) {
  const PointSet points = uniform_points(DType::f32, 100000, 3, 11);
  const std::vector<std::uint32_t> labels(100000, 1);
  const PointSet queries = uniform_points(DType::f32, 20000, 3, 12);
  for (const std::uint32_t dims : {3u, 12u}) {
    const PointSet some = uniform_points(DType::f32, 50000, dims, 13);
    expect_obeyed([&] { apps::export_in_order(some.view(), {.threads = kThreads}); });
    expect_obeyed([&] { apps::export_node_table(some.view(), {.unique = true, .threads = kThreads}); });
  }
  expect_obeyed([&] { apps::dedupe(points.view(), {.threads = kThreads}); });
  const auto runs_below = [&](std::uint64_t bytes, const std::function<void()>& work) {
    {
      const MemoryLimit limit(bytes);
      EXPECT_LE(taken_by(work).peak, bytes + kMiB / 2);
    }
    const MemoryLimit limit(bytes / 20);
    EXPECT_GT(needed_of(work), bytes / 20);
  };
  runs_below(20 << 20, [&] { apps::dedupe(points.view(), {.tolerance = 0.005, .threads = kThreads}); });
  apps::ClassifyOptions classify;
  classify.threads = kThreads;
  runs_below(8 << 20, [&] { apps::classify(points.view(), {labels, 2}, queries.view(), classify); });
  const apps::InOrderTree tree = apps::export_in_order(points.view());
  expect_obeyed([&] { apps::verify_tree(tree, points.view(), {.threads = kThreads}); });
}

}  // namespace
}  // namespace kith::test
