// Strings and sets that are kept by the plain loop, and results that verify accepts or names.
#include "support/thrown_message.hpp"

#include <kith/apps/dedupe_sequences.hpp>
#include <kith/apps/verify_sequences.hpp>
#include <kith/error.hpp>
#include <kith/sequence_index.hpp>

#include <gtest/gtest.h>

#include <random>

namespace kith {
namespace {

SequenceSet random_words(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  SequenceSet words(SequenceKind::text);
  for (std::size_t i = 0; i < count; ++i) {
    std::string word;
    for (auto left = random() % 6; left > 0; --left) word += static_cast<char>('a' + random() % 3);
    words.add(word);
  }
  return words;
}

/// Take them in order, keep each unless a kept one is within the tolerance.
apps::Deduped plain_dedupe(const SequenceSet& words, double tolerance) {
  const SequenceIndex index = SequenceIndex::build(words, SequenceMetric::edit, {.engine = Engine::brute_force});
  const Neighbors all = index.knn_self(static_cast<std::uint32_t>(words.size()));
  apps::Deduped deduped;
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    std::uint32_t place = apps::kLeftOut;
    for (std::uint32_t rank = 0; rank < words.size(); ++rank) {
      if (all.distance(i, rank) > tolerance) continue;
      for (std::uint32_t kept = 0; kept < deduped.kept.size(); ++kept) {
        if (deduped.kept[kept] == all.index(i, rank)) place = std::min(place, kept);
      }
    }
    deduped.map.push_back(place == apps::kLeftOut ? static_cast<std::uint32_t>(deduped.kept.size()) : place);
    if (place == apps::kLeftOut) deduped.kept.push_back(i);
  }
  return deduped;
}

TEST(DedupeSequences, EqualsThePlainLoop) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "random_words(" << seed << ", 60)");
    const SequenceSet words = random_words(seed, 60);
    const apps::Deduped equal = apps::dedupe(words);
    const apps::Deduped expected_equal = plain_dedupe(words, 0);
    EXPECT_EQ(equal.kept, expected_equal.kept);
    EXPECT_EQ(equal.map, expected_equal.map);
    for (const double tolerance : {0.0, 1.0, 2.0}) {
      const apps::Deduped near = apps::dedupe(words, {.tolerance = tolerance});
      const apps::Deduped expected = plain_dedupe(words, tolerance);
      EXPECT_EQ(near.kept, expected.kept);
      EXPECT_EQ(near.map, expected.map);
    }
  }
  EXPECT_TRUE(apps::dedupe(SequenceView()).kept.empty());
}

TEST(VerifySequences, AcceptsWhatIsRightAndNamesWhatIsWrong) {
  const SequenceSet words = random_words(1, 50);
  const SequenceIndex index = SequenceIndex::build(words, SequenceMetric::edit);
  const Neighbors near = index.knn_self(60, {.exclude_self = true});
  EXPECT_EQ(apps::verify_neighbors(near, words, words, SequenceMetric::edit, {.exclude_self = true}).wrong, 0u);
  const NeighborLists lists = index.radius_self(2);
  EXPECT_EQ(apps::verify_neighbors(lists, 2, words, words, SequenceMetric::edit).wrong, 0u);
  EXPECT_GT(apps::verify_neighbors(lists, 1, words, words, SequenceMetric::edit).wrong, 0u);

  std::vector<std::uint32_t> indices(near.indices().begin(), near.indices().end());
  std::swap(indices[60], indices[61]);
  const Neighbors bad(near.queries(), near.k(), near.missing(), indices, near.distances());
  const apps::Verdict verdict = apps::verify_neighbors(bad, words, words, SequenceMetric::edit, {.exclude_self = true});
  EXPECT_EQ(verdict.wrong, 1u);
  EXPECT_TRUE(verdict.first_violation.starts_with("query 1, rank 0: sequence ")) << verdict.first_violation;
  EXPECT_THROW(apps::verify_neighbors(near, words, words, SequenceMetric::jaccard), UsageError);
}

}  // namespace
}  // namespace kith
