// Labels by votes of neighbours, all at once and one after the other, against plain loops.
#include <kith/apps/classify.hpp>

#include "support/classify_oracle.hpp"
#include "support/engines.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/point_set.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace kith::apps {
namespace {

using test::available_engines;
using test::EngineOnDevice;
using Codes = std::vector<std::uint32_t>;

/// A classification with everything random.
struct VoteCase {
  PointSet points, queries;
  Codes codes;
  std::uint32_t classes = 1;
  ClassifyOptions options;
  std::string text;

  LabelView labels() const { return {codes, classes}; }
};

std::uint64_t among(std::mt19937_64& random, std::uint64_t least, std::uint64_t most) {
  return least + random() % (most - least + 1);
}

/// Small: some ten thousand pairs at most. Grids and few values give ties of distances, few classes ties of votes.
VoteCase vote_case(std::uint64_t seed, bool is_sequential) {
  std::mt19937_64 random(seed * 2 + (is_sequential ? 1 : 0));
  VoteCase c;
  const std::uint64_t most_rows = seed % 8 == 0 ? 250 : 60;
  const std::uint64_t points = among(random, 1, seed % 5 == 0 ? 4 : most_rows);
  const std::uint64_t queries = seed % 11 == 0 ? 0 : among(random, 1, most_rows);
  const auto dims = static_cast<std::uint32_t>(seed % 7 == 0 ? among(random, 1, 300) : among(random, 1, 6));
  const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
  const auto count_of_shapes = static_cast<std::uint64_t>(test::NastyShape::count_of_shapes);
  auto shape = static_cast<test::NastyShape>(random() % count_of_shapes);
  if (random() % 3 == 0) shape = test::NastyShape::grid;
  const Metric metrics[] = {Metric::l2(),     Metric::l2(),      Metric::l1(),    Metric::linf(),
                            Metric::cosine(), Metric::angular(), Metric::lp(3.0), Metric::inner_product()};
  c.options.metric = metrics[random() % std::size(metrics)];
  if (c.options.metric.is_of_directions()) shape = test::NastyShape::uniform;
  c.points = test::nasty_points(shape, dtype, points, dims, random);
  c.queries = test::nasty_points(shape, dtype, queries, dims, random);
  const std::uint64_t most_k = points + (is_sequential && queries > 0 ? queries - 1 : 0);
  c.options.k = static_cast<std::uint32_t>(among(random, 1, std::min<std::uint64_t>(50, most_k)));
  c.classes = static_cast<std::uint32_t>(random() % 3 == 0 ? among(random, 1, 1000) : among(random, 1, 4));
  for (std::uint64_t i = 0; i < points; ++i) c.codes.push_back(static_cast<std::uint32_t>(random() % c.classes));
  const bool has_distances = c.options.metric.kind() != Metric::Kind::inner_product;
  c.options.weights = has_distances && random() % 2 == 0 ? Weights::distance : Weights::uniform;
  c.options.ties = static_cast<Ties>(random() % 3);
  c.options.want_shares = random() % 2 == 0;
  c.options.threads = static_cast<int>(among(random, 1, 3));
  c.text = "seed " + std::to_string(seed) + ": " + std::to_string(points) + " points, " + std::to_string(queries) +
           " queries, " + std::to_string(dims) + " dims, k " + std::to_string(c.options.k) + ", " +
           std::to_string(c.classes) + " classes, " + c.options.metric.name() + ", " +
           std::string(name_of(c.options.weights)) + ", ties " + std::string(name_of(c.options.ties));
  return c;
}

/// All engines that know the metric and give the same bytes, and the choice of `automatic`.
std::vector<EngineOnDevice> engines_for(Metric metric) {
  static const std::vector<EngineOnDevice> all = available_engines();
  std::vector<EngineOnDevice> fit = {{Engine::automatic, Device::cpu()}};
  for (const EngineOnDevice& where : all) {
    const bool is_for_all = metric.kind() != Metric::Kind::inner_product || where.engine == Engine::brute_force;
    if (is_for_all && test::knows_metric(where, metric)) fit.push_back(where);
  }
  return fit;
}

void expect_equal(const Classified& expected, const Classified& found) {
  EXPECT_EQ(expected.labels, found.labels);
  EXPECT_EQ(expected.shares, found.shares);
  EXPECT_EQ(expected.depth, found.depth);
}

TEST(Classify, AsThePlainLoopOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    VoteCase c = vote_case(seed, false);
    SCOPED_TRACE(c.text);
    const Classified expected = test::oracle_classify(c.points.view(), c.labels(), c.queries.view(), c.options);
    for (const EngineOnDevice& where : engines_for(c.options.metric)) {
      SCOPED_TRACE(testing::Message() << where);
      c.options.engine = where.engine;
      c.options.device = where.device;
      expect_equal(expected, classify(c.points.view(), c.labels(), c.queries.view(), c.options));
    }
    if (HasFailure()) return;
  }
}

