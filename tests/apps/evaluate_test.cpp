// Scores of small columns by hand, of random ones by counting in other ways.
#include <kith/apps/evaluate.hpp>

#include <kith/error.hpp>

#include "support/thrown_message.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace kith::apps {
namespace {

using Codes = std::vector<std::uint32_t>;

TEST(Evaluate, LabelsByHand) {
  const Codes truth = {0, 0, 0, 1, 1, 2, 2, 2}, predicted = {0, 0, 1, 1, 1, 2, 0, 1};
  const LabelScore score = score_labels({truth, 4}, predicted);
  EXPECT_EQ(score.rows, 8u);
  EXPECT_EQ(score.right, 5u);
  EXPECT_EQ(score.accuracy(), 0.625);
  ASSERT_EQ(score.classes.size(), 4u);
  EXPECT_EQ(score.classes[0].precision(), 2.0 / 3);
  EXPECT_EQ(score.classes[0].recall(), 2.0 / 3);
  EXPECT_EQ(score.classes[1].precision(), 0.5);
  EXPECT_EQ(score.classes[1].recall(), 1.0);
  EXPECT_EQ(score.classes[1].f1(), 2.0 / 3);
  EXPECT_EQ(score.classes[2].precision(), 1.0);
  EXPECT_EQ(score.classes[2].recall(), 1.0 / 3);
  EXPECT_EQ(score.classes[2].f1(), 0.5);
  // No row is of the last class, and none was predicted to be.
  EXPECT_EQ(score.classes[3].precision(), 0.0);
  EXPECT_EQ(score.classes[3].recall(), 0.0);
  EXPECT_EQ(score.classes[3].f1(), 0.0);
}

TEST(Evaluate, NoRowsScoreNothing) {
  const LabelScore labels = score_labels({{}, 2}, {});
  EXPECT_EQ(labels.rows, 0u);
  EXPECT_EQ(labels.accuracy(), 0.0);
  EXPECT_EQ(labels.classes.size(), 2u);
  EXPECT_TRUE(confusion_of({{}, 2}, {}).empty());
  const ValueScore values = score_values({}, {});
  EXPECT_EQ(values.rows, 0u);
  EXPECT_EQ(values.root_mean_squared_error, 0.0);
  EXPECT_EQ(values.r_squared, 0.0);
}

TEST(Evaluate, ConfusionEqualsCountingPairs) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const std::uint32_t classes = seed % 3 == 0 ? 0xffffffffu : 1 + static_cast<std::uint32_t>(random() % 9);
    const std::size_t rows = random() % 300;
    Codes truth, predicted;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> expected;
    for (std::size_t i = 0; i < rows; ++i) {  // the upper end of the classes, so that all bits of a code count
      truth.push_back(classes - 1 - static_cast<std::uint32_t>(random() % std::min(classes, 9u)));
      predicted.push_back(classes - 1 - static_cast<std::uint32_t>(random() % std::min(classes, 9u)));
      ++expected[{truth.back(), predicted.back()}];
    }
    const std::vector<Confusion> found = confusion_of({truth, classes}, predicted);
    ASSERT_EQ(found.size(), expected.size());
    auto next = expected.begin();
    for (const Confusion& entry : found) {
      EXPECT_EQ(entry.truth, next->first.first);
      EXPECT_EQ(entry.predicted, next->first.second);
      EXPECT_EQ(entry.rows, next->second);
      ++next;
    }
  }
}

TEST(Evaluate, ValuesByHand) {
  const std::vector<double> truth = {1, 2, 3, 6}, predicted = {1, 4, 3, 5};
  const ValueScore score = score_values(truth, predicted);
  EXPECT_EQ(score.rows, 4u);
  EXPECT_EQ(score.mean_absolute_error, 0.75);
  EXPECT_EQ(score.root_mean_squared_error, std::sqrt(1.25));
  EXPECT_EQ(score.largest_error, 2.0);
  EXPECT_EQ(score.r_squared, 1 - 5.0 / 14.0);
}

TEST(Evaluate, TruthOfOneValueExplainsAllOrNothing) {
  const std::vector<double> truth(3, 0.1);  // whose mean is not 0.1
  EXPECT_EQ(score_values(truth, truth).r_squared, 1.0);
  EXPECT_EQ(score_values(truth, std::vector<double>{0.1, 0.1, 0.2}).r_squared, 0.0);
}

TEST(Evaluate, RefusesWhatCannotBeCompared) {
  const Codes two = {0, 1}, three = {0, 1, 2};
  EXPECT_PRED2(test::holds, test::thrown_message<UsageError>([&] {
                 score_labels({two, 3}, three);
               }),
               "2 rows of truth, but 3 of predictions");
  EXPECT_THROW(confusion_of({three, 3}, two), UsageError);
  EXPECT_PRED2(test::holds, test::thrown_message<UsageError>([&] {
                 score_labels({three, 2}, three);
               }),
               "truth: row 2 (counted from 0) is class 2");
  EXPECT_PRED2(test::holds, test::thrown_message<UsageError>([&] {
                 confusion_of({two, 2}, Codes{0, 7});
               }),
               "predictions: row 1 (counted from 0) is class 7");
  EXPECT_THROW(score_values(std::vector<double>{1}, {}), UsageError);
}

}  // namespace
}  // namespace kith::apps
