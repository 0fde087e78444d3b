// Builds, searches and loading can be stopped at any time: what lies between two looks for a stop is counted, not
// timed.
#include "runtime/progress_meter.hpp"
#include "support/engines.hpp"
#include "support/random_case.hpp"

#include <kith/bit_index.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/sequence_index.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

/// How often a call looks for a stop on one thread.
template <typename Call>
std::uint64_t looks_of(Call&& call) {
  const std::uint64_t before = runtime::looks_for_stop();
  call();
  return runtime::looks_for_stop() - before;
}

PointSet uniform(std::uint64_t rows, std::uint32_t dims) {
  std::mt19937_64 random(3);
  PointSet points(DType::f32, rows, dims);
  for (float& value : points.values<float>()) value = static_cast<float>(random() >> 40);
  return points;
}

SequenceSet random_words(std::size_t count, std::size_t length, unsigned letters) {
  std::mt19937_64 random(4);
  std::vector<std::string> words(count);
  for (std::string& word : words) {
    const std::size_t own = length / 2 + random() % length;
    for (std::size_t i = 0; i < own; ++i) word += static_cast<char>('a' + random() % letters);
  }
  const std::vector<std::string_view> views(words.begin(), words.end());
  return SequenceSet::from_text(views);
}

const ProgressCallback kStop = [](const Progress&) { return false; };

TEST(Interrupt, KdTreeBuildsLookOnTheWay) {
  // Few passes over half a million points lie between two looks, whatever the dims.
  for (const std::uint32_t dims : {3u, 16u}) {
    const PointSet points = uniform(std::uint64_t{3} << 19, dims);
    const BuildOptions options{.engine = Engine::kd_tree, .threads = 1};
    EXPECT_GE(looks_of([&] { Index::build(points.view(), options); }), 200u) << dims;
  }
}

TEST(Interrupt, CoverTreeBuildsOfVectorsLookOnTheWay) {
  const PointSet points = uniform(20000, 8);
  const BuildOptions options{.engine = Engine::cover_tree, .threads = 1};
  EXPECT_GE(looks_of([&] { Index::build(points.view(), options); }), 5000u);
}

TEST(Interrupt, CoverTreeBuildsOfWordsLookOnTheWay) {
  const SequenceSet words = random_words(5000, 8, 26);
  const BuildOptions options{.engine = Engine::cover_tree, .threads = 1};
  EXPECT_GE(looks_of([&] { SequenceIndex::build(words.view(), SequenceMetric::edit, options); }), 2000u);
}

TEST(Interrupt, LongStringsLookWithinOneDistance) {
  const SequenceSet words = random_words(2, 40000, 4);
  const BuildOptions options{.engine = Engine::brute_force, .threads = 1};
  const SequenceIndex index = SequenceIndex::build(words.view(), SequenceMetric::edit, options);
  EXPECT_GE(looks_of([&] { index.knn(words.view(), 2, {.threads = 1}); }), 20u);
}

TEST(Interrupt, EveryCallStopsWhenItIsTold) {
  const PointSet points = uniform(20000, 3);
  for (const EngineOnDevice& engine : available_engines()) {
    if (engine.device != Device::cpu()) continue;
    BuildOptions build{.engine = engine.engine, .device = engine.device};
    const Index index = Index::build(points.view(), build);
    build.progress = kStop;
    EXPECT_THROW(Index::build(points.view(), build), Interrupted);
    const SearchOptions search{.progress = kStop};
    EXPECT_THROW(index.knn(points.view(), 3, search), Interrupted);
    EXPECT_THROW(index.radius_self(1e5, search), Interrupted);
    EXPECT_THROW(index.count_self(1e5, search), Interrupted);
    LoadOptions load;
    load.progress = kStop;
    EXPECT_THROW(Index::from_bytes(index.to_bytes(), load), Interrupted);
  }
}

}  // namespace
}  // namespace kith::test