TEST(ClassifySequential, AsThePlainLoopOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    VoteCase c = vote_case(seed, true);
    SCOPED_TRACE(c.text);
    const Classified expected = test::oracle_sequential(c.points.view(), c.labels(), c.queries.view(), c.options);
    for (const EngineOnDevice& where : engines_for(c.options.metric)) {
      SCOPED_TRACE(testing::Message() << where);
      c.options.engine = where.engine;
      c.options.device = where.device;
      const Classified found = classify_sequential(c.points.view(), c.labels(), c.queries.view(), c.options);
      expect_equal(expected, found);
      EXPECT_EQ(found.rounds, c.queries.rows() == 0 ? 0u : 1u);
    }
    if (HasFailure()) return;
  }
}

TEST(Classify, ATieGoesToTheLabelThatComesFirst) {
  const std::vector<double> points = {1, 2, 3, 4, 5, 6};
  const Codes codes = {2, 0, 1, 1, 0, 2};
  const std::vector<double> queries = {0, 7};
  const PointView train(points.data(), 6, 1), test(queries.data(), 2, 1);
  const auto labels_with = [&](std::uint32_t k, Weights weights) {
    ClassifyOptions options;
    options.k = k;
    options.weights = weights;
    return classify(train, {codes, 3}, test, options).labels;
  };
  EXPECT_EQ(labels_with(2, Weights::uniform), (Codes{2, 2}));
  EXPECT_EQ(labels_with(4, Weights::uniform), (Codes{1, 1}));
  EXPECT_EQ(labels_with(6, Weights::uniform), (Codes{2, 2}));
  // 1 for the nearest, then 1/2, 1/3, 1/4: the nearest alone has more than both of the other label.
  EXPECT_EQ(labels_with(4, Weights::distance), (Codes{2, 2}));
}

TEST(Classify, ATieGoesToTheLowestOrHighestCode) {
  const std::vector<double> points = {1, 2, 3, 4, 5, 6};
  const Codes codes = {1, 2, 0, 0, 2, 1};
  const double query = 0;
  const auto label_with = [&](std::uint32_t k, Ties ties, bool want_shares) {
    ClassifyOptions options;
    options.k = k;
    options.ties = ties;
    options.want_shares = want_shares;  // counts by a tally
    return classify(PointView(points.data(), 6, 1), {codes, 3}, PointView(&query, 1, 1), options).labels[0];
  };
  for (const bool want_shares : {false, true}) {
    const auto label = [&](std::uint32_t k, Ties ties) { return label_with(k, ties, want_shares); };
    EXPECT_EQ(label(3, Ties::nearest), 1u);
    EXPECT_EQ(label(3, Ties::lowest), 0u);
    EXPECT_EQ(label(3, Ties::highest), 2u);
    EXPECT_EQ(label(4, Ties::highest), 0u);  // no tie
    EXPECT_EQ(label(5, Ties::lowest), 0u);   // 0 and 2 have two votes
    EXPECT_EQ(label(5, Ties::nearest), 2u);
    EXPECT_EQ(label(6, Ties::nearest), 1u);
  }
}

