// Which row is the header, which columns become coordinates, and how labels are numbered.
#include "io/text/text_input.hpp"

namespace kith {
namespace {

using namespace testing_text;

constexpr const char* kFlowers = "5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,versicolor\n4.7,3.2,setosa\n";

TEST(TextColumns, TextInEveryRowIsNoHeader) {
  const auto file = read(kFlowers, {.label = "3"});
  EXPECT_EQ(file.points.rows(), 4u);
  EXPECT_TRUE(file.columns.empty());
  EXPECT_EQ(file.labels->names, (Names{"setosa", "versicolor"}));
  EXPECT_EQ(file.labels->codes, (Codes{0, 0, 1, 0}));
  EXPECT_EQ(read(kFlowers, {.label = "last"}).labels->codes, (Codes{0, 0, 1, 0}));
  EXPECT_EQ(values_of(read(kFlowers, {.columns = {"2"}})), (Values{3.5, 3, 3.2, 3.2}));
}

TEST(TextColumns, TextColumnIsNamedWithAdvice) {
  EXPECT_EQ(
      failure_of<BadData>(kFlowers),
      "points.csv: line 1, column 3 holds text (\"setosa\"), not numbers; read it as the label (`label=3`) or take the "
      "others (`columns=1,2`)");
  EXPECT_NE(failure_of<BadData>("name,x\nann,1\nbob,2\n")
                .find("line 2, column 1 (name) holds text (\"ann\"), not numbers; read it as the label (`label=name`)"),
            std::string::npos);
}

TEST(TextColumns, SeveralTextColumnsAreListedWithOneFlagThatWorks) {
  const std::string text = "id,city,x,y,y,kind\na1,rome,1,2,3,k\na2,oslo,4,5,6,l\n";
  EXPECT_EQ(failure_of<BadData>(text),
            "points.csv: line 2, column 1 (id), column 2 (city), column 6 (kind) hold text (\"a1\", \"rome\", \"k\"), "
            "not numbers; "
            "take the others (`columns=x,4,5`)");
  EXPECT_EQ(values_of(read(text, {.columns = {"x", "4", "5"}})), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_NE(failure_of<BadData>("a,b\nc,d\ne,f\n").find("strings are searched with `metric=edit`"), std::string::npos);
}

TEST(TextColumns, APositionIsNoNameOfSeveralColumns) {
  EXPECT_EQ(values_of(read("1,1,x\n10,20,30\n", {.columns = {"1"}, .header = true})), (Values{10}));
  EXPECT_EQ(values_of(read("x,1,1\n10,20,30\n", {.columns = {"1", "3"}, .header = true})), (Values{10, 30}));
}

TEST(TextColumns, HeaderAboveTextColumn) {
  const auto file = read("x,y,class\n1,2,a\n3,4,b\n5,6,a\n", {.label = "class"});
  EXPECT_EQ(file.columns, (Names{"x", "y"}));
  EXPECT_EQ(values_of(file), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(file.labels->names, (Names{"a", "b"}));
  EXPECT_EQ(file.labels->codes, (Codes{0, 1, 0}));
}

TEST(TextColumns, LabelFirst) {
  const auto file = read("T,2,8\nI,5,12\nT,4,11\n", {.label = "1"});
  EXPECT_EQ(values_of(file), (Values{2, 8, 5, 12, 4, 11}));
  EXPECT_EQ(file.labels->names, (Names{"T", "I"}));
}

TEST(TextColumns, NumericLabelsStayText) {
  const auto file = read("1,2,01\n3,4,1\n5,6,1.0\n", {.label = "3"});
  EXPECT_EQ(file.labels->names, (Names{"01", "1", "1.0"}));
}

TEST(TextColumns, MissingMarkersAreLabelsToo) {
  const auto file = read("1,?\n2,\n3,NA\n4,?\n", {.label = "2"});
  EXPECT_EQ(file.labels->names, (Names{"?", "", "NA"}));
  EXPECT_EQ(file.labels->codes, (Codes{0, 1, 2, 0}));
}

TEST(TextColumns, ColumnsInTheOrderAskedFor) {
  const std::string text = "x,y,z\n1,2,3\n4,5,6\n";
  EXPECT_EQ(values_of(read(text, {.columns = {"z", "x"}})), (Values{3, 1, 6, 4}));
  EXPECT_EQ(values_of(read(text, {.columns = {"3", "y"}})), (Values{3, 2, 6, 5}));
  EXPECT_EQ(read(text, {.columns = {"z", "1"}}).columns, (Names{"z", "x"}));
  const auto both = read(text, {.columns = {"z"}, .label = "y"});
  EXPECT_EQ(values_of(both), (Values{3, 6}));
  EXPECT_EQ(both.labels->names, (Names{"2", "5"}));
}

TEST(TextColumns, NameBeforePosition) {
  EXPECT_EQ(values_of(read("3,x,1\n10,20,30\n", {.columns = {"1"}, .header = true})), (Values{30}));
  EXPECT_EQ(values_of(read("last,x\n10,20\n", {.columns = {"last"}})), (Values{10}));
}

TEST(TextColumns, SkippedColumnsMayHoldAnything) {
  const auto file = read("1,abc,2,\n3,\"d,e\",4,1e999\n", {.columns = {"1", "3"}});
  EXPECT_EQ(values_of(file), (Values{1, 2, 3, 4}));
}

TEST(TextColumns, HeaderSaidByTheCaller) {
  EXPECT_EQ(read("2001,2002\n1,2\n").points.rows(), 2u);
  const auto years = read("2001,2002\n1,2\n", {.header = true});
  EXPECT_EQ(years.points.rows(), 1u);
  EXPECT_EQ(years.columns, (Names{"2001", "2002"}));
  EXPECT_NE(failure_of<BadData>("x,y\n1,2\n", {.header = false}).find("line 1, column 1: \"x\" is not a number"),
            std::string::npos);
}

TEST(TextColumns, ANameAskedForMakesAHeader) {
  // Numbers above numbers would be data; the name in the first row says otherwise.
  const auto file = read("1,2,class\n3,4,5\n", {.label = "class"});
  EXPECT_EQ(file.points.rows(), 1u);
  EXPECT_EQ(file.columns, (Names{"1", "2"}));
}

TEST(TextColumns, MissingValueInFirstRowIsNoHeader) {
  EXPECT_EQ(read("?,1,2\n3,4,5\n", {.missing_as_nan = true}).points.rows(), 2u);
  EXPECT_EQ(read("NA,1\n3,4\n", {.missing_as_nan = true}).points.rows(), 2u);
}

TEST(TextColumns, SingleRow) {
  EXPECT_EQ(read("1,2,3\n").points.rows(), 1u);
  EXPECT_EQ(read("1,2,abc\n", {.label = "3"}).points.rows(), 1u);
  EXPECT_EQ(read("a,b,c\n").points.rows(), 0u);
}

TEST(TextColumns, UnnamedColumnsGetTheirPosition) {
  EXPECT_EQ(read(",x,y\n0,1,2\n1,3,4\n").columns, (Names{"1", "x", "y"}));
}

TEST(TextColumns, WrongRequests) {
  const std::string text = "x,y,x\n1,2,3\n";
  EXPECT_EQ(failure_of<UsageError>(text, {.columns = {"w"}}),
            "points.csv: there is no column \"w\"; it has 3 columns: x, y, x");
  EXPECT_NE(failure_of<UsageError>(text, {.columns = {"4"}}).find("no column \"4\""), std::string::npos);
  EXPECT_NE(failure_of<UsageError>(text, {.columns = {"0"}}).find("no column \"0\""), std::string::npos);
  EXPECT_NE(failure_of<UsageError>(text, {.columns = {"-1"}}).find("no column \"-1\""), std::string::npos);
  EXPECT_NE(failure_of<UsageError>(text, {.columns = {"x"}}).find("several columns are called \"x\""),
            std::string::npos);
  EXPECT_NE(failure_of<UsageError>(text, {.columns = {"y", "2"}}).find("is asked for twice"), std::string::npos);
  EXPECT_NE(failure_of<UsageError>(text, {.columns = {"y"}, .label = "2"}).find("as label and as coordinate"),
            std::string::npos);
  EXPECT_EQ(failure_of<UsageError>("1,2\n", {.label = "class"}),
            "points.csv: there is no column \"class\"; it has no header and 2 columns, which are called 1 to 2");
  EXPECT_NE(failure_of<BadData>("1\n2\n", {.label = "1"}).find("no column of coordinates"), std::string::npos);
  for (const char delimiter : {'1', 'e', '.', '-', '"', '\n', '\x01', '\x80'}) {
    EXPECT_NE(failure_of<UsageError>("1,2\n", {.delimiter = delimiter}).find("cannot separate fields"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace kith
