// Sequences from strings and numbers, UTF-8 there and back.
#include "runtime/utf8.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/sequence_set.hpp>

#include <gtest/gtest.h>

namespace kith::test {
namespace {

using Items = std::vector<std::uint32_t>;

Items items_of(const SequenceSet& set, std::uint64_t i) {
  const auto items = set.sequence(i);
  return {items.begin(), items.end()};
}

TEST(SequenceSet, LettersBytesAndSets) {
  const auto text = SequenceSet::from_text({"", "aé€𝄞", "b"});
  EXPECT_EQ(text.size(), 3u);
  EXPECT_EQ(items_of(text, 0), Items());
  EXPECT_EQ(items_of(text, 1), (Items{'a', 0xE9, 0x20AC, 0x1D11E}));
  EXPECT_EQ(text.string(1), "aé€𝄞");
  EXPECT_EQ(text.view().item_count(), 5u);
  const auto bytes = SequenceSet::from_bytes({"é", "\xFF"});
  EXPECT_EQ(items_of(bytes, 0), (Items{0xC3, 0xA9}));
  EXPECT_EQ(bytes.string(1), "\xFF");
  const auto sets = SequenceSet::from_sets({{5, 1, 5, 3}, {}, {4294967295u, 0}});
  EXPECT_EQ(items_of(sets, 0), (Items{1, 3, 5}));
  EXPECT_EQ(items_of(sets, 1), Items());
  EXPECT_EQ(items_of(sets, 2), (Items{0, 4294967295u}));
}

TEST(SequenceSet, BadUtf8IsNamedByRowAndByte) {
  SequenceSet set(SequenceKind::text);
  set.add("good");
  EXPECT_PRED2(holds, thrown_message<BadData>([&] { set.add("caf\xE9"); }), "row 1, byte 3 (counted from 0): 0xe9");
  EXPECT_EQ(set.size(), 1u) << "what was bad was not added";
  EXPECT_EQ(set.view().item_count(), 4u);
  EXPECT_THROW(SequenceSet::from_text({"\xC3"}), BadData);
  EXPECT_THROW(SequenceSet(SequenceKind::sets).add("text"), UsageError);
  EXPECT_THROW(SequenceSet::from_sets({{1}}).string(0), UsageError);
  EXPECT_THROW(SequenceSet(SequenceKind::numbers, {1, 2}, {0, 1}), UsageError);
  EXPECT_THROW(SequenceSet(SequenceKind::numbers, {1, 2}, {0, 3, 2}), UsageError);
  EXPECT_THROW(SequenceSet(SequenceKind::numbers, {}, {}), UsageError);
}

TEST(Utf8, EveryCodePointComesBack) {
  Items points;
  std::string text;
  for (std::uint32_t point = 0; point <= runtime::kLastCodePoint; ++point) {
    if (!runtime::is_code_point(point)) continue;
    text.clear();
    points.clear();
    runtime::append_utf8(point, text);
    ASSERT_EQ(runtime::append_code_points(text, points), text.size()) << point;
    ASSERT_EQ(points, Items{point});
  }
}

TEST(Utf8, WhatIsNoCodePointIsRefused) {
  const auto bad_byte = [](const std::string& text) {
    Items points;
    return runtime::append_code_points(text, points);
  };
  for (const std::string bad : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF",
                                "\xED\xA0\x80", "\xED\xBF\xBF", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xFE",
                                "\xFF", "\xC3", "\xE2\x82", "\xF0\x9D\x84", "\xC3(", "\xE2\x82(", "\xE2(\xAC"}) {
    EXPECT_EQ(bad_byte("ab" + bad), 2u) << testing::PrintToString(bad);
    EXPECT_EQ(bad_byte("ab" + bad + "x"), 2u) << testing::PrintToString(bad);
  }
}

}  // namespace
}  // namespace kith::test
