// Edit, Hamming and Jaccard distances of sequences against tables, loops and merges that are slow and obvious.
#include "cpu/cover_tree/edit_space.hpp"
#include "cpu/cover_tree/hamming_space.hpp"
#include "cpu/cover_tree/jaccard_space.hpp"
#include "support/space_checks.hpp"

#include <string>
#include <string_view>

namespace kith::test {
namespace {

using Sequence = std::vector<std::uint32_t>;

struct OwnedRows {
  Sequence items;
  std::vector<std::uint64_t> offsets = {0};

  explicit OwnedRows(const std::vector<Sequence>& sequences) {
    for (const Sequence& s : sequences) {
      items.insert(items.end(), s.begin(), s.end());
      offsets.push_back(items.size());
    }
  }
  engine::SequenceRows rows() const { return {items.data(), offsets.data(), offsets.size() - 1}; }
};

float edit_distance(const Sequence& a, const Sequence& b) {
  std::vector<std::uint32_t> last(b.size() + 1), row(b.size() + 1);
  for (std::uint32_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1});
    }
    std::swap(last, row);
  }
  return static_cast<float>(last[b.size()]);
}

float hamming_distance(const Sequence& a, const Sequence& b) {
  std::uint32_t differ = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differ += a[i] != b[i] ? 1 : 0;
  return static_cast<float>(differ);
}

float jaccard_distance(const Sequence& a, const Sequence& b) {
  Sequence all(a);
  std::uint64_t common = 0;
  for (const std::uint32_t item : b) {
    if (std::find(a.begin(), a.end(), item) != a.end()) {
      ++common;
    } else {
      all.push_back(item);
    }
  }
  return all.empty() ? 0.0f : static_cast<float>(all.size() - common) / static_cast<float>(all.size());
}

/// The item that letter number `i` of an alphabet is: bytes, code points or anything.
std::uint32_t item_of(std::uint32_t i, std::uint64_t kind) {
  return kind == 0 ? 'a' + i : kind == 1 ? 0x400 + 7 * i : i * 2654435761u;
}

/// Lengths around the words of bit vectors; some sequences are others with a few edits.
std::vector<Sequence> random_sequences(std::mt19937_64& random, std::uint32_t alphabet, std::uint64_t kind,
                                       std::uint64_t count, bool is_long) {
  const std::uint32_t long_ones[] = {0, 1, 63, 64, 65, 127, 128, 129, 200, 300};
  std::vector<Sequence> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!all.empty() && random() % 2 == 0) {
      Sequence s = all[random() % all.size()];
      for (std::uint64_t edit = random() % 12; edit > 0; --edit) {
        const std::uint32_t item = item_of(static_cast<std::uint32_t>(random() % alphabet), kind);
        const auto place = s.begin() + static_cast<std::ptrdiff_t>(random() % (s.size() + 1));
        if (place == s.end() || random() % 3 == 0) {
          s.insert(place, item);
        } else if (random() % 2 == 0) {
          *place = item;
        } else {
          s.erase(place);
        }
      }
      all.push_back(s);
      continue;
    }
    Sequence s(is_long ? long_ones[random() % std::size(long_ones)] : random() % 14);
    for (auto& item : s) item = item_of(static_cast<std::uint32_t>(random() % alphabet), kind);
    all.push_back(s);
  }
  return all;
}

template <typename S>
void check_sequences(const std::vector<Sequence>& inside, const std::vector<Sequence>& outside, std::mt19937_64& random,
                     float (*distance)(const Sequence&, const Sequence&)) {
  const OwnedRows owned(inside);
  const S space(owned.rows());
  ASSERT_EQ(space.size(), inside.size());
  std::vector<std::span<const std::uint32_t>> asked(outside.begin(), outside.end());
  check_space(
      space, asked, random, [&](std::uint32_t a, std::uint32_t b) { return distance(inside[a], inside[b]); },
      [&](std::uint32_t i, std::uint32_t b) { return distance(outside[i], inside[b]); });
  for (int round = 0; round < 100 && !inside.empty(); ++round) {
    const auto a = static_cast<std::uint32_t>(random() % inside.size());
    const auto b = static_cast<std::uint32_t>(random() % inside.size());
    ASSERT_EQ(space.same(a, b), inside[a] == inside[b]);
  }
}

