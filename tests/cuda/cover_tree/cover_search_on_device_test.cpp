// Cover trees on the GPU: the same files and the same answers as on the CPU. Suites named Small are for
// compute-sanitizer too.
#include "cuda/on_device.hpp"
#include "support/bit_oracle.hpp"
#include "support/expect_same.hpp"
#include "support/random_case.hpp"
#include "support/sequence_oracle.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/io/read_sequences.hpp>
#include <kith/sequence_index.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace kith::test {
namespace {

class CoverSearchSmall : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
};
class CoverSearchOnDevice : public CoverSearchSmall {};

std::uint32_t random_letter(std::mt19937_64& random, std::uint32_t letters) {
  return 'a' + static_cast<std::uint32_t>(random() % letters);
}

/// Strings that are variants of a few, of up to `longest` letters.
SequenceSet random_strings(std::mt19937_64& random, std::uint32_t count, std::uint32_t longest, std::uint32_t letters) {
  std::vector<std::vector<std::uint32_t>> roots(20);
  for (auto& root : roots) {
    for (std::uint64_t i = random() % (longest + 1); i > 0; --i) root.push_back(random_letter(random, letters));
  }
  SequenceSet set(SequenceKind::bytes);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<std::uint32_t> string = roots[random() % roots.size()];
    for (std::uint64_t edits = random() % 6; edits > 0 && !string.empty(); --edits) {
      const std::size_t at = random() % string.size();
      if (edits % 3 == 0)
        string.erase(string.begin() + static_cast<std::ptrdiff_t>(at));
      else
        string[at] = random_letter(random, letters);
    }
    set.add(std::span<const std::uint32_t>(string));
  }
  return set;
}
SequenceSet random_sets(std::mt19937_64& random, std::uint32_t count, std::uint32_t most) {
  SequenceSet set(SequenceKind::sets);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<std::uint32_t> items;
    const std::uint32_t base = static_cast<std::uint32_t>(random() % 8) * most;
    for (std::uint64_t n = random() % (most + 1); n > 0; --n)
      items.push_back(base + static_cast<std::uint32_t>(random() % (2 * most)));
    set.add(std::span<const std::uint32_t>(items));
  }
  return set;
}
SequenceSet equally_long(std::mt19937_64& random, std::uint32_t count, std::uint32_t length) {
  SequenceSet set(SequenceKind::bytes);
  std::vector<std::uint32_t> string(length, 'a');
  for (std::uint32_t i = 0; i < count; ++i) {
    if (length > 0) string[random() % length] = random_letter(random, 4);
    set.add(std::span<const std::uint32_t>(string));
  }
  return set;
}

void expect_equal(const SequenceSet& objects, const SequenceSet& queries, SequenceMetric metric, Engine engine,
                  std::uint32_t leaf_size) {
  SCOPED_TRACE(testing::Message() << name_of(metric) << " by " << name_of(engine) << ", " << objects.size()
                                  << " objects");
  const SequenceIndex cpu = SequenceIndex::build(objects, metric, {.engine = engine, .leaf_size = leaf_size});
  const SequenceIndex gpu =
      SequenceIndex::build(objects, metric, {.engine = engine, .device = Device::cuda(), .leaf_size = leaf_size});
  EXPECT_EQ(cpu.to_bytes(), gpu.to_bytes());
  const SequenceIndex loaded = SequenceIndex::from_bytes(cpu.to_bytes(), {.device = Device::cuda()});
  const double radius = metric == SequenceMetric::jaccard ? 0.6 : 4;
  for (const SequenceIndex* other : {&gpu, &loaded}) {
    for (const std::uint32_t k : {1u, 5u, 40u, 700u}) {
      expect_same(cpu.knn_self(k, {.exclude_self = k == 5}), other->knn_self(k, {.exclude_self = k == 5}));
      expect_same(cpu.knn(queries, k), other->knn(queries, k));
    }
    expect_same(cpu.radius(queries, radius), other->radius(queries, radius));
    expect_same(cpu.radius_self(radius, {.earlier_only = true}), other->radius_self(radius, {.earlier_only = true}));
    EXPECT_EQ(cpu.count_self(radius), other->count_self(radius));
    EXPECT_EQ(cpu.count(queries, radius), other->count(queries, radius));
  }
}

void expect_equal_sequences(std::uint64_t seed, std::uint32_t count, std::uint32_t longest) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", up to " << longest << " items");
  std::mt19937_64 random(seed);
  for (const Engine engine : {Engine::cover_tree, Engine::brute_force}) {
    const SequenceSet strings = random_strings(random, count, longest, 5);
    expect_equal(strings, random_strings(random, 60, longest + 9, 7), SequenceMetric::edit, engine, 8);
    const SequenceSet sets = random_sets(random, count, longest);
    expect_equal(sets, random_sets(random, 60, longest + 20), SequenceMetric::jaccard, engine, 8);
    const SequenceSet of_one_length = equally_long(random, count, longest);
    expect_equal(of_one_length, equally_long(random, 60, longest), SequenceMetric::hamming, engine, 8);
  }
}

