// What the text reader understands: separators, quotes, comments, line ends, numbers and types.
#include "io/text/text_input.hpp"

#include <cmath>
#include <limits>

namespace kith {
namespace {

using testing_text::read;
using testing_text::values_of;
using Values = std::vector<double>;
using Names = std::vector<std::string>;

TEST(TextRead, CommaSeparatedWithHeader) {
  const auto file = read("x,y,z\n1,2,3\n4.5,-5,6e1\n");
  EXPECT_EQ(file.format, io::Format::text);
  EXPECT_EQ(file.points.dtype(), DType::f64);
  EXPECT_EQ(file.points.rows(), 2u);
  EXPECT_EQ(file.points.dims(), 3u);
  EXPECT_EQ(file.columns, (Names{"x", "y", "z"}));
  EXPECT_EQ(values_of(file), (Values{1, 2, 3, 4.5, -5, 60}));
  EXPECT_FALSE(file.labels.has_value());
}

TEST(TextRead, WithoutHeaderNoNames) {
  const auto file = read("1,2\n3,4\n");
  EXPECT_TRUE(file.columns.empty());
  EXPECT_EQ(values_of(file), (Values{1, 2, 3, 4}));
}

TEST(TextRead, EverySeparator) {
  for (const std::string text :
       {"1,2,3\n4,5,6\n", "1;2;3\n4;5;6\n", "1\t2\t3\n4\t5\t6\n", "1|2|3\n4|5|6\n", "1 2 3\n4 5 6\n",
        "  1   2\t 3  \n\t4 5 6\n", " 1 , 2 ,\t3\n4,5 , 6 \n", "1 ;2; 3\n4;5;6\n", "1 \t 2\t3\n4\t5\t6 \n"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(values_of(read(text)), (Values{1, 2, 3, 4, 5, 6}));
  }
}

TEST(TextRead, GivenSeparatorWins) {
  EXPECT_EQ(values_of(read("1:2\n3:4\n", {.delimiter = ':'})), (Values{1, 2, 3, 4}));
  EXPECT_EQ(values_of(read("1\t\t3\n4\t5\t6\n", {.columns = {"1", "3"}, .delimiter = '\t'})), (Values{1, 3, 4, 6}));
  EXPECT_EQ(values_of(read("1 2\t3\n", {.delimiter = ' '})), (Values{1, 2, 3}));
}

TEST(TextRead, WholeNumbersThatAreRoundedAreNoted) {
  const std::string advice =
      " To keep all digits, take the column as the label, or choose other columns as coordinates";
  EXPECT_EQ(read("a,b\n1,9007199254740993\n2,\"18446744073709551615\"\n-9007199254740993,7\n").notes,
            Names{"3 whole numbers have more digits than f64 holds and were rounded; the first is 9007199254740993 in "
                  "line 2, column 2 (b)." +
                  advice});
  EXPECT_EQ(read("1;0,5\n9007199254740993;0,5\n").notes,
            Names{"1 whole number has more digits than f64 holds and was rounded; the first is 9007199254740993 in "
                  "line 2, column 1." +
                  advice});
  // What a double holds, what is not a whole number, and what is no coordinate.
  EXPECT_EQ(read("9007199254740992,-9007199254740994,100000000000000000000,0000100000000000000000000\n").notes,
            Names{});
  EXPECT_EQ(read("9007199254740993.5,9007199254740993e0,0.12345678901234567890\n").notes, Names{});
  EXPECT_EQ(read("1,9007199254740993\n", {.label = "2"}).notes, Names{});
  EXPECT_EQ(read("1,9007199254740993\n", {.columns = {"1"}}).notes, Names{});
}

TEST(TextRead, OneColumn) {
  EXPECT_EQ(values_of(read("1\n2\n3\n")), (Values{1, 2, 3}));
  const auto named = read("height\n1\n2\n");
  EXPECT_EQ(named.columns, (Names{"height"}));
  EXPECT_EQ(values_of(named), (Values{1, 2}));
}

TEST(TextRead, LineEndsAndByteOrderMark) {
  const Values expected = {1, 2, 3, 4};
  EXPECT_EQ(values_of(read("1,2\n3,4")), expected);
  EXPECT_EQ(values_of(read("1,2\r\n3,4\r\n")), expected);
  EXPECT_EQ(values_of(read("1,2\r\n3,4")), expected);
  EXPECT_EQ(values_of(read("1,2\n3,4\r\n")), expected);
  EXPECT_EQ(values_of(read("1 2 \r\n3 4 \r\n")), expected);
  EXPECT_EQ(values_of(read("\xEF\xBB\xBF"
                           "1,2\n3,4\n")),
            expected);
  const auto named = read("\xEF\xBB\xBFx,y\r\n1,2\r\n3,4\r\n");
  EXPECT_EQ(named.columns, (Names{"x", "y"}));
  EXPECT_EQ(values_of(named), expected);
}

TEST(TextRead, CommentsAndBlankLinesAreSkipped) {
  const auto file =
      read("# made by hand\n\n% so\n// and so\nx,y\n# between\n1,2\n\n   \n\t\r\n  # indented\n3,4\n\n\n# end");
  EXPECT_EQ(file.columns, (Names{"x", "y"}));
  EXPECT_EQ(values_of(file), (Values{1, 2, 3, 4}));
}

TEST(TextRead, CommentAboveTheRowsMayNameTheColumns) {
  EXPECT_EQ(read("# x y z\n1 2 3\n4 5 6\n").columns, (Names{"x", "y", "z"}));
  EXPECT_EQ(read("//X,Y,Z\n1,2,3\n").columns, (Names{"X", "Y", "Z"}));
  EXPECT_TRUE(read("# x y\n1 2 3\n").columns.empty());
  EXPECT_TRUE(read("# 7 8 9\n1 2 3\n").columns.empty());
  EXPECT_TRUE(read("# x x z\n1 2 3\n").columns.empty());
  const auto file = read("#x,y\n1,2\n3,4\n", {.columns = {"y"}, .header = true});
  EXPECT_EQ(values_of(file), (Values{2, 4}));
}

TEST(TextRead, QuotedFields) {
  const auto file = read("\"a,b\",\"say \"\"hi\"\"\",c\n\"1\", \"2\" ,3\n\"+4\",5,\"6e0\"\n");
  EXPECT_EQ(file.columns, (Names{"a,b", "say \"hi\"", "c"}));
  EXPECT_EQ(values_of(file), (Values{1, 2, 3, 4, 5, 6}));
  const auto labels = read("1,\"x, y\"\n2,\"\"\"\"\n3,\"\"\n4,a \"b\" c\n", {.label = "2"}).labels->names;
  EXPECT_EQ(labels, (Names{"x, y", "\"", "", "a \"b\" c"}));
  EXPECT_EQ(values_of(read("\"a b\" c\n\"1\" 2\n")), (Values{1, 2}));
}

TEST(TextRead, NumbersInAllSpellings) {
  const auto file = read("+1,-2,.5,5.,1e3,1E-3,-0,007,0.1e+2,+.25\n");
  EXPECT_EQ(values_of(file), (Values{1, -2, .5, 5, 1000, .001, 0, 7, 10, .25}));
  EXPECT_TRUE(std::signbit(file.view().at(0, 6)));
}

TEST(TextRead, NanAndInfinityAreKept) {
  const auto file = read("nan,NaN,-nan,inf,-inf,Infinity,-Infinity,+INF\n1,1,1,1,1,1,1,1\n");
  ASSERT_EQ(file.points.rows(), 2u);
  for (std::uint32_t d = 0; d < 3; ++d) EXPECT_TRUE(std::isnan(file.view().at(0, d)));
  const double inf = std::numeric_limits<double>::infinity();
  const double expected[] = {inf, -inf, inf, -inf, inf};
  for (std::uint32_t d = 3; d < 8; ++d) EXPECT_EQ(file.view().at(0, d), expected[d - 3]);
}

TEST(TextRead, SinglePrecisionIsRoundedOnce) {
  // Just above the middle of 1 and the next float: by way of double it would round to even, that is to 1.
  const std::string text = "1.00000005960464477539062500000001,16777217.0000000001\n";
  const auto file = read(text, {.dtype = DType::f32});
  EXPECT_EQ(file.points.dtype(), DType::f32);
  EXPECT_EQ(file.points.values<float>()[0], 1.00000011920928955078125f);
  EXPECT_EQ(file.points.values<float>()[1], 16777218.0f);
}

TEST(TextRead, DenormalsAndUnderflow) {
  const auto file = read("5e-324,2.2250738585072011e-308,1e-400,1.7976931348623157e308\n");
  EXPECT_EQ(values_of(file), (Values{5e-324, 2.2250738585072011e-308, 0, 1.7976931348623157e308}));
  const auto single = read("1e-45,1e-39,3.4028234e38\n", {.dtype = DType::f32});
  EXPECT_EQ(values_of(single), (Values{double{1e-45f}, double{1e-39f}, double{3.4028234e38f}}));
}

TEST(TextRead, MissingValuesAsNan) {
  const auto file = read("1,?,3\n,5,NA\nn/a,null,None\n-,1e400,-1e400\n", {.missing_as_nan = true});
  ASSERT_EQ(file.points.rows(), 4u);
  for (const auto& [row, column] : {std::pair{0u, 1u}, {1u, 0u}, {1u, 2u}, {2u, 0u}, {2u, 1u}, {2u, 2u}, {3u, 0u}}) {
    EXPECT_TRUE(std::isnan(file.view().at(row, column))) << row << "," << column;
  }
  EXPECT_EQ(file.view().at(0, 2), 3);
  EXPECT_EQ(file.view().at(3, 1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(file.view().at(3, 2), -std::numeric_limits<double>::infinity());
  ASSERT_EQ(file.notes.size(), 1u);
  EXPECT_EQ(file.notes[0], "7 missing values were read as NaN");
}

TEST(TextRead, HeaderWithoutRowsIsZeroPoints) {
  for (const std::string text : {"x,y,z\n", "x,y,z", "# c\nx,y,z\n\n# end\n"}) {
    const auto file = read(text);
    EXPECT_EQ(file.points.rows(), 0u);
    EXPECT_EQ(file.points.dims(), 3u);
    EXPECT_EQ(file.columns, (Names{"x", "y", "z"}));
  }
  const auto labelled = read("x,y,class\n", {.label = "class"});
  EXPECT_EQ(labelled.points.dims(), 2u);
  ASSERT_TRUE(labelled.labels);
  EXPECT_TRUE(labelled.labels->codes.empty());
}

TEST(TextRead, MoleculesGiveTheirAtoms) {
  const std::string text = "3\nwater # molecule\nO 0.0 0.1 0.2\nH1 1 2 3\nH2 -1 -2 -3\n";
  const auto file = read(text);
  EXPECT_EQ(file.columns, (Names{"x", "y", "z"}));
  EXPECT_EQ(values_of(file), (Values{0, .1, .2, 1, 2, 3, -1, -2, -3}));
  EXPECT_EQ(read(text, {.label = "element"}).labels->names, (Names{"O", "H1", "H2"}));
  EXPECT_EQ(values_of(read("1\n\nHe 1 2 3 0.5\n")), (Values{1, 2, 3}));
  EXPECT_EQ(values_of(read("1\n# note\nHe 1 2 3\n")), (Values{1, 2, 3}));
}

TEST(TextRead, PtsScansBeginWithACount) {
  EXPECT_EQ(values_of(read("2\n1 2 3 4\n5 6 7 8\n")), (Values{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(TextRead, ManyColumns) {
  std::string text = "0";
  for (int d = 1; d < 4096; ++d) text += "," + std::to_string(d);
  const auto file = read(text + "\n" + text + "\n");
  EXPECT_EQ(file.points.dims(), 4096u);
  EXPECT_EQ(file.view().at(1, 4095), 4095);
}

TEST(TextRead, ReportsProgressAndStops) {
  const auto text = [] {
    std::string rows;
    for (int i = 0; i < 1000; ++i) rows += "1,2,3\n";
    return rows;
  }();
  std::vector<std::string> stages;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  read(text, {.threads = 1, .progress = [&](const Progress& progress) {
                if (stages.empty() || stages.back() != progress.stage) stages.emplace_back(progress.stage);
                done = progress.done;
                total = progress.total;
                return true;
              }});
  ASSERT_FALSE(stages.empty());
  EXPECT_EQ(stages.back(), "reading");
  EXPECT_EQ(done, text.size());
  EXPECT_EQ(total, text.size());
  EXPECT_THROW(read(text, {.progress = [](const Progress&) { return false; }}), Interrupted);
}

}  // namespace
}  // namespace kith
