// Rows of a text file copied as they stood with further columns behind them.
#include "io/text/text_input.hpp"
#include "support/thrown_message.hpp"

#include <kith/io/append_columns.hpp>

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace kith {
namespace {

using test::holds;
using test::thrown_message;

class AppendColumns : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::string(KITH_TEST_TEMPORARY) + "/append-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string in(const std::string& text) const {
    std::ofstream(path("in.csv"), std::ios::binary) << text;
    return path("in.csv");
  }
  std::string out() const {
    std::ostringstream text;
    text << std::ifstream(path("out.csv"), std::ios::binary).rdbuf();
    return text.str();
  }

  /// "r0", "r1", ... as column "more" behind each row.
  std::string appended(const std::string& text, std::uint64_t rows, const io::ReadOptions& options = {}) const {
    io::append_columns(in(text), options, path("out.csv"), columns_, rows);
    return out();
  }

  std::vector<io::AppendedColumn> columns_ = {
      {"more", [](std::uint64_t row, std::string& to) { to += fmt::format("r{}", row); }}};
  std::string folder_;
};

TEST_F(AppendColumns, RowsStayAsTheyStood) {
  EXPECT_EQ(appended("x,y\n1.50, +2\n3e0,\"4\"\n", 2), "x,y,more\n1.50, +2,r0\n3e0,\"4\",r1\n");
  EXPECT_EQ(appended("1;2\n3;4", 2), "1;2;r0\n3;4;r1\n");
  EXPECT_EQ(appended("a\tb\n1\t2\n", 1), "a\tb\tmore\n1\t2\tr0\n");
  EXPECT_EQ(appended(" 1   2\t3\n 4 5 6 \n", 2), " 1   2\t3 r0\n 4 5 6  r1\n");
  EXPECT_EQ(appended("a|b\n1|2\n", 1), "a|b|more\n1|2|r0\n");
}

TEST_F(AppendColumns, LineEndsAndByteOrderMarkStay) {
  EXPECT_EQ(appended("\xEF\xBB\xBFx,y\r\n1,2\n3,4\r\n5,6", 3), "\xEF\xBB\xBFx,y,more\r\n1,2,r0\n3,4,r1\r\n5,6,r2\n");
}

TEST_F(AppendColumns, CommentsAndBlankLinesAreLeftOut) {
  EXPECT_EQ(appended("# made up\n\nx,y\n1,2\n\n% no row\n// nor this\n3,4\n \t\n", 2), "x,y,more\n1,2,r0\n3,4,r1\n");
}

TEST_F(AppendColumns, ACommentThatNamesTheColumnsIsTheHeader) {
  EXPECT_EQ(appended("# about\n# x y\n1 2\n3 4\n", 2), "# x y more\n1 2 r0\n3 4 r1\n");
}

TEST_F(AppendColumns, ACountAboveTheRowsStays) {
  EXPECT_EQ(appended("2\n1 2 3\n4 5 6\n", 2), "2\n1 2 3 r0\n4 5 6 r1\n");
  EXPECT_EQ(appended("1\nwater\nO 0.1 0.2 0.3\n", 1), "1\nwater\nO 0.1 0.2 0.3 r0\n");
}

TEST_F(AppendColumns, WhatTheCallerKnowsOfTheFileCounts) {
  EXPECT_EQ(appended("1,2\n3,4\n", 1, {.header = true}), "1,2,more\n3,4,r0\n");
  EXPECT_EQ(appended("a,b\n1,2\n", 2, {.header = false}), "a,b,r0\n1,2,r1\n");
  EXPECT_EQ(appended("1:2\n", 1, {.delimiter = ':'}), "1:2:r0\n");
}

