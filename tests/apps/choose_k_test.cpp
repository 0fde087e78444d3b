// Every k of a range against classify and regress done k by k on points without those that were left out.
#include <kith/apps/choose_k.hpp>
#include <kith/apps/classify.hpp>
#include <kith/apps/regress.hpp>
#include <kith/apps/take_rows.hpp>

#include <kith/error.hpp>

#include "support/engines.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace kith::apps {
namespace {

using Codes = std::vector<std::uint32_t>;
using Values = std::vector<double>;

template <typename Column>
Column taken(const Column& column, const std::vector<std::uint32_t>& rows) {
  Column result;
  for (const std::uint32_t row : rows) result.push_back(column[row]);
  return result;
}

/// Calls `score(others, rows)` for each part that is left out: the rows that stay and those that do not.
template <typename Score>
void for_each_part(std::uint64_t points, std::uint32_t folds, Score&& score) {
  const std::uint64_t parts = folds == 0 ? points : folds;
  for (std::uint64_t part = 0; part < parts; ++part) {
    std::vector<std::uint32_t> others, rows;
    for (std::uint32_t i = 0; i < points; ++i) (i % parts == part ? rows : others).push_back(i);
    score(others, rows);
  }
}

std::vector<std::uint64_t> right_k_by_k(PointView points, LabelView labels, const ChooseKOptions& options) {
  const Codes codes(labels.codes.begin(), labels.codes.end());
  std::vector<std::uint64_t> right(options.most - options.least + 1, 0);
  for_each_part(points.rows(), options.folds, [&](const auto& others, const auto& rows) {
    const PointSet train = take_rows(points, others, 1), asked = take_rows(points, rows, 1);
    const Codes known = taken(codes, others), truth = taken(codes, rows);
    for (std::uint32_t k = options.least; k <= options.most; ++k) {
      ClassifyOptions one;
      static_cast<NeighborOptions&>(one) = options;
      one.k = k;
      const Codes found = classify(train.view(), {known, labels.classes}, asked.view(), one).labels;
      for (std::size_t i = 0; i < truth.size(); ++i) right[k - options.least] += found[i] == truth[i] ? 1 : 0;
    }
  });
  return right;
}

Values errors_k_by_k(PointView points, const Values& values, const ChooseKOptions& options) {
  Values errors(options.most - options.least + 1, 0);
  for_each_part(points.rows(), options.folds, [&](const auto& others, const auto& rows) {
    const PointSet train = take_rows(points, others, 1), asked = take_rows(points, rows, 1);
    const Values known = taken(values, others), truth = taken(values, rows);
    for (std::uint32_t k = options.least; k <= options.most; ++k) {
      NeighborOptions one = options;
      one.k = k;
      const Values found = regress(train.view(), known, asked.view(), one).values;
      for (std::size_t i = 0; i < truth.size(); ++i) {
        errors[k - options.least] += (found[i] - truth[i]) * (found[i] - truth[i]);
      }
    }
  });
  for (double& error : errors) error = std::sqrt(error / static_cast<double>(points.rows()));
  return errors;
}

struct Case {
  PointSet points;
  Codes codes;
  std::uint32_t classes = 1;
  Values values;
  ChooseKOptions options;
};

/// Small, and full of ties: most shapes have equal points and equal distances, and few classes share the votes.
Case random_choice(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Case c;
  const std::uint64_t rows = 2 + random() % 30;
  const auto shape =
      static_cast<test::NastyShape>(random() % static_cast<std::uint64_t>(test::NastyShape::count_of_shapes));
  const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
  const auto dims = static_cast<std::uint32_t>(1 + random() % 4);
  c.points = test::nasty_points(shape, dtype, rows, dims, random);
  const std::uint32_t kinds = 1 + static_cast<std::uint32_t>(random() % 5);
  c.classes = random() % 4 == 0 ? 0xffffffffu : kinds;  // room for all of these must not be needed
  for (std::uint64_t i = 0; i < rows; ++i) {
    c.codes.push_back(c.classes - 1 - static_cast<std::uint32_t>(random() % kinds));
    c.values.push_back(static_cast<double>(random() % 1000) / 7);
  }
  if (random() % 2 == 0) c.options.folds = 2 + static_cast<std::uint32_t>(random() % (rows - 1));
  const std::uint64_t part = c.options.folds == 0 ? 1 : (rows + c.options.folds - 1) / c.options.folds;
  c.options.most = 1 + static_cast<std::uint32_t>(random() % std::min<std::uint64_t>(rows - part, 12));
  c.options.least = 1 + static_cast<std::uint32_t>(random() % c.options.most);
  c.options.weights = random() % 2 == 0 ? Weights::uniform : Weights::distance;
  c.options.ties = static_cast<Ties>(random() % 3);
  const Metric metrics[] = {Metric::l2(), Metric::l1(), Metric::linf()};
  c.options.metric = metrics[random() % 3];
  c.options.threads = 1 + static_cast<int>(random() % 3);
  return c;
}

class ChooseK : public testing::TestWithParam<test::EngineOnDevice> {};

TEST_P(ChooseK, EqualsClassifyAndRegressKByK) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "replay with random_choice(" << seed << ")");
    Case c = random_choice(seed);
    c.options.engine = GetParam().engine;
    c.options.device = GetParam().device;
    const KChoice labels = choose_k(c.points.view(), {c.codes, c.classes}, c.options);
    const KChoice values = choose_k(c.points.view(), c.values, c.options);
    // One engine on the CPU is enough to say what is right: what it finds does not depend on it.
    c.options.engine = Engine::brute_force;
    c.options.device = Device::cpu();
    c.options.threads = 1;
    const std::vector<std::uint64_t> right = right_k_by_k(c.points.view(), {c.codes, c.classes}, c.options);
    ASSERT_EQ(labels.right, right);
    ASSERT_EQ(labels.least, c.options.least);
    EXPECT_EQ(labels.best - c.options.least, std::max_element(right.begin(), right.end()) - right.begin());
    EXPECT_TRUE(labels.error.empty());
    EXPECT_EQ(labels.work.engine, GetParam().engine);
    const Values errors = errors_k_by_k(c.points.view(), c.values, c.options);
    ASSERT_EQ(values.error.size(), errors.size());
    if (c.options.folds == 0) {
      ASSERT_EQ(values.error, errors);
    } else {
      for (std::size_t i = 0; i < errors.size(); ++i) {  // each part is summed up by itself first
        EXPECT_NEAR(values.error[i], errors[i], 1e-13 * (errors[i] + 1));
      }
    }
    EXPECT_EQ(values.best - c.options.least,
              std::min_element(values.error.begin(), values.error.end()) - values.error.begin());
    EXPECT_TRUE(values.right.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Available, ChooseK, testing::ValuesIn(test::available_engines()));