TEST(Classify, AtDistanceZeroOnlyThoseCount) {
  const std::vector<float> points = {5, 5, 5.5f, 5.5f, 5.5f};
  const Codes codes = {3, 1, 0, 0, 0};
  const float query = 5;
  ClassifyOptions options;
  options.k = 5;
  options.weights = Weights::distance;
  options.want_shares = true;
  const Classified found = classify(PointView(points.data(), 5, 1), {codes, 4}, PointView(&query, 1, 1), options);
  EXPECT_EQ(found.labels, (Codes{3}));
  EXPECT_EQ(found.shares, (std::vector<double>{0, 0.5, 0, 0.5}));
}

TEST(Classify, ManyNeighborsOfManyClasses) {
  std::mt19937_64 random(7);
  const PointSet points = test::nasty_points(test::NastyShape::uniform, DType::f32, 3000, 2, random);
  const PointSet queries = test::nasty_points(test::NastyShape::uniform, DType::f32, 5, 2, random);
  for (const std::uint32_t classes : {2u, 5000u, 1000000u, 0xffffffffu}) {
    SCOPED_TRACE(classes);
    Codes codes(points.rows());
    // Multiples of a number meet in many hash tables.
    for (std::uint32_t& code : codes) code = static_cast<std::uint32_t>(random() % 700 * 65536 % classes);
    codes[random() % codes.size()] = classes - 1;
    for (const std::uint32_t k : {17u, 500u, 3000u}) {
      for (const int rules : {0, 1, 2, 3, 4, 5}) {
        ClassifyOptions options;
        options.k = k;
        options.weights = static_cast<Weights>(rules % 2);
        options.ties = static_cast<Ties>(rules / 2);
        options.want_shares = classes <= 5000;
        expect_equal(test::oracle_classify(points.view(), {codes, classes}, queries.view(), options),
                     classify(points.view(), {codes, classes}, queries.view(), options));
      }
    }
  }
}

/// Lists of more neighbours than are kept at a time are searched for part by part.
TEST(Classify, AnswersOfPartsAreThoseOfTheWhole) {
  std::mt19937_64 random(8);
  const PointSet points = test::nasty_points(test::NastyShape::grid, DType::f32, 2500, 2, random);
  const PointSet queries = test::nasty_points(test::NastyShape::grid, DType::f32, 2100, 2, random);
  Codes codes(points.rows());
  for (std::uint32_t& code : codes) code = static_cast<std::uint32_t>(random() % 9);
  ClassifyOptions options;
  options.k = 2200;  // 4.6 million entries
  options.want_shares = true;
  const Classified all = classify(points.view(), {codes, 9}, queries.view(), options);
  const Classified few = classify(points.view(), {codes, 9}, queries.view().slice(1890, 20), options);
  EXPECT_TRUE(std::equal(few.labels.begin(), few.labels.end(), all.labels.begin() + 1890));
  // In order: all that come before one that is labelled by itself are points for it.
  const Classified in_order = classify_sequential(points.view(), {codes, 9}, queries.view(), options);
  for (const std::ptrdiff_t query : {0, 1905, 1906, 2099}) {
    const PointSet before =
        test::rows_behind(points.view(), queries.view().slice(0, static_cast<std::uint64_t>(query)));
    Codes known = codes;
    known.insert(known.end(), in_order.labels.begin(), in_order.labels.begin() + query);
    const Classified one =
        classify(before.view(), {known, 9}, queries.view().slice(static_cast<std::uint64_t>(query), 1), options);
    EXPECT_EQ(one.labels[0], in_order.labels[static_cast<std::size_t>(query)]) << query;
    EXPECT_TRUE(std::equal(one.shares.begin(), one.shares.end(), in_order.shares.begin() + 9 * query)) << query;
  }
}