TEST_F(AppendColumns, SeveralColumnsAndTextThatNeedsQuotes) {
  columns_ = {{"a,b", [](std::uint64_t row, std::string& to) { to = row == 0 ? "x,y" : "say \"hi\""; }},
              {"", [](std::uint64_t row, std::string& to) { to = row == 0 ? "" : " blank"; }},
              {"plain", [](std::uint64_t, std::string& to) { to = "-1.5"; }}};
  EXPECT_EQ(appended("p,q\n1,2\n3,4\n", 2),
            "p,q,\"a,b\",\"\",plain\n1,2,\"x,y\",\"\",-1.5\n3,4,\"say \"\"hi\"\"\",\" blank\",-1.5\n");
  const io::PointFile file = io::read_points(path("out.csv"), {.columns = {"p", "q", "plain"}, .label = "a,b"});
  EXPECT_EQ(file.labels->names, (std::vector<std::string>{"x,y", "say \"hi\""}));
  columns_ = {{"bad", [](std::uint64_t, std::string& to) { to = "two\nlines"; }}};
  EXPECT_THROW(appended("1,2\n", 1), UsageError);
}

TEST_F(AppendColumns, LongFilesTakeSeveralBlocks) {
  std::string text = "x,y\n";
  std::string expected = "x,y,more\n";
  for (int row = 0; row < 120000; ++row) {
    const std::string line = fmt::format("{}.25,{}", row, row % 7);
    text += line + "\n";
    expected += fmt::format("{},r{}\n", line, row);
  }
  EXPECT_TRUE(appended(text, 120000) == expected);
}

TEST_F(AppendColumns, AHeaderAloneGetsTheNames) { EXPECT_EQ(appended("x,y\n", 0), "x,y,more\n"); }

TEST_F(AppendColumns, TheOutputMayBeTheInput) {
  io::append_columns(in("1,2\n"), {}, path("in.csv"), columns_, 1);
  EXPECT_EQ(io::read_points(path("in.csv"), {.label = "last"}).labels->names.at(0), "r0");
}

TEST_F(AppendColumns, GzipIsUndone) {
  const gzFile gz = gzopen(path("in.csv.gz").c_str(), "wb");
  gzputs(gz, "x,y\n1,2\n");
  gzclose(gz);
  io::append_columns(path("in.csv.gz"), {}, path("out.csv"), columns_, 1);
  EXPECT_EQ(out(), "x,y,more\n1,2,r0\n");
}

TEST_F(AppendColumns, AFileThatChangedIsRefusedAndNothingIsLeft) {
  EXPECT_PRED2(holds, thrown_message<IoError>([&] { appended("x,y\n1,2\n3,4\n", 1); }), "more than the 1 rows");
  EXPECT_PRED2(holds, thrown_message<IoError>([&] { appended("x,y\n1,2\n3,4\n", 3); }), "fewer than the 3 rows");
  EXPECT_THROW(io::append_columns(in("1,2\n"), {}, path("out.csv"), columns_, 1, [](const Progress&) { return false; }),
               Interrupted);
  EXPECT_FALSE(std::filesystem::exists(path("out.csv")));
}

TEST_F(AppendColumns, WhatIsNoTextFileIsRefused) {
  const auto message = [&](const std::string& file, const io::ReadOptions& options = {}) {
    return thrown_message<UsageError>([&] { io::append_columns(file, options, path("out.csv"), columns_, 1); });
  };
  EXPECT_PRED2(holds, message("-"), "standard input can be read only once");
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_PRED2(holds, message(path("pipe")), "save it to a file first");
  std::ofstream(path("p.fvecs")) << std::string("\1\0\0\0abcd", 8);
  EXPECT_PRED2(holds, message(path("p.fvecs")), "is fvecs, but columns can only be added to text; convert it to CSV");
  EXPECT_PRED2(holds, message(in("1,2\n"), {.format = io::Format::npy}), "is npy");
  EXPECT_THROW(io::append_columns(path("nothing.csv"), {}, path("out.csv"), columns_, 1), IoError);
  EXPECT_FALSE(std::filesystem::exists(path("out.csv")));
}

}  // namespace
}  // namespace kith