TEST(EditSpace, MeasuresLikeTheTable) {
  const std::uint32_t alphabets[] = {1, 2, 4, 26, 200, 300, 5000};
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const bool is_long = random() % 4 == 0;
    const std::uint32_t alphabet = alphabets[random() % std::size(alphabets)];
    const std::uint64_t kind = random() % 3;
    const auto inside = random_sequences(random, alphabet, kind, random() % (is_long ? 12 : 60), is_long);
    auto outside = random_sequences(random, alphabet + 3, kind, 6, is_long);  // with items that no sequence has
    outside.push_back({});
    check_sequences<cpu::EditSpace>(inside, outside, random, edit_distance);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(EditSpace, HasRoomForManyDistinctItems) {
  std::mt19937_64 random(5);
  std::vector<Sequence> inside;
  for (std::uint32_t i = 0; i < 900; ++i) {
    Sequence s;
    for (std::uint32_t j = 0; j < 80; ++j) s.push_back((i * 80 + j) * 40503u);  // more than fit 16 bits
    if (i % 3 == 0) s.resize(i % 10);
    inside.push_back(s);
  }
  for (std::uint32_t i = 0; i < 300; ++i) inside.push_back({7 + i});
  const OwnedRows owned(inside);
  const cpu::EditSpace space(owned.rows());
  std::vector<std::uint32_t> order(space.size());
  for (std::uint32_t i = 0; i < space.size(); ++i) order[i] = i;
  const auto rows = space.arrange(order, 2);
  cpu::EditSpace::Query query;
  for (const std::uint32_t asked : {3u, 4u, 5u, 899u, 1000u}) {
    space.ask(query, asked);
    expect_measured<cpu::EditSpace>(rows, query, 0, 40, 90,
                                    [&](std::uint32_t i) { return edit_distance(inside[asked], inside[i]); });
  }
}

TEST(EditSpace, KnowsWords) {
  const auto letters = [](std::string_view text) { return Sequence(text.begin(), text.end()); };
  const OwnedRows owned({letters("kitten"), letters("sitting"), letters(""), letters("sitting")});
  const cpu::EditSpace space(owned.rows());
  const std::uint32_t order[] = {3, 2, 1, 0};
  const auto rows = space.arrange(order, 1);
  cpu::EditSpace::Query query;
  const Sequence outside = letters("kitten");
  space.ask_outside(query, outside);
  float values[4];
  rows.measure(query, 0, 4, 100, values);
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(values[1], 6);
  EXPECT_EQ(values[2], 3);
  EXPECT_EQ(values[3], 0);
  EXPECT_TRUE(space.rounding().is_exact());
}

/// The proof is in edit_signature.hpp; this would find a slip in it.
TEST(EditSignature, IsNeverAboveTheDistance) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20000; ++round) {
    const std::uint32_t alphabet = 1 + static_cast<std::uint32_t>(random() % 70);
    const auto pair = random_sequences(random, alphabet, 0, 2, false);
    const cpu::EditSignature signature(alphabet);
    Sequence a = pair[0], b = pair[1];
    for (auto& item : a) item -= 'a';
    for (auto& item : b) item -= 'a';
    const std::uint64_t x = signature.of(a), y = signature.of(b);
    const auto longer = static_cast<int>(a.size()) - static_cast<int>(b.size());
    const int bound = std::max(std::popcount(x & ~y), std::popcount(x & ~y) - longer);
    ASSERT_LE(static_cast<float>(bound), edit_distance(a, b)) << "round " << round;
  }
}

TEST(HammingSpace, CountsThePlacesThatDiffer) {
  const std::uint32_t alphabets[] = {1, 2, 4, 255, 256, 300, 5000};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const std::uint32_t alphabet = alphabets[random() % std::size(alphabets)];
    const std::uint64_t kind = random() % 3;
    const std::size_t length = random() % 3 == 0 ? random() % 1000 : random() % 20;
    std::vector<Sequence> inside(random() % 40, Sequence(length)), outside(5, Sequence(length));
    for (auto& s : inside) {
      for (auto& item : s) item = item_of(static_cast<std::uint32_t>(random() % alphabet), kind);
      if (random() % 4 == 0) s = inside[random() % inside.size()];
    }
    for (auto& s : outside) {
      for (auto& item : s) item = item_of(static_cast<std::uint32_t>(random() % (alphabet + 2)), kind);
    }
    check_sequences<cpu::HammingSpace>(inside, outside, random, hamming_distance);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(JaccardSpace, MeasuresTheShareThatIsNotCommon) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const std::uint64_t kind = random() % 3;
    const std::uint64_t most_items = random() % 2 == 0 ? 20 : 400;
    const std::uint32_t universe = static_cast<std::uint32_t>(1 + random() % most_items);
    const auto some_set = [&](std::uint32_t extra) {
      Sequence s(random() % 5 == 0 ? 0 : random() % universe);
      for (auto& item : s) item = item_of(static_cast<std::uint32_t>(random() % (universe + extra)), kind);
      std::sort(s.begin(), s.end());
      s.erase(std::unique(s.begin(), s.end()), s.end());
      return s;
    };
    std::vector<Sequence> inside(random() % 40), outside(5);
    for (auto& s : inside) s = some_set(0);
    for (auto& s : outside) s = some_set(10);
    check_sequences<cpu::JaccardSpace>(inside, outside, random, jaccard_distance);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace kith::test
