// Searches for strings and sets in a cover tree by the GPU's kernels, run on the host, give what plain sorting gives.
#include "cuda/cover_tree/spaces/edit_space.cuh"
#include "cuda/cover_tree/spaces/jaccard_space.cuh"

#include "cuda/cover_tree/cover_case.hpp"
#include "cuda/cover_tree/plain_sequences.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace kith::test {
namespace {

template <typename Word>
CoverCase<cuda::EditSpace<Word>> random_strings(std::mt19937_64& random, PlainSequences& objects,
                                                PlainSequences& queries) {
  const std::uint32_t longest = random() % 3 == 0 ? 2 : 12, letters = 1 + static_cast<std::uint32_t>(random() % 4);
  objects = random_sequences(random, 1 + static_cast<std::uint32_t>(random() % 110), longest, letters);
  queries = random_sequences(random, 20, longest + 3, letters + 1);
  const cuda::SequenceWords words(objects.rows(), SequenceMetric::edit);
  const std::uint32_t stride = words.words_for(words.longest()), query_stride = words.words_for(longest + 3);
  return {.space = cuda::EditSpace<Word>(stride, words.symbols()),
          .objects = packed(words, objects, stride),
          .object_count = static_cast<std::uint32_t>(objects.size()),
          .queries = packed(words, queries, query_stride),
          .query_stride = query_stride,
          .query_count = queries.size(),
          .between = [&](std::uint32_t a, std::uint32_t b) { return plain_edits(objects.at(a), objects.at(b)); },
          .from_outside = [&](std::uint64_t q, std::uint32_t i) { return plain_edits(queries.at(q), objects.at(i)); }};
}

TEST(CoverSearch, StringsByEditDistance) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    PlainSequences objects, queries;
    if (seed % 2 == 0) {
      expect_right_answers(random_strings<std::uint32_t>(random, objects, queries), random);
    } else {
      expect_right_answers(random_strings<std::uint64_t>(random, objects, queries), random);
    }
  }
}

TEST(CoverSearch, SetsByJaccardDistance) {
  for (std::uint64_t seed = 100; seed < 106; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    PlainSequences objects, queries;
    const auto most = static_cast<std::uint32_t>(random() % 12), items = static_cast<std::uint32_t>(4 + random() % 20);
    for (std::uint64_t i = 1 + random() % 110; i > 0; --i) objects.add(random_set(random, most, items));
    for (std::uint32_t i = 0; i < 15; ++i) queries.add(random_set(random, most + 2, items + 1));
    const cuda::SequenceWords words(objects.rows(), SequenceMetric::jaccard);
    const std::uint32_t stride = words.words_for(words.longest()), query_stride = words.words_for(most + 2);
    const CoverCase<cuda::JaccardSpace> c{
        .space = cuda::JaccardSpace(stride, query_stride),
        .objects = packed(words, objects, stride),
        .object_count = static_cast<std::uint32_t>(objects.size()),
        .queries = packed(words, queries, query_stride),
        .query_stride = query_stride,
        .query_count = queries.size(),
        .between = [&](std::uint32_t a, std::uint32_t b) { return plain_jaccard(objects.at(a), objects.at(b)); },
        .from_outside = [&](std::uint64_t q, std::uint32_t i) { return plain_jaccard(queries.at(q), objects.at(i)); }};
    expect_right_answers(c, random);
  }
}

}  // namespace
}  // namespace kith::test
