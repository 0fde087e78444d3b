// What a job will take is what it takes, on devices that are there and on cards that are not.
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/job_plan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace kith::test {
namespace {

constexpr std::uint64_t kMostPoints = 0xFFFFFFFEull;

JobPlan on_card(std::string_view card, JobRequest request) {
  request.card = &card_named(card);
  return plan_job(request);
}

JobPlan on_cpu(JobRequest request) {
  request.device = Device::cpu();
  return plan_job(request);
}

TEST(KnownCards, HaveNamesOfTheirOwnAndAllFacts) {
  std::set<std::string_view> names;
  for (const GpuCard& card : known_cards()) {
    SCOPED_TRACE(card.name);
    EXPECT_TRUE(names.insert(card.name).second);
    EXPECT_EQ(&card_named(card.name), &card);
    EXPECT_GE(card.memory_bytes, std::uint64_t{8} << 30);
    EXPECT_GT(card.gigabytes_per_second, 0);
    EXPECT_GE(card.compute_capability, 75);
    EXPECT_GE(card.shared_bytes, 64u << 10);
  }
  EXPECT_EQ(card_named("rtx4090").name, "RTX 4090");
  EXPECT_EQ(card_named("a100 80").name, "A100-80");
}

TEST(KnownCards, UnknownOnesGetTheList) {
  const std::string message = thrown_message<UsageError>([] { card_named("Voodoo 2"); });
  EXPECT_PRED2(holds, message, "Voodoo 2");
  for (const GpuCard& card : known_cards()) EXPECT_PRED2(holds, message, std::string(card.name));
  EXPECT_THROW(card_named(""), UsageError);
}

TEST(JobPlan, OnTheCpuSaysWhatTheBuildSays) {
  for (const Engine engine : {Engine::brute_force, Engine::kd_tree, Engine::cover_tree}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      SCOPED_TRACE(testing::Message() << name_of(engine) << ", " << name_of(dtype));
      const JobPlan job = on_cpu({.points = 30000, .dims = 4, .dtype = dtype, .queries = 500, .engine = engine});
      const BuildPlan build = Index::plan(30000, 4, dtype, {.engine = engine});
      EXPECT_EQ(job.engine, engine);
      EXPECT_EQ(job.device, "cpu");
      EXPECT_EQ(job.index_bytes, build.index_bytes);
      EXPECT_EQ(job.build_bytes, build.peak_bytes);
      EXPECT_GE(job.search_bytes, build.index_bytes + 500 * 8 * (4 + size_of(dtype)));
      EXPECT_EQ(job.host_bytes, 30500 * 4 * size_of(dtype) + std::max(job.build_bytes, job.search_bytes));
      EXPECT_EQ(job.needed_bytes, job.host_bytes);
      EXPECT_EQ(job.parts, 1);
      EXPECT_EQ(job.chunks, 1);
    }
  }
}

// MemoryPlan.IsWhatBuildsTake compares such plans with what a GPU counts.
TEST(JobPlan, OnACardSaysWhatBuildsTakeThere) {
  const auto peak = [](std::uint64_t points, std::uint32_t dims, DType dtype) {
    return on_card("H200", {.points = points, .dims = dims, .dtype = dtype, .engine = Engine::kd_tree}).build_bytes;
  };
  EXPECT_LE(peak(1 << 24, 3, DType::f32),
            std::uint64_t{36} << 24);  // the goal: the tree and a second copy of the points
  EXPECT_EQ(peak(100000000, 3, DType::f32), 3460981854);
  EXPECT_EQ(peak(16777216, 4, DType::f32), 712131702);
  EXPECT_EQ(peak(16777216, 8, DType::f32), 1307268822);
  EXPECT_EQ(peak(16777216, 3, DType::f64), 1210500514);
}

/// Lists of neighbours take 1 KB per object if there is so much, and what there is if it suffices.
TEST(JobPlan, CoverTreesTakeWhatIsFree) {
  JobRequest request{.points = 1000000, .engine = Engine::cover_tree};
  const JobPlan plenty = on_card("H200", request);
  request.builder = Builder::lists;
  const JobPlan least = on_card("H200", request);
  EXPECT_EQ(plenty.index_bytes, least.index_bytes);
  EXPECT_EQ(plenty.needed_bytes, least.build_bytes);
  EXPECT_NEAR(static_cast<double>(plenty.build_bytes - least.build_bytes), 1024.0 * 1000000, 4096);
  request.builder = Builder::automatic;
  for (std::uint64_t memory = plenty.build_bytes * 2; memory >= least.build_bytes; memory = memory / 20 * 19) {
    request.memory_bytes = memory;
    const JobPlan plan = on_card("H200", request);
    EXPECT_EQ(plan.parts, 1);
    EXPECT_LE(plan.build_bytes, memory);
    EXPECT_GE(plan.build_bytes, std::min(plenty.build_bytes, memory / 20 * 18));
  }
}

TEST(JobPlan, KnowsTheBuilder) {
  JobRequest request{.points = 16777216, .dims = 4, .engine = Engine::kd_tree};
  const JobPlan usual = on_card("H200", request);
  request.builder = Builder::presort;
  const JobPlan sorted = on_card("H200", request);
  EXPECT_EQ(sorted.index_bytes, usual.index_bytes);
  // A number per point and dimension; what sorts take for a while.
  EXPECT_GT(sorted.build_bytes, usual.build_bytes);
  EXPECT_LT(sorted.build_bytes, usual.build_bytes + request.points * 4 * 5);
  EXPECT_PRED2(holds, sorted.reason, "builder presort");
  EXPECT_TRUE(usual.build_ms.has_value());
  EXPECT_FALSE(sorted.build_ms.has_value());
  for (const Builder builder : {Builder::select, Builder::segsort}) {  // two numbers per point
    request.builder = builder;
    EXPECT_LT(on_card("H200", request).build_bytes, sorted.build_bytes);
    EXPECT_GT(on_card("H200", request).build_bytes, usual.index_bytes + request.points * 8);
  }
  request.engine = Engine::automatic;
  EXPECT_THROW(on_card("H200", request), UsageError);
}

TEST(JobPlan, OnAGpuSaysWhatTheBuildSays) {
  if (available_devices().size() < 2) GTEST_SKIP() << "no GPU is here";
  for (const Engine engine : {Engine::brute_force, Engine::kd_tree, Engine::cover_tree}) {
    const BuildPlan build = Index::plan(50000, 6, DType::f32, {.engine = engine, .device = Device::cuda()});
    const JobPlan job = plan_job({.points = 50000, .dims = 6, .engine = engine, .device = Device::cuda()});
    EXPECT_EQ(job.index_bytes, build.index_bytes) << name_of(engine);
    if (available_devices()[1].gpu->has_full_plan) {
      EXPECT_EQ(job.build_bytes, build.peak_bytes) << name_of(engine);
    }
  }
}

TEST(JobPlan, CutsQueriesIntoChunksThatAGpuTakes) {
  const JobPlan plan = on_card("H200", {.points = 1000000, .queries = 100000000});
  // 3 coordinates, a place in the order and 8 neighbours of 8 bytes, and 9 while they are searched; 256 MiB a chunk.
  EXPECT_EQ(plan.chunks, (100000000ull * 89 + (256 << 20) - 1) / (256 << 20));
  // Two are in flight; one is searched, with 16 bytes for each point, 8 for each query and a word for each 224.
  const std::uint64_t queries = plan.queries_per_chunk;
  EXPECT_EQ(plan.search_bytes,
            plan.index_bytes + 2 * queries * 80 + 1000004 * 16 + queries * 8 + (queries / 224 + 4) * 4);
  // In 6 dims queries are only ordered, by a count for each leaf, and sums.
  const JobPlan wide = on_card("H200", {.points = 1 << 20, .dims = 6, .queries = 100000, .engine = Engine::kd_tree});
  const std::uint64_t leaves = (1 << 20) / 64;
  EXPECT_EQ(wide.search_bytes, wide.index_bytes + 100000 * (24 + 4 + 64) + (leaves + leaves / 2048 + 2 + 100000) * 4);
  EXPECT_EQ(on_card("H200", {.points = 1000000}).chunks, 1);  // the points themselves at once
}

TEST(JobPlan, NeedsPartsWhereMemoryIsShort) {
  const JobRequest request{.points = 1000000000, .queries = 1000};
  const JobPlan whole = on_card("H200", request), parts = on_card("T4", request);
  EXPECT_EQ(whole.parts, 1);
  EXPECT_EQ(parts.needed_bytes, parts.parts == 1 ? 0 : on_card("T4", {.points = 1000000000}).needed_bytes);
  EXPECT_GT(parts.needed_bytes, parts.memory_bytes);
  EXPECT_GT(parts.parts, 1);
  EXPECT_FALSE(parts.is_cut_by_kith);
  EXPECT_GE(parts.parts * parts.points_per_part, request.points);
  EXPECT_LE(parts.build_bytes, parts.memory_bytes);
  JobRequest enough = request;
  enough.memory_bytes = parts.needed_bytes;
  EXPECT_EQ(on_card("T4", enough).parts, 1);
  enough.memory_bytes -= 1;
  EXPECT_EQ(on_card("T4", enough).parts, 2);

  JobRequest brute = request;
  brute.engine = Engine::brute_force;
  brute.memory_bytes = std::uint64_t{1} << 30;
  const JobPlan cut = on_card("T4", brute);
  EXPECT_TRUE(cut.is_cut_by_kith);
  EXPECT_EQ(cut.points_per_part % 64, 0);
  EXPECT_LE(cut.search_bytes, brute.memory_bytes);
}

TEST(JobPlan, FitsIntoTheMemoryThatIsGiven) {
  JobRequest request{.points = 10000000, .queries = 20000000, .engine = Engine::kd_tree};
  const std::uint64_t needed = on_cpu(request).needed_bytes;
  for (std::uint64_t memory = needed; memory > 10000; memory = memory * 2 / 3) {
    request.memory_bytes = memory;
    const JobPlan plan = on_cpu(request);
    EXPECT_LE(plan.host_bytes, memory);
    EXPECT_GE(plan.parts * plan.points_per_part, request.points);
    EXPECT_GE(plan.chunks * plan.queries_per_chunk, *request.queries);
    EXPECT_EQ(plan.parts == 1 && plan.chunks == 1, memory == needed);
  }
  request.memory_bytes = 10;
  EXPECT_EQ(on_cpu(request).parts, 0);
  EXPECT_EQ(on_cpu(request).needed_bytes, needed);
}

TEST(JobPlan, SearchesThePointsThemselvesAtOnceIfTheyFit) {
  JobRequest request{.points = 2000000, .engine = Engine::kd_tree};
  request.memory_bytes = on_cpu(request).needed_bytes;
  EXPECT_EQ(on_cpu(request).chunks, 1);
  request.memory_bytes -= 1;
  EXPECT_EQ(on_cpu(request).chunks, 2);
}

TEST(JobPlan, TakesMorePointsThanAnIndexHolds) {
  const JobPlan most = on_card("B200", {.points = kMostPoints, .dims = 1, .queries = 0});
  EXPECT_EQ(most.parts, 1);
  const JobPlan more = on_card("B200", {.points = kMostPoints + 1, .dims = 1, .queries = 0});
  EXPECT_EQ(more.parts, 2);
  EXPECT_EQ(more.points_per_part, kMostPoints / 2 + 1);
  EXPECT_EQ(more.chunks, 0);
  EXPECT_THROW(plan_job({.points = 1, .dims = 5000}), UsageError);
}

TEST(JobPlan, EstimatesTimesOfWhatWasMeasuredOnly) {
  const JobPlan h200 = on_card("H200", {.points = 100000000, .queries = 10000000});
  EXPECT_DOUBLE_EQ(h200.build_ms.value(), 13.8926);
  EXPECT_DOUBLE_EQ(h200.search_ms.value(), 6.0943);
  const JobPlan a100 = on_card("A100-80", {.points = 100000000, .queries = 10000000});
  EXPECT_DOUBLE_EQ(a100.build_ms.value(), 13.8926 * 4800 / 2039);
  const double between = on_card("H200", {.points = 100000000, .k = 20, .queries = 10000000}).search_ms.value();
  EXPECT_GT(between, 6.0943);
  EXPECT_LT(between, 11.4319);
  EXPECT_FALSE(on_card("H200", {.points = 1000000, .k = 5000}).search_ms);
  EXPECT_FALSE(on_card("H200", {.points = 1000000, .dims = 7, .engine = Engine::kd_tree}).build_ms);
  EXPECT_FALSE(on_card("H200", {.points = 1000000, .engine = Engine::cover_tree}).build_ms);
  EXPECT_FALSE(on_card("H200", {.points = 1000000, .queries = 0}).search_ms);
  // Pairs, also in parts.
  JobRequest brute{.points = 1000000, .dims = 16, .k = 10, .queries = 100000, .engine = Engine::brute_force};
  EXPECT_DOUBLE_EQ(on_card("H200", brute).search_ms.value(), 12.8878);
}

}  // namespace
}  // namespace kith::test
