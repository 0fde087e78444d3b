// Which lines of a text file are comments, and that a value with a marker of comments never makes a row vanish.
#include "io/text/text_input.hpp"

#include <cmath>

namespace kith {
namespace {

using namespace testing_text;

TEST(TextComments, ValuesOfSpreadsheetErrorsAreNotComments) {
  for (const std::string value :
       {"#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NV", "#BEZUG!", "#####"}) {
    for (const std::string delimiter : {",", ";", "\t"}) {
      const std::string good = "1" + delimiter + "2\n";
      const std::string bad = value + delimiter + "5\n";
      for (const std::string& text : {good + bad + good, bad + good + good, "x" + delimiter + "y\n" + bad + good}) {
        SCOPED_TRACE(text);
        const std::string message = failure_of<BadData>(text);
        EXPECT_NE(message.find("\"" + value + "\" is not a number"), std::string::npos) << message;
        EXPECT_NE(message.find("`missing_as_nan=true`"), std::string::npos) << message;
        const auto file = read(text, {.missing_as_nan = true});
        EXPECT_EQ(file.points.rows(), text.starts_with("x") ? 2u : 3u);
        EXPECT_EQ(read(text, {.label = "1"}).points.rows(), file.points.rows());
      }
    }
  }
  EXPECT_NE(failure_of<BadData>("1\n#N/A\n2\n").find("line 2, column 1: \"#N/A\" is not a number"), std::string::npos);
  EXPECT_NE(failure_of<BadData>("#N/A\n2\n3\n").find("line 1, column 1: \"#N/A\" is not a number"), std::string::npos);
}

TEST(TextComments, ABlankBehindTheMarkerMakesAComment) {
  const auto file = read("x,y\n1,2\n# one\n#\ttwo\n#\n#\r\n% three\n//\n// four\n  # five\n3,4\n# six");
  EXPECT_EQ(values_of(file), (Values{1, 2, 3, 4}));
  EXPECT_EQ(file.text->comment_lines, 9u);
}

TEST(TextComments, TextBehindTheMarkerIsAValueBelowTheFirstRow) {
  for (const std::string value : {"#5", "#end", "%5", "//server/x", "#1.5", "##"}) {
    SCOPED_TRACE(value);
    const std::string message = failure_of<BadData>("1,2\n" + value + ",3\n4,5\n");
    EXPECT_NE(message.find("line 2, column 1: \"" + value + "\" is not a number"), std::string::npos) << message;
    const auto file = read("1,2\n" + value + ",3\n4,5\n", {.label = "1"});
    EXPECT_EQ(file.labels->names, (Names{"1", value, "4"}));
  }
  EXPECT_NE(failure_of<BadData>("1,2\n3,4\n#end\n").find("line 3: 1 field, but line 1 has 2"), std::string::npos);
}

TEST(TextComments, AnyMarkerMakesACommentAboveTheFirstRow) {
  for (const std::string above : {"#x,y\n", "#%made by hand\n#x,y\n", "%%a\n//x,y\n", "##########\n#x,y\n"}) {
    SCOPED_TRACE(above);
    const auto file = read(above + "1,2\n3,4\n");
    EXPECT_EQ(values_of(file), (Values{1, 2, 3, 4}));
    EXPECT_EQ(file.columns, (Names{"x", "y"}));
    EXPECT_FALSE(file.text->header_line);
  }
  const auto file = read("#made\nx,y\n#units,none\n\n1,2\n3,4\n");
  EXPECT_EQ(values_of(file), (Values{1, 2, 3, 4}));
  EXPECT_EQ(file.text->header_line, 2u);
  EXPECT_EQ(file.text->comment_lines, 2u);
}

TEST(TextComments, HeaderAndCommentsAreTold) {
  const auto header = read("# a\n\nx,y\n1,2\n# b\n");
  EXPECT_EQ(header.text->header_line, 3u);
  EXPECT_EQ(header.text->names_line, 3u);
  EXPECT_EQ(header.text->comment_lines, 2u);
  const auto comment = read("# made\n# x,y\n1,2\n");
  EXPECT_FALSE(comment.text->header_line);
  EXPECT_EQ(comment.text->names_line, 2u);
  const auto neither = read("1,2\n");
  EXPECT_FALSE(neither.text->names_line);
  EXPECT_EQ(neither.text->comment_lines, 0u);
}

TEST(TextComments, BlocksOfAnySizeAgree) {
  const std::string text = "#c\nx,y\n#d\n1,2\n#N/A,3\n# e\n4,5\n  #f,6\n% \n#\n7,8\n";
  for (std::uint64_t block = 1; block < 40; ++block) {
    const auto file = io::read_text_in_blocks(memory_file(text), {.label = "x"}, block);
    ASSERT_EQ(values_of(file), (Values{2, 3, 5, 6, 8}));
    ASSERT_EQ(file.labels->names, (Names{"1", "#N/A", "4", "#f", "7"}));
    ASSERT_EQ(file.text->comment_lines, 5u);
  }
}

}  // namespace
}  // namespace kith
