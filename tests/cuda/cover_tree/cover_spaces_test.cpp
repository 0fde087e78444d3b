// The GPU's spaces of bits, strings and sets, run on the host: they measure as plain code does, and bounds are bounds.
#include "cuda/cover_tree/spaces/bit_space.cuh"
#include "cuda/cover_tree/spaces/edit_space.cuh"
#include "cuda/cover_tree/spaces/hamming_space.cuh"
#include "cuda/cover_tree/spaces/jaccard_space.cuh"
#include "cuda/cover_tree/spaces/long_edit_space.cuh"
#include "cuda/cover_tree/search/prepare_tree.cuh"
#include "cuda/cover_tree/spaces/sequence_words.hpp"

#include "cuda/emulation/grid.hpp"
#include "cuda/cover_tree/plain_sequences.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// What a space says of pairs: [query][object].
struct Measured {
  std::vector<float> values, limited, least;
};

template <typename Space>
void measure_all(const Space& space, cuda::PlainRows queries, std::uint32_t query_count, cuda::ArrangedRows objects,
                 std::uint32_t object_count, float limit, Measured& to) {
  std::byte* memory = cuda::shared_memory();
  for (std::uint32_t q = 0; q < query_count; ++q) {
    space.prepare(memory, queries.at(q));
    for (std::uint32_t i = cuda::lane_number(); i < object_count; i += cuda::kWarp) {
      const std::size_t at = std::size_t{q} * object_count + i;
      to.values[at] = space.measure(memory, objects.at(i), kInfinity);
      to.limited[at] = space.measure(memory, objects.at(i), limit);
      if constexpr (requires { space.least(memory, objects.at(i)); }) to.least[at] = space.least(memory, objects.at(i));
    }
    cuda::sync_warp();
  }
}

/// Rows in groups of 32, put there by the kernel.
std::vector<std::uint32_t> arranged(const std::vector<std::uint32_t>& rows, std::uint32_t stride) {
  const auto count = static_cast<std::uint32_t>(rows.size() / stride);
  std::vector<std::uint32_t> numbers(count), to(cuda::ArrangedRows::words_of(count, stride), 0xdeadbeef);
  for (std::uint32_t i = 0; i < count; ++i) numbers[i] = i;
  cuda::emulation::run_grid(1, 64, 0, cuda::emulation::Residence::one_by_one, [&] {
    cuda::place_rows({rows.data(), stride}, numbers.data(), count, to.data());
  });
  return to;
}

template <typename Space>
Measured measure_on_device(const Space& space, const std::vector<std::uint32_t>& queries, std::uint32_t query_stride,
                           const std::vector<std::uint32_t>& objects, float limit) {
  const auto query_count = static_cast<std::uint32_t>(queries.size() / query_stride);
  const auto object_count = static_cast<std::uint32_t>(objects.size() / space.stride());
  const std::vector<std::uint32_t> rows = arranged(objects, space.stride());
  Measured measured;
  for (auto* values : {&measured.values, &measured.limited, &measured.least}) {
    values->resize(std::size_t{query_count} * object_count);
  }
  EXPECT_EQ(space.context_bytes() % 16, 0u);
  cuda::emulation::run_grid(1, 32, space.context_bytes(), cuda::emulation::Residence::one_by_one, [&] {
    measure_all(space, {queries.data(), query_stride}, query_count, {rows.data(), space.stride()}, object_count, limit,
                measured);
  });
  return measured;
}

template <typename Distance>
void expect_measures(const Measured& measured, std::uint64_t queries, std::uint64_t objects, float limit,
                     const Distance& distance) {
  for (std::uint64_t q = 0; q < queries; ++q) {
    for (std::uint64_t i = 0; i < objects; ++i) {
      const float expected = distance(q, i);
      const std::size_t at = q * objects + i;
      ASSERT_EQ(measured.values[at], expected) << "query " << q << ", object " << i;
      ASSERT_LE(measured.least[at], expected) << "query " << q << ", object " << i;
      if (expected <= limit) {
        ASSERT_EQ(measured.limited[at], expected) << "query " << q << ", object " << i;
      } else {
        ASSERT_GT(measured.limited[at], limit) << "query " << q << ", object " << i;
      }
    }
  }
}

void expect_edits(const PlainSequences& objects, const PlainSequences& queries, float limit) {
  const cuda::SequenceWords words(objects.rows(), SequenceMetric::edit);
  const std::uint32_t longest = std::max(words.require_short(queries.rows()), words.longest());
  const std::uint32_t stride = words.words_for(words.longest()), query_stride = words.words_for(longest);
  const std::vector<std::uint32_t> rows = packed(words, objects, stride), asked = packed(words, queries, query_stride);
  const auto check = [&](const auto& space) {
    expect_measures(measure_on_device(space, asked, query_stride, rows, limit), queries.size(), objects.size(), limit,
                    [&](std::uint64_t q, std::uint64_t i) { return plain_edits(queries.at(q), objects.at(i)); });
  };
  if (longest <= 32) check(cuda::EditSpace<std::uint32_t>(stride, words.symbols()));
  if (longest <= 64) check(cuda::EditSpace<std::uint64_t>(stride, words.symbols()));
  check(cuda::LongEditSpace(stride, words.symbols(), longest));
}

