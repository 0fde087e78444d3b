// Strings and sets searched by every engine on every device that is there, compared with plain definitions.
#include "support/expect_same.hpp"
#include "support/sequence_oracle.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/sequence_index.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kith::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Target {
  Device device;
  Engine engine;

  friend std::ostream& operator<<(std::ostream& out, const Target& target) {
    return out << name_of(target.engine) << " on " << target.device.name();
  }
};

class SequenceIndexOn : public testing::TestWithParam<Target> {
 protected:
  static SequenceIndex build(SequenceView sequences, SequenceMetric metric, std::uint32_t leaf_size = 4) {
    return SequenceIndex::build(sequences, metric,
                                {.engine = GetParam().engine, .device = GetParam().device, .leaf_size = leaf_size});
  }
};

std::vector<Target> targets() {
  std::vector<Target> all;
  for (const DeviceInfo& info : available_devices()) {
    for (const Engine engine : {Engine::brute_force, Engine::cover_tree}) {
      try {
        SequenceIndex::build(SequenceSet::from_text({"a"}), SequenceMetric::edit,
                             {.engine = engine, .device = info.device});
        all.push_back({info.device, engine});
      } catch (const UsageError&) {  // not every device has every engine
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Available, SequenceIndexOn, testing::ValuesIn(targets()), [](const auto& target) {
  const Device device = target.param.device;
  return std::string(name_of(target.param.engine)) +
         (device.kind() == Device::Kind::cpu ? std::string("_cpu") : "_cuda" + std::to_string(device.ordinal()));
});

void expect_right(const SequenceIndex& index, const SequenceCase& c) {
  const SequenceView queries = c.queries.view();
  SearchOptions within = c.options;
  within.max_distance = kInfinity;
  const SequenceRequest near = c.request(queries, c.options.max_distance), inside = c.request(queries, c.radius);
  expect_same(oracle_knn(near, c.k), c.is_self ? index.knn_self(c.k, c.options) : index.knn(queries, c.k, c.options));
  EXPECT_EQ(oracle_count(inside),
            c.is_self ? index.count_self(c.radius, within) : index.count(queries, c.radius, within));
  for (const std::uint32_t most : {0u, 3u}) {
    within.max_neighbors = most;
    expect_same(oracle_radius(inside, most),
                c.is_self ? index.radius_self(c.radius, within) : index.radius(queries, c.radius, within));
  }
}

/// Whether there are more different items than a GPU measures, which says so.
bool is_left_to_cpu(const SequenceCase& c, Device device) {
  if (device.kind() == Device::Kind::cpu || c.metric == SequenceMetric::jaccard) return false;
  const SequenceView all = c.points.view();
  const std::set<std::uint32_t> items(all.items(), all.items() + all.item_count());
  return items.size() > 255;
}

TEST_P(SequenceIndexOn, EachQueryMayHaveItsOwnRadiusAndItsOwnRange) {
  const SequenceSet words = SequenceSet::from_text({"cat", "cart", "carton", "dog", "dot", "cart", "do"});
  const SequenceSet queries = SequenceSet::from_text({"cat", "dog", "car"});
  const SequenceIndex index = build(words, SequenceMetric::edit);
  const std::vector<double> radii = {0, 2, 1};
  const NeighborLists lists = index.radius(queries, radii);
  EXPECT_EQ(index.count(queries, radii), (std::vector<std::uint32_t>{1, 3, 3}));
  EXPECT_EQ(std::vector<std::uint32_t>(lists.indices().begin(), lists.indices().end()),
            (std::vector<std::uint32_t>{0, 3, 4, 6, 0, 1, 5}));
  const std::vector<std::uint32_t> below = {0, 4, 2};
  EXPECT_EQ(index.count(queries, radii, {.index_below = below}), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST_P(SequenceIndexOn, EqualsTheDefinitionOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(testing::Message() << "replay with SequenceCase(" << seed << ", 90)");
    const SequenceCase c(seed, 90);
    if (is_left_to_cpu(c, GetParam().device)) {
      EXPECT_PRED2(holds, thrown_message<UsageError>([&] { build(c.points, c.metric); }), "`device=cpu`");
      continue;
    }
    const SequenceIndex index = build(c.points, c.metric);
    EXPECT_EQ(index.first_violation(), "");
    expect_right(index, c);
    if (HasFailure()) return;
  }
}

TEST_P(SequenceIndexOn, KnownDistances) {
  const auto words = SequenceSet::from_text({"kitten", "sitting", "mitten", "", "naïve"});
  const Neighbors found = build(words, SequenceMetric::edit).knn(SequenceSet::from_text({"kitten", "naive", ""}), 5);
  EXPECT_EQ(std::vector<std::uint32_t>(found.indices().begin(), found.indices().begin() + 3),
            (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_EQ(found.distance(0, 2), 3);
  EXPECT_EQ(found.index(1, 0), 4u);
  EXPECT_EQ(found.distance(1, 0), 1) << "a letter is one, however many bytes it has";
  EXPECT_EQ(found.index(2, 0), 3u);
  EXPECT_EQ(found.distance(2, 1), 5);
  const auto bytes = SequenceSet::from_bytes({"naïve"});
  EXPECT_EQ(build(bytes, SequenceMetric::edit).knn(SequenceSet::from_bytes({"naive"}), 1).distance(0, 0), 2);
  const auto sets = SequenceSet::from_sets({{3, 1, 2, 3}, {}, {2, 9}});
  const Neighbors near = build(sets, SequenceMetric::jaccard).knn(SequenceSet::from_sets({{2}, {}}), 3);
  EXPECT_EQ(near.distance(0, 0), 0.5);
  EXPECT_EQ(near.distance(0, 1), static_cast<double>(2.0f / 3.0f));
  EXPECT_EQ(near.distance(0, 2), 1);
  EXPECT_EQ(near.index(1, 0), 1u);
  EXPECT_EQ(near.distance(1, 0), 0);
  EXPECT_EQ(build(SequenceSet::from_text({"abc", "abd"}), SequenceMetric::hamming).count_self(0),
            (std::vector<std::uint32_t>{1, 1}));
}

TEST_P(SequenceIndexOn, EqualSequencesComeByTheirNumbers) {
  SequenceSet words(SequenceKind::text);
  for (int i = 0; i < 700; ++i) words.add("same");
  const SequenceIndex index = build(words, SequenceMetric::edit);
  const Neighbors found = index.knn_self(5, {.exclude_self = true});
  for (const std::uint64_t q : {0, 3, 4, 699}) {
    for (std::uint32_t j = 0; j < 5; ++j) EXPECT_EQ(found.index(q, j), q <= j ? j + 1 : j) << q;
  }
  EXPECT_EQ(index.count_self(0), std::vector<std::uint32_t>(700, 700u));
}

TEST_P(SequenceIndexOn, NoneAndOne) {
  for (const SequenceMetric metric : {SequenceMetric::edit, SequenceMetric::hamming, SequenceMetric::jaccard}) {
    const SequenceKind kind = metric == SequenceMetric::jaccard ? SequenceKind::sets : SequenceKind::numbers;
    SequenceSet none(kind), one(kind);
    one.add(std::vector<std::uint32_t>{7});
    const Neighbors missing = build(none, metric).knn(one, 2);
    EXPECT_EQ(missing.index(0, 0), 0u);
    EXPECT_EQ(missing.distance(0, 1), kInfinity);
    EXPECT_EQ(build(none, metric).knn_self(3).queries(), 0u);
    EXPECT_EQ(build(one, metric).knn(none, 3).queries(), 0u);
    EXPECT_EQ(build(one, metric).knn_self(1).index(0, 0), 0u);
    EXPECT_EQ(build(one, metric).knn_self(0).indices().size(), 0u);
    EXPECT_EQ(build(one, metric).count_self(kInfinity), std::vector<std::uint32_t>{1});
  }
}

TEST_P(SequenceIndexOn, EpsKeepsItsPromise) {
  std::mt19937_64 random(5);
  const SequenceSet points = random_sequences(SequenceMetric::edit, 400, 10, 5, random);
  const SequenceSet queries = random_sequences(SequenceMetric::edit, 60, 10, 5, random);
  const SequenceIndex index = build(points, SequenceMetric::edit);
  const Neighbors exact = index.knn(queries, 4), loose = index.knn(queries, 4, {.eps = 0.5});
  for (std::uint64_t q = 0; q < 60; ++q) {
    for (std::uint32_t j = 0; j < 4; ++j) {
      EXPECT_LE(loose.distance(q, j), 1.5 * exact.distance(q, j));
      EXPECT_TRUE(!loose.is_exact(q) || loose.index(q, j) == exact.index(q, j)) << q;
    }
  }
}

TEST(SequenceIndex, AutomaticTakesTheTreeUnlessThereAreFew) {
  SequenceSet words(SequenceKind::text);
  for (int i = 0; i < 999; ++i) words.add(std::to_string(i * 7919));
  EXPECT_EQ(SequenceIndex::build(words, SequenceMetric::edit).engine(), Engine::brute_force);
  words.add("1000");
  const SequenceIndex index = SequenceIndex::build(words, SequenceMetric::edit);
  EXPECT_EQ(index.engine(), Engine::cover_tree);
  const auto engine_for = [&](std::uint64_t queries) {
    return SequenceIndex::build(words, SequenceMetric::edit, {.expected_queries = queries}).engine();
  };
  EXPECT_EQ(engine_for(10), Engine::brute_force);
  EXPECT_EQ(engine_for(500), Engine::cover_tree);
  EXPECT_EQ(index.device(), Device::cpu());
  EXPECT_EQ(index.size(), 1000u);
  EXPECT_EQ(index.kind(), SequenceKind::text);
  EXPECT_EQ(index.metric(), SequenceMetric::edit);
  EXPECT_GT(index.memory_bytes(), 4u * words.view().item_count());
  EXPECT_PRED2(holds, index.explain(), "cover tree");
  WorkTimes times;
  index.knn_self(3, {.times = &times});
  EXPECT_GT(times.evaluations, 1000u);
  EXPECT_LT(times.evaluations, 1000u * 1000u);
}

TEST(SequenceIndex, TheSameBytesWithAnyNumberOfThreads) {
  std::mt19937_64 random(3);
  const SequenceSet points = random_sequences(SequenceMetric::edit, 1500, 9, 4, random);
  const auto bytes_with = [&](int threads) {
    return SequenceIndex::build(points, SequenceMetric::edit, {.engine = Engine::cover_tree, .threads = threads})
        .to_bytes();
  };
  EXPECT_EQ(bytes_with(1), bytes_with(3));
}

TEST(SequenceIndex, AViewMayBeginAnywhere) {
  const auto words = SequenceSet::from_text({"aaaa", "bbb", "bb", "c"});
  const SequenceView tail(SequenceKind::text, words.view().items(), words.view().offsets() + 1, 3);
  const SequenceIndex index = SequenceIndex::build(tail, SequenceMetric::edit);
  EXPECT_EQ(index.sequences().sequence(0).size(), 3u);
  const Neighbors found = index.knn(tail, 1);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(found.index(i, 0), i);
}

TEST(SequenceIndex, WrongRequestsAreRefused) {
  const auto words = SequenceSet::from_text({"ab", "abc"});
  const auto sets = SequenceSet::from_sets({{1, 2}});
  const auto build = [](SequenceView view, SequenceMetric metric, BuildOptions options = {}) {
    return [view, metric, options] { SequenceIndex::build(view, metric, options); };
  };
  EXPECT_PRED2(holds, thrown_message<UsageError>(build(words, SequenceMetric::jaccard)), "jaccard is for sets");
  EXPECT_PRED2(holds, thrown_message<UsageError>(build(sets, SequenceMetric::edit)), "use jaccard");
  EXPECT_PRED2(holds, thrown_message<BadData>(build(words, SequenceMetric::hamming)), "row 1 (counted from 0) has 3");
  EXPECT_PRED2(holds, thrown_message<UsageError>(build(words, SequenceMetric::edit, {.engine = Engine::kd_tree})),
               "use auto, brute or covertree");
  EXPECT_PRED2(holds, thrown_message<UsageError>(build(words, SequenceMetric::edit, {.leaf_size = 2000})), "1024");
  EXPECT_PRED2(holds, thrown_message<UsageError>(build(words, SequenceMetric::edit, {.threads = -1})), "threads");
  EXPECT_PRED2(holds,
               thrown_message<BadData>(build(SequenceSet(SequenceKind::sets, {1, 1}, {0, 2}), SequenceMetric::jaccard)),
               "item 1: 1 after 1");
  EXPECT_PRED2(holds,
               thrown_message<BadData>(build(SequenceSet(SequenceKind::text, {0xD800}, {0, 1}), SequenceMetric::edit)),
               "not a code point");
  EXPECT_PRED2(holds,
               thrown_message<BadData>(build(SequenceSet(SequenceKind::bytes, {256}, {0, 1}), SequenceMetric::edit)),
               "not a byte");
  const std::uint64_t falling[] = {0, 3, 1};
  EXPECT_PRED2(holds,
               thrown_message<BadData>(
                   build(SequenceView(SequenceKind::numbers, words.view().items(), falling, 2), SequenceMetric::edit)),
               "ends before it begins");

  const SequenceIndex index = SequenceIndex::build(words, SequenceMetric::edit);
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { index.knn(SequenceSet::from_bytes({"a"}), 1); }),
               "sequences of bytes, but the index holds sequences of text");
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { index.knn(words, 1, {.exclude_self = true}); }), "exclude_self");
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { index.radius_self(-1); }), "radius");
  EXPECT_THROW(index.knn_self(1, {.eps = -1}), UsageError);
  const SequenceIndex same = SequenceIndex::build(SequenceSet::from_text({"ab", "cd"}), SequenceMetric::hamming);
  EXPECT_PRED2(holds, thrown_message<BadData>([&] { same.knn(words, 1); }), "queries: row 1 (counted from 0) has 3");
}

TEST(SequenceIndex, CanBeStopped) {
  std::mt19937_64 random(1);
  const SequenceSet points = random_sequences(SequenceMetric::edit, 4000, 12, 4, random);
  const SequenceIndex index = SequenceIndex::build(points, SequenceMetric::edit);
  EXPECT_THROW(index.knn_self(3, {.threads = 2, .progress = [](const Progress&) { return false; }}), Interrupted);
}

}  // namespace
}  // namespace kith::test