TEST(ChooseKByHand, TiesGoToTheNearestLabelAndTheLowestK) {
  const std::vector<double> line = {0, 1, 3, 6, 10};
  const Codes codes = {0, 0, 1, 1, 0};
  ChooseKOptions options;
  options.most = 4;
  // Neighbours of 0: 1 3 6 10; of 1: 0 3 6 10; of 3: 1 0|6 10; of 6: 3 10 1 0; of 10: 6 3 1 0.
  const KChoice choice = choose_k(PointView(line.data(), 5, 1), LabelView{codes, 2}, options);
  EXPECT_EQ(choice.right, (std::vector<std::uint64_t>{3, 3, 0, 2}));
  EXPECT_EQ(choice.best, 1u);
}

TEST(ChooseKByHand, ThreadsAndBlocksDoNotChangeAByte) {
  std::mt19937_64 random(3);
  const PointSet points = test::nasty_points(test::NastyShape::uniform, DType::f64, 5000, 2, random);
  Values values(points.rows());
  Codes codes(points.rows());
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    values[i] = std::sin(9 * points.view().at(i, 0)) + static_cast<double>(random() % 100) / 50;
    codes[i] = static_cast<std::uint32_t>(values[i] + 1);
  }
  for (const std::uint32_t folds : {0u, 3u}) {
    ChooseKOptions options;
    options.folds = folds;
    options.weights = Weights::distance;
    options.threads = 1;
    const KChoice one = choose_k(points.view(), values, options);
    const KChoice one_label = choose_k(points.view(), LabelView{codes, 4}, options);
    options.threads = 4;
    EXPECT_EQ(choose_k(points.view(), values, options).error, one.error);
    EXPECT_EQ(choose_k(points.view(), LabelView{codes, 4}, options).right, one_label.right);
    EXPECT_GT(one.best, 1u);  // noise: one neighbour is too few
  }
}

TEST(ChooseKByHand, RefusesRangesThatCannotBeTried) {
  const std::vector<float> line = {0, 1, 2, 3, 4};
  const PointView points(line.data(), 5, 1);
  const Codes codes = {0, 1, 0, 1, 0};
  const auto message = [&](std::uint32_t least, std::uint32_t most, std::uint32_t folds) {
    ChooseKOptions options;
    options.least = least;
    options.most = most;
    options.folds = folds;
    return test::thrown_message<UsageError>([&] { choose_k(points, LabelView{codes, 2}, options); });
  };
  EXPECT_PRED2(test::holds, message(0, 3, 0), "at least 1");
  EXPECT_PRED2(test::holds, message(3, 2, 0), "3..2");
  EXPECT_PRED2(test::holds, message(1, 5, 0), "only 4");
  EXPECT_PRED2(test::holds, message(1, 3, 2), "only 2");
  EXPECT_PRED2(test::holds, message(1, 1, 1), "one fold");
  EXPECT_PRED2(test::holds, message(1, 1, 6), "6 folds");
  EXPECT_THROW(choose_k(PointView(line.data(), 0, 1), LabelView{{}, 2}), UsageError);

  ChooseKOptions options;
  options.most = 4;
  EXPECT_THROW(choose_k(points, LabelView{Codes{0, 1}, 2}, options), UsageError);
  EXPECT_THROW(choose_k(points, LabelView{codes, 1}, options), UsageError);
  EXPECT_THROW(choose_k(points, Values{1, 2}, options), UsageError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(choose_k(points, Values{1, 2, nan, 3, 4}, options), BadData);
  options.weights = Weights::distance;
  options.metric = Metric::inner_product();
  EXPECT_THROW(choose_k(points, LabelView{codes, 2}, options), UsageError);
}

TEST(ChooseKByHand, StopsWhenToldTo) {
  const std::vector<float> line = {0, 1, 2, 3, 4};
  const Codes codes = {0, 1, 0, 1, 0};
  for (const std::uint32_t folds : {0u, 2u}) {
    ChooseKOptions options;
    options.most = 2;
    options.folds = folds;
    options.progress = [](const Progress& progress) { return progress.stage != "searching"; };
    EXPECT_THROW(choose_k(PointView(line.data(), 5, 1), LabelView{codes, 2}, options), Interrupted);
  }
}

}  // namespace
}  // namespace kith::apps