TEST(ClassifySequential, ALabelTravelsAlongALine) {
  constexpr std::uint32_t kCount = 20000;
  std::vector<double> line(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) line[i] = i + 1;
  const std::vector<double> points = {0, -1e9};
  const Codes codes = {1, 0};
  ClassifyOptions options;
  options.k = 1;
  for (const Engine engine : {Engine::automatic, Engine::brute_force, Engine::kd_tree, Engine::cover_tree}) {
    options.engine = engine;
    const std::uint64_t count = engine == Engine::brute_force ? 2000 : kCount;
    const Classified found =
        classify_sequential(PointView(points.data(), 2, 1), {codes, 2}, PointView(line.data(), count, 1), options);
    EXPECT_EQ(found.labels, Codes(count, 1));
    EXPECT_EQ(found.depth, count);
    EXPECT_EQ(found.rounds, 1u);
  }
}

TEST(ClassifySequential, NothingNewHasNoDepth) {
  const std::vector<float> points = {1, 2, 3};
  const Codes codes = {0, 1, 1};
  ClassifyOptions options;
  options.k = 3;
  const Classified found = classify_sequential(PointView(points.data(), 3, 1), {codes, 2}, {}, options);
  EXPECT_TRUE(found.labels.empty());
  EXPECT_EQ(found.depth, 0u);
  EXPECT_EQ(found.rounds, 0u);
  const float far = 100;  // one that has no new neighbour
  EXPECT_EQ(classify_sequential(PointView(points.data(), 3, 1), {codes, 2}, PointView(&far, 1, 1), options).depth, 1u);
}

TEST(Classify, TellsOfItsWork) {
  std::mt19937_64 random(5);
  const PointSet points = test::nasty_points(test::NastyShape::uniform, DType::f32, 2000, 3, random);
  const Codes codes(2000, 0);
  for (const bool in_order : {false, true}) {
    ClassifyOptions options;
    std::vector<std::string> stages;
    std::uint64_t last = 0;
    options.progress = [&](const Progress& progress) {
      if (stages.empty() || stages.back() != progress.stage) {
        stages.emplace_back(progress.stage);
        last = 0;
      }
      EXPECT_GE(progress.done, last);
      EXPECT_LE(progress.done, progress.total);
      last = progress.done;
      return true;
    };
    const auto run = [&] {
      return in_order ? classify_sequential(points.view(), {codes, 1}, points.view(), options)
                      : classify(points.view(), {codes, 1}, points.view(), options);
    };
    const Classified found = run();
    EXPECT_EQ(found.work.engine, Engine::kd_tree);
    EXPECT_EQ(found.work.device, Device::cpu());
    EXPECT_NE(found.work.explanation.find("engine kdtree"), std::string::npos) << found.work.explanation;
    EXPECT_GT(found.work.build_ms, 0);
    EXPECT_GT(found.work.search_ms, 0);
    EXPECT_GT(found.work.vote_ms, 0);
    ASSERT_FALSE(stages.empty());
    EXPECT_EQ(stages.back(), "classifying");
    EXPECT_EQ(last, 2000u);
    for (const std::string& stop : stages) {
      options.progress = [&](const Progress& progress) { return progress.stage != stop; };
      EXPECT_THROW(run(), Interrupted) << stop;
    }
  }
}