TEST_F(CoverSearchSmall, Sequences) {
  for (const std::uint32_t longest : {0u, 31u, 100u}) {
    if (rounds(2) == 2 || longest == 31) expect_equal_sequences(longest, 100, longest);
  }
}
TEST_F(CoverSearchOnDevice, ManySequences) {
  for (const std::uint32_t longest : {0u, 12u, 31u, 60u, 100u}) expect_equal_sequences(longest, 400, longest);
  expect_equal_sequences(1, 4000, 20);
  expect_equal_sequences(2, 1500, 50);
  expect_equal_sequences(3, 300, 500);
}
TEST_F(CoverSearchOnDevice, LongStrings) {
  std::mt19937_64 random(4);
  const SequenceSet strings = random_strings(random, 200, 2040, 4);
  expect_equal(strings, random_strings(random, 10, 2040, 4), SequenceMetric::edit, Engine::cover_tree, 8);
  SequenceSet longer(SequenceKind::bytes);
  longer.add(std::string(2049, 'a'));
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] {
                 SequenceIndex::build(longer, SequenceMetric::edit, {.device = Device::cuda()});
               }),
               "`device=cpu`");
}

void expect_equal_bits(std::uint64_t seed, std::uint64_t most_rows) {
  SCOPED_TRACE(testing::Message() << "replay with BitCase(" << seed << ", " << most_rows << ")");
  const BitCase c(seed, most_rows);
  const BitIndex cpu = BitIndex::build(c.points.view());
  const BitIndex gpu = BitIndex::build(c.points.view(), {.engine = Engine::cover_tree, .device = Device::cuda()});
  if (c.is_self) {
    expect_same(cpu.knn_self(c.k, c.options), gpu.knn_self(c.k, c.options));
  } else {
    expect_same(cpu.knn(c.queries.view(), c.k, c.options), gpu.knn(c.queries.view(), c.k, c.options));
  }
}
TEST_F(CoverSearchSmall, Bits) {
  for (std::uint64_t seed = 0; seed < rounds(12); ++seed) expect_equal_bits(seed, 600);
}
TEST_F(CoverSearchOnDevice, ManyBits) {
  for (std::uint64_t seed = 20; seed < 30; ++seed) expect_equal_bits(seed, 20'000);
}

/// Vectors in boxes, as arrays of the GPU, with an index from a file: every_engine_test.cpp has the rest.
void expect_equal_vectors(std::uint64_t seed, std::uint64_t most_rows) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
  const auto dims = static_cast<std::uint32_t>(1 + random() % 20);
  const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
  const PointSet points = nasty_points(shape, dtype, 1 + random() % most_rows, dims, random);
  const PointSet queries = nasty_points(shape, dtype, 50, dims, random);
  const Metric metric = random() % 3 == 0 ? Metric::l1() : random() % 2 == 0 ? Metric::linf() : Metric::l2();
  const Index cpu = Index::build(points.view(), {.engine = Engine::cover_tree, .metric = metric});
  const Index gpu =
      Index::build(points.view(), {.engine = Engine::cover_tree, .device = Device::cuda(), .metric = metric});
  EXPECT_EQ(cpu.to_bytes(), gpu.to_bytes());
  const Index loaded = Index::from_bytes(cpu.to_bytes(), {.device = Device::cuda()});
  for (const Index* other : {&gpu, &loaded}) {
    expect_same(cpu.knn(queries.view(), 7), other->knn(queries.view(), 7));
    expect_same(cpu.knn_self(50), other->knn_self(50));
    const double radius = cpu.knn(queries.view(), 3).distance(0, 2);
    expect_same(cpu.radius(queries.view(), radius), other->radius(queries.view(), radius));
    EXPECT_EQ(cpu.count_self(radius), other->count_self(radius));
  }
}
TEST_F(CoverSearchSmall, Vectors) {
  for (std::uint64_t seed = 0; seed < rounds(10); ++seed) expect_equal_vectors(seed, 600);
}
TEST_F(CoverSearchOnDevice, ManyVectors) {
  for (std::uint64_t seed = 50; seed < 60; ++seed) expect_equal_vectors(seed, 20'000);
}

TEST_F(CoverSearchOnDevice, Words) {
  const std::string path = std::string(KITH_TEST_DATA) + "/words/american-english";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no test data at " << path;
  const SequenceSet words = io::read_sequences(path).sequences;
  const SequenceIndex tree =
      SequenceIndex::build(words, SequenceMetric::edit, {.engine = Engine::cover_tree, .device = Device::cuda()});
  const SequenceIndex scan =
      SequenceIndex::build(words, SequenceMetric::edit, {.engine = Engine::brute_force, .device = Device::cuda()});
  expect_same(scan.knn_self(5), tree.knn_self(5));
  const SequenceIndex cpu = SequenceIndex::build(words, SequenceMetric::edit, {.engine = Engine::cover_tree});
  EXPECT_EQ(cpu.to_bytes(), tree.to_bytes());
}

/// Threads share an index, and the first of each length of queries.
TEST_F(CoverSearchOnDevice, ThreadsShareAnIndex) {
  std::mt19937_64 random(9);
  const SequenceSet objects = random_strings(random, 2000, 30, 6);
  const SequenceIndex gpu =
      SequenceIndex::build(objects, SequenceMetric::edit, {.engine = Engine::cover_tree, .device = Device::cuda()});
  const SequenceIndex cpu = SequenceIndex::build(objects, SequenceMetric::edit);
  std::vector<SequenceSet> asked;
  for (const std::uint32_t longest : {20u, 50u, 100u, 200u}) asked.push_back(random_strings(random, 30, longest, 6));
  std::vector<Neighbors> found(asked.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    threads.emplace_back([&, i] { found[i] = gpu.knn(asked[i], 5); });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < asked.size(); ++i) expect_same(cpu.knn(asked[i], 5), found[i]);
}

}  // namespace
}  // namespace kith::test
