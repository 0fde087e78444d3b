// Indexes of bits and sequences as files: the same bytes back, and forged ones that are refused or harmless.
#include "support/bit_oracle.hpp"
#include "support/sequence_oracle.hpp"
#include "support/sign_index.hpp"
#include "support/temporary_path.hpp"
#include "support/thrown_message.hpp"

#include <kith/bit_index.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/index_file.hpp>
#include <kith/sequence_index.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace kith::test {
namespace {

using Bytes = std::vector<std::byte>;

SequenceIndex sequences(SequenceMetric metric, Engine engine, std::uint64_t count = 60) {
  std::mt19937_64 random(9);
  return SequenceIndex::build(random_sequences(metric, count, 6, 4, random), metric,
                              {.engine = engine, .leaf_size = 4});
}

BitIndex bits(Engine engine) {
  std::mt19937_64 random(9);
  return BitIndex::build(random_bits(60, 70, 0, random).view(), {.engine = engine, .leaf_size = 4});
}

TEST(ObjectIndexFile, ComesBackAsItWas) {
  for (const Engine engine : {Engine::brute_force, Engine::cover_tree}) {
    for (const SequenceMetric metric : {SequenceMetric::edit, SequenceMetric::hamming, SequenceMetric::jaccard}) {
      for (const std::uint64_t count : {0, 1, 60}) {
        const SequenceIndex index = sequences(metric, engine, count);
        const std::string path = temporary_path("sequences.kith");
        index.save(path);
        for (const bool map : {false, true}) {
          const SequenceIndex loaded = SequenceIndex::load(path, {.map = map});
          EXPECT_EQ(loaded.engine(), engine);
          EXPECT_EQ(loaded.metric(), metric);
          EXPECT_EQ(loaded.kind(), index.kind());
          EXPECT_EQ(loaded.size(), count);
          EXPECT_TRUE(loaded.knn_self(7) == index.knn_self(7));
          EXPECT_EQ(loaded.to_bytes(), index.to_bytes());
          EXPECT_EQ(loaded.first_violation(), "");
        }
        const IndexFileInfo info = describe_index_file(path);
        EXPECT_EQ(info.content, IndexContent::sequences);
        EXPECT_EQ(info.metric_name, name_of(metric));
        EXPECT_EQ(info.rows, count);
        std::remove(path.c_str());
      }
    }
    const BitIndex index = bits(engine);
    const BitIndex loaded = BitIndex::from_bytes(index.to_bytes());
    EXPECT_EQ(loaded.engine(), engine);
    EXPECT_EQ(loaded.bits(), 70u);
    EXPECT_TRUE(loaded.knn_self(7) == index.knn_self(7));
    EXPECT_EQ(loaded.to_bytes(), index.to_bytes());
    EXPECT_EQ(loaded.packed_rows(), index.packed_rows());
    EXPECT_EQ(loaded.first_violation(), "");
  }
}

TEST(ObjectIndexFile, WhatIsNoIndexOfTheKindIsRefused) {
  const Bytes of_bits = bits(Engine::brute_force).to_bytes();
  const Bytes of_words = sequences(SequenceMetric::edit, Engine::brute_force).to_bytes();
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { SequenceIndex::from_bytes(of_bits); }),
               "an index of bits, not of sequences; load it with BitIndex");
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { BitIndex::from_bytes(of_words); }),
               "load it with SequenceIndex");
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { Index::from_bytes(of_words); }), "load it with SequenceIndex");
  const float row[] = {1, 2};
  const Bytes of_points = Index::build(PointView(row, 1, 2)).to_bytes();
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { SequenceIndex::from_bytes(of_points); }), "load it with Index");
  EXPECT_THROW(SequenceIndex::load(temporary_path("none.kith")), IoError);
  EXPECT_THROW(SequenceIndex::from_bytes(Bytes(100)), CorruptFile);
}

/// Every byte of the file changed in turn, with checksums that fit again: refused, or as right as if it had been built.
template <typename Index, typename Rebuild>
void change_every_byte(const Index& index, Rebuild&& rebuild) {
  const Bytes good = index.to_bytes();
  std::uint64_t accepted = 0, refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    if (good[at] == std::byte{0} && at > 300 && at % 97 != 0) continue;  // padding and upper bytes: some will do
    Bytes bytes = good;
    bytes[at] ^= std::byte{static_cast<unsigned char>(1 << at % 8)};
    sign_index(bytes);
    try {
      const Index loaded = Index::from_bytes(bytes);
      ++accepted;
      EXPECT_TRUE(loaded.knn_self(5) == rebuild(loaded).knn_self(5)) << "byte " << at;
      EXPECT_EQ(loaded.radius_self(3).indices().size(), rebuild(loaded).radius_self(3).indices().size()) << at;
    } catch (const Error&) {
      ++refused;
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(accepted, 0u);
}

TEST(ObjectIndexFile, ForgedSequencesAreRefusedOrRight) {
  for (const SequenceMetric metric : {SequenceMetric::edit, SequenceMetric::hamming, SequenceMetric::jaccard}) {
    for (const Engine engine : {Engine::brute_force, Engine::cover_tree}) {
      SCOPED_TRACE(testing::Message() << name_of(metric) << " by " << name_of(engine));
      change_every_byte(sequences(metric, engine, 14), [](const SequenceIndex& loaded) {
        return SequenceIndex::build(loaded.sequences(), loaded.metric(), {.engine = Engine::brute_force});
      });
    }
  }
}

TEST(ObjectIndexFile, ForgedBitsAreRefusedOrRight) {
  for (const Engine engine : {Engine::brute_force, Engine::cover_tree}) {
    change_every_byte(bits(engine), [](const BitIndex& loaded) {
      const std::vector<std::uint8_t> rows = loaded.packed_rows();
      return BitIndex::build(BitView(rows.data(), loaded.size(), loaded.bits()));
    });
  }
}

TEST(ObjectIndexFile, WhatIsWrongIsNamed) {
  const auto refusal = [](Bytes bytes, std::size_t at, std::uint32_t value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
    sign_index(bytes);
    return thrown_message<CorruptFile>([&] { SequenceIndex::from_bytes(bytes); });
  };
  const Bytes good = sequences(SequenceMetric::edit, Engine::cover_tree).to_bytes();
  const auto offset_of = [&](const std::string& section) -> std::size_t {
    const std::string path = temporary_path("named.kith");
    sequences(SequenceMetric::edit, Engine::cover_tree).save(path);
    for (const IndexFileSection& one : describe_index_file(path).sections) {
      if (one.name == section) return one.offset;
    }
    return 0;
  };
  EXPECT_PRED2(holds, refusal(good, 48, 2), "engine kdtree knows no sequences");
  EXPECT_PRED2(holds, refusal(good, 56, 18), "the metric jaccard is not for numbers");
  EXPECT_PRED2(holds, refusal(good, 56, 19), "no metric of sequences with the number 19");
  EXPECT_PRED2(holds, refusal(good, 60, 4), "no kind of sequences with the number 4");
  EXPECT_PRED2(holds, refusal(good, 80, 3), "as many as each other");
  EXPECT_PRED2(holds, refusal(good, offset_of("offsets"), 1), "the first offset is 1");
  EXPECT_PRED2(holds, refusal(good, offset_of("offsets") + 8, 5000), "ends before it begins");
}

}  // namespace
}  // namespace kith::test