TEST(Classify, RefusesWhatMakesNoSense) {
  const std::vector<double> points = {1, 2, 3};
  const std::vector<double> wide = {1, 2, 3, 4};
  const std::vector<float> single = {1, 2};
  const Codes codes = {0, 1, 1};
  const PointView train(points.data(), 3, 1), test(wide.data(), 4, 1), nothing(points.data(), 0, 1);
  for (const auto run : {&classify, &classify_sequential}) {
    const bool in_order = run == &classify_sequential;
    const auto refused = [&](PointView from, LabelView labels, PointView to, const ClassifyOptions& options) {
      return test::thrown_message<UsageError>([&] { run(from, labels, to, options); });
    };
    const auto with_k = [](std::uint32_t k) {
      ClassifyOptions options;
      options.k = k;
      return options;
    };
    EXPECT_PRED2(test::holds, refused(train, {codes, 2}, test, with_k(0)), "k must be at least 1");
    const std::uint32_t most = in_order ? 6 : 3;
    EXPECT_EQ(run(train, {codes, 2}, test, with_k(most)).labels.size(), 4u);
    EXPECT_PRED2(test::holds, refused(train, {codes, 2}, test, with_k(most + 1)), "choose a lower k");
    EXPECT_PRED2(test::holds, refused(train, {codes, 2}, nothing, with_k(4)), "choose a lower k");
    EXPECT_PRED2(test::holds, refused(train, {codes, 1}, test, with_k(1)), "point 1 (counted from 0) is 1");
    const LabelView too_few{std::span(codes).first(2), 2};
    EXPECT_PRED2(test::holds, refused(train, too_few, test, with_k(1)), "2 for 3 points");
    EXPECT_THROW(run(nothing, {{}, 2}, test, with_k(1)), BadData);
    EXPECT_THROW(run(nothing, {{}, 2}, nothing, with_k(1)), UsageError);
    refused(train, {codes, 2}, PointView(wide.data(), 2, 2), with_k(1));
    refused(train, {codes, 2}, PointView(single.data(), 2, 1), with_k(1));
    refused(train, {codes, 2}, PointView(static_cast<const double*>(nullptr), 2, 1), with_k(1));
    refused(PointView(static_cast<const double*>(nullptr), 3, 1), {codes, 2}, test, with_k(1));
    refused(train, {codes, 2}, PointView(wide.data(), 2, 1, Device::automatic()), with_k(1));
    ClassifyOptions options = with_k(1);
    options.threads = -1;
    refused(train, {codes, 2}, test, options);
    options = with_k(1);
    options.metric = Metric::inner_product();
    EXPECT_EQ(run(train, {codes, 2}, test, options).labels.size(), 4u);
    options.weights = Weights::distance;
    EXPECT_PRED2(test::holds, refused(train, {codes, 2}, test, options), "weights by distance");
    options = with_k(1);
    options.want_shares = true;
    EXPECT_THROW(run(train, {codes, 0xffffffff}, PointView(wide.data(), DType::f64, 100, 1, 0), options), OutOfMemory);
  }
}

TEST(Classify, BadRowsAreNamedAsTheCallerNumbersThem) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> good = {1, 2, 3}, bad = {1, nan, nan};
  const Codes codes = {0, 1, 1};
  const PointView clean(good.data(), 3, 1), dirty(bad.data(), 3, 1);
  ClassifyOptions options;
  options.k = 1;
  const auto message = [&](auto run, PointView from, PointView to) {
    return test::thrown_message<BadData>([&] { run(from, LabelView{codes, 2}, to, options); });
  };
  EXPECT_PRED2(test::holds, message(&classify, dirty, clean), "points: row 1, column 0");
  EXPECT_PRED2(test::holds, message(&classify, clean, dirty), "queries: row 1, column 0");
  EXPECT_PRED2(test::holds, message(&classify_sequential, dirty, clean), "points: row 1, column 0");
  EXPECT_PRED2(test::holds, message(&classify_sequential, clean, dirty), "new points: row 1, column 0");
}

TEST(Classify, WeightsAndTiesHaveNames) {
  for (const Weights weights : {Weights::uniform, Weights::distance}) {
    EXPECT_EQ(parse_weights(name_of(weights)), weights);
  }
  EXPECT_EQ(name_of(Weights::distance), "distance");
  EXPECT_PRED2(test::holds, test::thrown_message<UsageError>([] { parse_weights("none"); }), "choose uniform");
  for (const Ties ties : {Ties::nearest, Ties::lowest, Ties::highest}) EXPECT_EQ(parse_ties(name_of(ties)), ties);
  EXPECT_PRED2(test::holds, test::thrown_message<UsageError>([] { parse_ties("Lowest"); }),
               "choose nearest, lowest or highest");
}

}  // namespace
}  // namespace kith::apps
