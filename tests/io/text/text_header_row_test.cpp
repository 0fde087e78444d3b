// Whether the first row is a header: one bad number must not make it one, for then a row would be lost.
#include "io/text/text_input.hpp"

namespace kith {
namespace {

using namespace testing_text;

TEST(TextHeaderRow, OneBadNumberMakesNoHeader) {
  for (const std::string bad : {"****", ".", "n.a.", "O.5", "0x10", "1.2.3", "1 000", "5kg", "--", "<3", "class"}) {
    for (const std::string& text :
         {bad + ",2,3\n4,5,6\n7,8,9\n", bad + ",2\n4,5\n", "1;" + bad + "\n2;3\n", bad + "\n4\n5\n"}) {
      if (bad == "class" && text.find_first_of("23") > 8) continue;  // a name above one column is a header
      SCOPED_TRACE(text);
      if (text == "1 000\n4\n5\n") continue;  // two fields by blanks
      const std::string message = failure_of<BadData>(text);
      EXPECT_NE(message.find("line 1"), std::string::npos) << message;
      EXPECT_NE(message.find("`header=true`"), std::string::npos) << message;
      EXPECT_NE(message.find("`header=false`"), std::string::npos) << message;
    }
  }
}

TEST(TextHeaderRow, BadNumbersEverywhereAreInDoubt) {
  for (const std::string text : {"****,****\n1,2\n", "n.a.,n.a.\n1,2\n", "x,2001\n1,2\n", "****\n", "x,****\n1,2\n"}) {
    SCOPED_TRACE(text);
    const std::string message = failure_of<BadData>(text);
    EXPECT_NE(message.find("line 1"), std::string::npos) << message;
    EXPECT_NE(message.find("`header=true` or `header=false`"), std::string::npos) << message;
    EXPECT_NO_THROW(read(text, {.header = true}));
  }
}

TEST(TextHeaderRow, FortranExponentsAndTheUnicodeMinusAreNumbers) {
  EXPECT_EQ(values_of(read("1.0D+03,2\n3d-1,4\n")), (Values{1000, 2, 0.3, 4}));
  EXPECT_EQ(values_of(read("\xE2\x88\x92"
                           "1.5,2\n3,\xE2\x88\x92"
                           "4e\xE2\x88\x92"
                           "1\n")),
            (Values{-1.5, 2, 3, -0.4}));
  EXPECT_EQ(values_of(read(" 1.0D+03 2.5D0\r\n 3.0D+00 -4.0D-01\r\n", {.dtype = DType::f32})),
            (Values{1000, 2.5, 3, double{-0.4f}}));
}

TEST(TextHeaderRow, NamesInMostColumnsAreAHeader) {
  for (const std::string header :
       {"x,y,z", "id,name,2001", "1st,2nd,3rd", ",x,y", "NA,x,y", "a,b c,\"d\"", "3d_x,3d_y,3d_z"}) {
    SCOPED_TRACE(header);
    const auto file = read(header + "\n1,2,3\n4,5,6\n");
    EXPECT_EQ(file.points.rows(), 2u);
    EXPECT_EQ(file.text->header_line, 1u);
  }
  EXPECT_EQ(read("x\n1\n2\n").text->header_line, 1u);
  // A column with a bad value further down is a column of numbers still.
  EXPECT_NE(failure_of<BadData>("x\n1\nfoo\n2\n").find("line 3, column 1 (x): \"foo\" is not a number"),
            std::string::npos);
}

TEST(TextHeaderRow, SkippedColumnsDoNotLoseARow) {
  EXPECT_EQ(values_of(read("****,2\n4,5\n", {.columns = {"2"}, .header = false})), (Values{2, 5}));
  EXPECT_EQ(values_of(read("****,2,3\n4,5,6\n", {.columns = {"2"}})), (Values{2, 5}));
}

}  // namespace
}  // namespace kith