TEST(CoverSpaces, EditDistancesAreThoseOfTheTable) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const std::uint32_t letters = 1 + static_cast<std::uint32_t>(random() % 6), longest = seed % 2 == 0 ? 32 : 64;
    const PlainSequences objects = random_sequences(random, 45, longest, letters);
    const PlainSequences queries = random_sequences(random, 5, longest, letters + 2);  // some letters no object has
    expect_edits(objects, queries, static_cast<float>(random() % 30));
  }
}

TEST(CoverSpaces, LongEditDistancesAreThoseOfTheTable) {
  std::mt19937_64 random(7);
  PlainSequences objects, queries;
  for (const std::uint32_t length : {0u, 1u, 31u, 63u, 64u, 65u, 127u, 128u, 129u, 200u, 320u, 321u}) {
    objects.add(random_sequence(random, length, 4));
    if (length != 31 && length < 300) queries.add(random_sequence(random, length, 5));
  }
  queries.add(objects.at(9));
  expect_edits(objects, queries, 60);
  expect_edits(queries, objects, 60);
}

TEST(CoverSpaces, EmptyStringsAreMeasured) {
  PlainSequences empty;
  empty.add({});
  empty.add({});
  PlainSequences queries;
  queries.add({});
  queries.add({1, 2, 3});
  expect_edits(empty, queries, 1);
  expect_edits(queries, empty, 1);
}

TEST(CoverSpaces, PlacesThatDifferAreCounted) {
  for (const std::uint32_t length : {0u, 1u, 4u, 7u, 33u}) {
    SCOPED_TRACE(testing::Message() << "length " << length);
    std::mt19937_64 random(length);
    PlainSequences objects, queries;
    for (int i = 0; i < 40; ++i) objects.add(random_sequence(random, length, 3));
    for (int i = 0; i < 6; ++i) queries.add(random_sequence(random, length, 5));
    const cuda::SequenceWords words(objects.rows(), SequenceMetric::hamming);
    const std::uint32_t stride = words.words_for(length);
    const Measured measured = measure_on_device(cuda::HammingSpace(stride), packed(words, queries, stride), stride,
                                                packed(words, objects, stride), 3);
    expect_measures(measured, queries.size(), objects.size(), 3,
                    [&](std::uint64_t q, std::uint64_t i) { return plain_differences(queries.at(q), objects.at(i)); });
  }
}

TEST(CoverSpaces, SetsAreMeasuredByWhatTheyHaveInCommon) {
  for (const std::uint32_t most : {6u, 40u, 2200u}) {  // copied to shared memory, and not
    SCOPED_TRACE(testing::Message() << "up to " << most << " items");
    std::mt19937_64 random(most);
    PlainSequences objects, queries;
    for (int i = 0; i < 40; ++i) objects.add(random_set(random, most, 3 * most));
    for (int i = 0; i < 5; ++i) queries.add(random_set(random, most, 3 * most));
    objects.add({});
    queries.add({});
    queries.add(objects.at(3));
    const cuda::SequenceWords words(objects.rows(), SequenceMetric::jaccard);
    const std::uint32_t stride = words.words_for(words.longest());
    const std::uint32_t query_stride = words.words_for(words.require_short(queries.rows()));
    const cuda::JaccardSpace space(stride, std::max(stride, query_stride));
    const Measured measured = measure_on_device(space, packed(words, queries, query_stride), query_stride,
                                                packed(words, objects, stride), 0.75f);
    expect_measures(measured, queries.size(), objects.size(), 0.75f,
                    [&](std::uint64_t q, std::uint64_t i) { return plain_jaccard(queries.at(q), objects.at(i)); });
  }
}

TEST(CoverSpaces, BitsThatDifferAreCounted) {
  for (const std::uint32_t words : {2u, 8u, 2050u}) {
    std::mt19937_64 random(words);
    std::vector<std::uint32_t> objects(words * 35), queries(words * 3);
    for (std::uint32_t& word : objects) word = static_cast<std::uint32_t>(random());
    for (std::uint32_t& word : queries) word = static_cast<std::uint32_t>(random());
    const Measured measured = measure_on_device(cuda::BitSpace(words), queries, words, objects, 30);
    expect_measures(measured, 3, 35, 30, [&](std::uint64_t q, std::uint64_t i) {
      int differ = 0;
      for (std::uint32_t w = 0; w < words; ++w)
        differ += std::popcount(queries[q * words + w] ^ objects[i * words + w]);
      return static_cast<float>(differ);
    });
  }
}

TEST(CoverSpaces, WhatTheGpuDoesNotMeasureIsLeftToTheCpu) {
  PlainSequences many;
  std::vector<std::uint32_t> all(256);
  for (std::uint32_t i = 0; i < 256; ++i) all[i] = i * 1000;
  many.add(all);
  const auto message = [](const PlainSequences& sequences) {
    return thrown_message<UsageError>([&] { cuda::SequenceWords(sequences.rows(), SequenceMetric::edit); });
  };
  EXPECT_NE(message(many).find("more than 255 different items"), std::string::npos);
  EXPECT_NE(message(many).find("`device=cpu`"), std::string::npos);
  PlainSequences longer;
  longer.add(std::vector<std::uint32_t>(2049, 1));
  EXPECT_NE(message(longer).find("2049 items"), std::string::npos);
  PlainSequences wide;
  wide.add(std::vector<std::uint32_t>(2048, 1));
  wide.add({all.begin(), all.begin() + 254});
  EXPECT_NE(message(wide).find("255 of them different"), std::string::npos);
}

}  // namespace
}  // namespace kith::test
