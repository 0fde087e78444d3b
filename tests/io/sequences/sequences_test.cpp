// Lines, FASTA, PHYLIP and sets: what they hold, and what is said of files that are not as they should be.
#include "io/sequences/sequence_formats.hpp"
#include "io/text/text_input.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/io/read_sequences.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace kith {
namespace {

using io::SequenceFile;
using io::SequenceFormat;
using test::holds;
using testing_text::memory_file;
using testing_text::message_of;
using Strings = std::vector<std::string>;

SequenceFile sequences_in(const std::string& text, const std::string& name = "x", SequenceFormat format = {},
                          SequenceKind kind = SequenceKind::text) {
  return io::read_sequences(memory_file(text, name), {.format = format, .kind = kind});
}

Strings strings_of(const SequenceFile& file) {
  Strings all;
  for (std::uint64_t i = 0; i < file.sequences.size(); ++i) all.push_back(file.sequences.string(i));
  return all;
}

std::string refusal(const std::string& text, SequenceFormat format) {
  return message_of<BadData>([&] { sequences_in(text, "x", format); });
}

TEST(LinesOfText, EndsAndMarks) {
  EXPECT_EQ(strings_of(sequences_in("one\ntwo\n")), (Strings{"one", "two"}));
  EXPECT_EQ(strings_of(sequences_in("one\r\ntwo")), (Strings{"one", "two"}));
  EXPECT_EQ(strings_of(sequences_in("\xEF\xBB\xBFone\n")), (Strings{"one"}));
  EXPECT_EQ(strings_of(sequences_in("")), Strings());
  EXPECT_EQ(strings_of(sequences_in("\n")), Strings{""});
  EXPECT_EQ(strings_of(sequences_in(" a b \n\tc")), (Strings{" a b ", "\tc"})) << "blanks are letters, too";
  const SequenceFile gaps = sequences_in("one\n\n\ntwo\n\n");
  EXPECT_EQ(strings_of(gaps), (Strings{"one", "", "", "two", ""}));
  EXPECT_EQ(gaps.notes, Strings{"3 empty lines were read as empty strings"});
  EXPECT_EQ(sequences_in("a\n").notes, Strings());
  EXPECT_EQ(sequences_in("é\n").sequences.sequence(0).size(), 1u);
  EXPECT_EQ(sequences_in("é\n", "x", {}, SequenceKind::bytes).sequences.sequence(0).size(), 2u);
}

TEST(LinesOfText, WhatIsNoTextIsRefused) {
  EXPECT_PRED2(holds, refusal("good\ncaf\xE9\n", SequenceFormat::lines), "x: line 2: byte 4 of the string");
  EXPECT_EQ(strings_of(sequences_in("caf\xE9\n", "x", {}, SequenceKind::bytes)), Strings{"caf\xE9"});
  const auto corrupt = [](const std::string& text) { return message_of<CorruptFile>([&] { sequences_in(text); }); };
  EXPECT_PRED2(holds, corrupt(std::string("a\0b", 3)), "byte 1 is NUL");
  EXPECT_PRED2(holds, corrupt("\xFF\xFEh"), "UTF-16");
  EXPECT_PRED2(holds, corrupt("\x93NUMPY"), "NumPy array");
  EXPECT_PRED2(holds, corrupt("\x89KITH\r\n\x1a"), "kith index");
}

TEST(Fasta, NamesAndSequences) {
  const SequenceFile file = sequences_in(">one first\nACGT\nAC GT\n;comment\n\n>two\r\nTTT\r\n> three \n", "x.fa");
  EXPECT_EQ(file.format, SequenceFormat::fasta);
  EXPECT_EQ(file.names, (Strings{"one first", "two", "three"}));
  EXPECT_EQ(strings_of(file), (Strings{"ACGTACGT", "TTT", ""}));
  EXPECT_EQ(file.notes, Strings{"1 name is followed by no letters and read as empty"});
  EXPECT_EQ(sequences_in("\n>a\nAC\n").format, SequenceFormat::fasta) << "by its first bytes";
  EXPECT_EQ(sequences_in(";old\n>a\nAC\n", "x.fasta.gz").names, Strings{"a"});
  EXPECT_EQ(sequences_in("", "x.fa").sequences.size(), 0u);
  EXPECT_PRED2(holds, refusal("ACGT\n>a\n", SequenceFormat::fasta), "line 1: letters before the first line");
  EXPECT_PRED2(holds, refusal(">a\nAC\x01T\n", SequenceFormat::fasta), "line 2: a sequence holds no control");
}

TEST(Phylip, SequentialAndInterleaved) {
  const Strings expected = {"ACGTAC", "TTTTTT"};
  for (const std::string text : {"2 6\nalpha ACGTAC\nbeta  TTTTTT\n",                  // a line each
                                 " 2   6\nalpha ACG TAC\nbeta\nTTT\nTTT\n",            // sequential
                                 "2 6\nalpha ACG\nTAC\nbeta TTT\nTTT\n",               // sequential
                                 "2 6\nalpha ACG\nbeta  TTT\n\nTAC\nTTT\n",            // interleaved
                                 "\n2 6\r\nalpha ACG\r\nbeta  TTT\r\n\r\nTAC\r\nTTT",  // the same
                                 "2 6\nalpha     ACG\nbeta      TTT\n\n    TAC\n    TTT\n"}) {
    SCOPED_TRACE(text);
    const SequenceFile file = sequences_in(text, "x.phy");
    EXPECT_EQ(strings_of(file), expected);
    EXPECT_EQ(file.names, (Strings{"alpha", "beta"}));
  }
  const SequenceFile strict = sequences_in("2 4\nHomo sapieACGT\nPan       ACGA\n", "x.dna");
  EXPECT_EQ(strict.format, SequenceFormat::phylip) << "by its first line";
  EXPECT_EQ(strict.names, (Strings{"Homo sapie", "Pan"}));
  EXPECT_EQ(strings_of(strict), (Strings{"ACGT", "ACGA"}));
  EXPECT_EQ(strings_of(sequences_in("1 2\na éü\n")), Strings{"éü"}) << "letters are counted, not bytes";
  EXPECT_EQ(sequences_in("0 0\n", "x.phy").sequences.size(), 0u);
}

TEST(Phylip, CountsThatAreWrongAreNamed) {
  const auto told = [](const std::string& text) { return refusal(text, SequenceFormat::phylip); };
  EXPECT_PRED2(holds, told(""), "is empty");
  EXPECT_PRED2(holds, told("2\na AC\n"), "two whole numbers");
  EXPECT_PRED2(holds, told("x y\n"), "two whole numbers");
  EXPECT_PRED2(holds, told("2 2 2\n"), "two whole numbers");
  EXPECT_PRED2(holds, told("-1 2\n"), "two whole numbers");
  EXPECT_PRED2(holds, told("3 2\na AC\nb AC\n"), "3 sequences are promised, but only 2 lines follow");
  EXPECT_PRED2(holds, told("99999999999999999999 2\n"), "two whole numbers");
  EXPECT_PRED2(holds, told("2 3\na ACT\nb AC\n"), "\"b\" has 2 letters, but line 1 promises 3");
  EXPECT_PRED2(holds, told("2 2\na ACT\nb AC\n"), "\"a\" has 3 letters");
  EXPECT_PRED2(holds, told("2 2\na AC\nb AC\nc AC\n"), "line 4");
  EXPECT_PRED2(holds, told("0 2\na AC\n"), "no sequences are promised");
}

TEST(SetsOfNumbers, BlanksAndCommas) {
  const SequenceFile file = sequences_in("3 1,2\n\n7\t7, 0\r\n4294967295", "x", SequenceFormat::sets);
  ASSERT_EQ(file.sequences.size(), 4u);
  EXPECT_EQ(file.sequences.kind(), SequenceKind::sets);
  const auto set = [&](std::uint64_t i) {
    const auto items = file.sequences.sequence(i);
    return std::vector<std::uint32_t>(items.begin(), items.end());
  };
  EXPECT_EQ(set(0), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(set(1), (std::vector<std::uint32_t>{}));
  EXPECT_EQ(set(2), (std::vector<std::uint32_t>{0, 7}));
  EXPECT_EQ(set(3), (std::vector<std::uint32_t>{4294967295u}));
  EXPECT_EQ(file.notes,
            (Strings{"1 empty line was read as an empty set", "1 set holds a number more than once; once counts"}));
  for (const std::string bad : {"-1", "1.5", "4294967296", "x", "1;2", "0x10"}) {
    EXPECT_PRED2(holds, refusal("1 2\n3 " + bad + "\n", SequenceFormat::sets),
                 "x: line 2: \"" + bad + "\" is not a whole number");
  }
}

TEST(TextColumn, HoldsTheStringsOfATable) {
  const auto column = [](const std::string& text, const std::string& name) {
    return strings_of(io::read_sequences(memory_file(text), {.text_column = name}));
  };
  const std::string table = "\xEF\xBB\xBF# made\nid,name\n1,\"a, \"\"b\"\"\"\n\n2,#N/A\n3,\n4,na\xC3\xAFve\n";
  EXPECT_EQ(column(table, "name"), (Strings{"a, \"b\"", "#N/A", "", "na\xC3\xAFve"}));
  EXPECT_EQ(column(table, "2"), column(table, "last"));
  EXPECT_EQ(column("a\tb\nc\td\n", "2"), (Strings{"b", "d"}));
  EXPECT_EQ(message_of<BadData>([&] { column("a,b\n1,x\n2\n", "b"); }),
            "points.csv: line 3: 1 field, but the header in line 1 has 2");
  EXPECT_PRED2(holds, message_of<BadData>([&] { column("a,b\n1,\xE9\n", "b"); }), "line 2: byte 1 of the string");
  EXPECT_PRED2(holds, message_of<UsageError>([&] { column("a,b\n1,2\n", "c"); }), "there is no column");
}

TEST(Shingles, AreSetsOfLettersInARow) {
  const SequenceSet strings = SequenceSet::from_text({"abcd", "bcd", "ab", "", "aaaa", "d\xC3\xA9j\xC3\xA0"});
  const SequenceSet sets = io::shingles_of(strings, 3);
  const auto size = [&](std::uint64_t i) { return sets.sequence(i).size(); };
  EXPECT_EQ(sets.kind(), SequenceKind::sets);
  EXPECT_EQ((std::vector<std::size_t>{size(0), size(1), size(2), size(3), size(4), size(5)}),
            (std::vector<std::size_t>{2, 1, 1, 0, 1, 2}));
  EXPECT_TRUE(std::ranges::includes(sets.sequence(0), sets.sequence(1)));
  // The numbers are part of index files, so they never change.
  EXPECT_EQ(io::shingles_of(SequenceSet::from_text({"abc"}), 3).sequence(0)[0], 1266282u);
  const SequenceSet words = io::words_of(SequenceSet::from_text({" b  a\tb ", "a b", "ab"}));
  EXPECT_TRUE(std::ranges::equal(words.sequence(0), words.sequence(1)));
  EXPECT_EQ(words.sequence(0).size(), 2u);
  EXPECT_EQ(words.sequence(2).size(), 1u);
  EXPECT_THROW(io::shingles_of(strings, 0), UsageError);
  EXPECT_THROW(io::shingles_of(sets, 3), UsageError);
}

TEST(SequenceFormats, NamesAndExtensions) {
  for (const SequenceFormat format : {SequenceFormat::automatic, SequenceFormat::lines, SequenceFormat::fasta,
                                      SequenceFormat::phylip, SequenceFormat::sets}) {
    EXPECT_EQ(io::parse_sequence_format(io::name_of(format)), format);
  }
  EXPECT_THROW(io::parse_sequence_format("csv"), UsageError);
  EXPECT_EQ(io::sequence_format_of_extension("a/b.FASTA"), SequenceFormat::fasta);
  EXPECT_EQ(io::sequence_format_of_extension("b.phy.gz"), SequenceFormat::phylip);
  EXPECT_EQ(io::sequence_format_of_extension("fasta"), SequenceFormat::automatic);
  EXPECT_EQ(sequences_in("2 3\nx\n", "words.txt").format, SequenceFormat::lines) << "the name counts first";
}

TEST(SequenceFormats, AnyBytesAreReadOrRefused) {
  std::mt19937_64 random(17);
  const std::string some = ">;\n\r \t0123 ,ACGTé\xFF\x80";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    if (random() % 3 == 0) {
      text += std::to_string(random() % 4) + " ";
      text += std::to_string(random() % 4) + "\n";
    }
    for (std::uint64_t left = random() % 30; left > 0; --left) text += some[random() % some.size()];
    const auto format = static_cast<SequenceFormat>(random() % 5);
    const auto kind = random() % 2 == 0 ? SequenceKind::text : SequenceKind::bytes;
    SCOPED_TRACE(testing::PrintToString(text));
    try {
      const SequenceFile file = sequences_in(text, "x", format, kind);
      ASSERT_LE(file.sequences.size(), text.size() + 1);
      ASSERT_TRUE(file.names.empty() || file.names.size() == file.sequences.size());
    } catch (const Error&) {
    }
  }
}

class SharedSequences : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(KITH_TEST_DATA)) GTEST_SKIP() << "no test data at " << KITH_TEST_DATA;
  }
  static SequenceFile data(const std::string& name, SequenceKind kind = SequenceKind::text) {
    return io::read_sequences(std::string(KITH_TEST_DATA) + "/" + name, {.kind = kind});
  }
};

