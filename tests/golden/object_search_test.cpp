// Searches among rows of bits, strings and sets: one digest for every engine, device and number of threads.
#include "golden/digest.hpp"
#include "golden/golden_points.hpp"
#include "golden/golden_section.hpp"

#include <kith/bit_index.hpp>
#include <kith/device.hpp>
#include <kith/sequence_index.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kith::test {
namespace {

/// Half of the rows differ in few bits from the row before them.
std::vector<std::uint8_t> golden_bits(std::uint64_t rows, std::uint32_t bits, std::uint64_t seed) {
  const std::uint64_t width = (bits + 7) / 8;
  std::vector<std::uint8_t> bytes(rows * width);
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint64_t b = 0; b < width; ++b) {
      const std::uint64_t word = golden_word(seed, i * width + b);
      const bool is_near = i > 0 && golden_word(seed + 1, i) % 2 == 0;
      const auto near = static_cast<std::uint8_t>(word % 4 == 0 ? 1u << word / 4 % 8 : 0);
      bytes[i * width + b] =
          is_near ? static_cast<std::uint8_t>(bytes[(i - 1) * width + b] ^ near) : static_cast<std::uint8_t>(word);
    }
  }
  return bytes;
}

/// Sequences of up to `longest` items (of exactly that many for Hamming), half of them near the one before.
SequenceSet golden_sequences(SequenceMetric metric, std::uint64_t count, std::uint32_t longest, std::uint64_t seed) {
  SequenceSet set(metric == SequenceMetric::jaccard ? SequenceKind::sets : SequenceKind::numbers);
  std::vector<std::uint32_t> items;
  std::uint64_t number = 0;
  const auto below = [&](std::uint64_t bound) {
    return static_cast<std::uint32_t>(golden_word(seed, number++) % bound);
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    if (below(2) == 0 && !items.empty()) {
      const std::uint32_t place = below(items.size());
      items[place] = below(9);
    } else {
      items.resize(metric == SequenceMetric::hamming ? longest : below(longest + 1));
      for (std::uint32_t& item : items) item = below(9) * 1000;
    }
    set.add(items);
  }
  return set;
}

/// Everything that an index of bits or sequences answers.
template <typename Index, typename View, typename Options>
std::string answers(const Index& index, View queries, std::uint32_t k, double radius, Options options) {
  Digest digest;
  digest.add(index.knn(queries, k, options)).add(index.radius(queries, radius, options));
  digest.add(index.count(queries, radius, options)).add(index.knn_self(k, options));
  Options capped = options;
  capped.max_neighbors = 3;
  digest.add(index.radius(queries, radius, capped));
  Options others = options;
  others.exclude_self = true;
  digest.add(index.knn_self(k, others)).add(index.count_self(radius, others));
  others.earlier_only = true;
  digest.add(index.radius_self(radius, others));
  others.max_distance = radius;
  digest.add(index.knn_self(k, others));
  return digest.text();
}

/// Both engines that bits and sequences have on every device that is there, on one and two threads.
template <typename Answer>
void for_each_object_engine(Answer&& answer) {
  for (const DeviceInfo& info : available_devices()) {
    for (const Engine engine : {Engine::brute_force, Engine::cover_tree}) {
      for (const int threads : {1, 2}) {
        answer(engine, info.device, threads,
               fmt::format("{} on {}, {} threads,", name_of(engine), info.device.name(), threads));
      }
    }
  }
}

TEST(GoldenObjects, Bits) {
  GoldenSection golden("bits");
  for (const std::uint32_t bits : {1u, 7u, 64u, 100u, 256u, 1000u}) {
    for (const std::uint32_t k : {1u, 10u}) {
      const std::vector<std::uint8_t> points = golden_bits(250, bits, 10), queries = golden_bits(30, bits, 20);
      for_each_object_engine([&](Engine engine, Device device, int threads, const std::string& by) {
        const BitIndex index =
            BitIndex::build({points.data(), 250, bits}, {.engine = engine, .device = device, .threads = threads});
        const BitView asked(queries.data(), 30, bits);
        const double radius = bits / 4.0;
        golden.check(fmt::format("hamming_250x{}_k{}", bits, k),
                     answers(index, asked, k, radius, SearchOptions{.threads = threads}), by);
      });
    }
  }
}

TEST(GoldenObjects, Sequences) {
  GoldenSection golden("sequences");
  for (const SequenceMetric metric : {SequenceMetric::edit, SequenceMetric::hamming, SequenceMetric::jaccard}) {
    for (const std::uint32_t longest : {4u, 12u, 40u, 90u}) {
      const std::uint64_t count = longest > 60 ? 60 : 200;
      const SequenceSet points = golden_sequences(metric, count, longest, 30);
      const SequenceSet queries = golden_sequences(metric, 25, longest, 31);
      for (const std::uint32_t k : {3u, 12u}) {
        for_each_object_engine([&](Engine engine, Device device, int threads, const std::string& by) {
          const SequenceIndex index =
              SequenceIndex::build(points, metric, {.engine = engine, .device = device, .threads = threads});
          const double radius = metric == SequenceMetric::jaccard ? 0.5 : longest / 2.0;
          golden.check(fmt::format("{}_{}x{}_k{}", name_of(metric), count, longest, k),
                       answers(index, queries.view(), k, radius, SearchOptions{.threads = threads}), by);
        });
      }
    }
  }
}

TEST(GoldenObjects, TheirIndexFiles) {
  GoldenSection golden("object_files");
  const std::vector<std::uint8_t> rows = golden_bits(250, 100, 10);
  for_each_object_engine([&](Engine engine, Device device, int threads, const std::string& by) {
    const BitIndex bits =
        BitIndex::build({rows.data(), 250, 100}, {.engine = engine, .device = device, .threads = threads});
    golden.check(fmt::format("hamming_250x100_{}", name_of(engine)), digest_of(bits.to_bytes()), by);
    for (const SequenceMetric metric : {SequenceMetric::edit, SequenceMetric::hamming, SequenceMetric::jaccard}) {
      const SequenceSet points = golden_sequences(metric, 200, 12, 30);
      const SequenceIndex index =
          SequenceIndex::build(points, metric, {.engine = engine, .device = device, .threads = threads});
      golden.check(fmt::format("{}_200x12_{}", name_of(metric), name_of(engine)), digest_of(index.to_bytes()), by);
    }
  });
}

}  // namespace
}  // namespace kith::test