TEST_F(SharedSequences, Words) {
  const SequenceFile file = data("words/american-english");
  EXPECT_EQ(file.format, SequenceFormat::lines);
  EXPECT_EQ(file.sequences.size(), 104334u);
  std::uint64_t foreign = 0;
  for (std::uint64_t i = 0; i < file.sequences.size(); ++i) {
    foreign += std::ranges::any_of(file.sequences.sequence(i), [](std::uint32_t letter) { return letter > 127; });
  }
  EXPECT_EQ(foreign, 256u);
  EXPECT_EQ(file.notes, Strings());
  EXPECT_EQ(data("words/american-english", SequenceKind::bytes).view().item_count(), 985084u - 104334u);
}

TEST_F(SharedSequences, Dna) {
  const SequenceFile mice = data("sequences/woodmouse.fasta");
  EXPECT_EQ(mice.format, SequenceFormat::fasta);
  ASSERT_EQ(mice.sequences.size(), 15u);
  EXPECT_EQ(mice.names[0], "No305");
  for (std::uint64_t i = 0; i < 15; ++i) EXPECT_EQ(mice.sequences.sequence(i).size(), 965u);
  const SequenceFile primates = data("sequences/primates.dna");
  EXPECT_EQ(primates.format, SequenceFormat::phylip);
  ASSERT_EQ(primates.sequences.size(), 14u);
  EXPECT_EQ(primates.names[4], "Squir Monk");
  for (std::uint64_t i = 0; i < 14; ++i) EXPECT_EQ(primates.sequences.sequence(i).size(), 232u);
}

}  // namespace
}  // namespace kith
