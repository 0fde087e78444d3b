// Numbers with decimal commas: found, read with any separator but a comma, and refused where they may mean two things.
#include "io/text/text_input.hpp"

#include <kith/io/append_columns.hpp>

#include "support/temporary_path.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace kith {
namespace {

using namespace testing_text;

TEST(TextDecimal, CommasAreRecognised) {
  const Values expected = {35.5, -2.25, 36, 3e-2};
  for (const std::string text :
       {"35,5\t-2,25\n36\t3,0e-2\n", "35,5;-2,25\n36;3,0e-2\n", "35,5 -2,25\n36 3,0E-2\n",
        "35,5|-2,25\r\n36,0|0,03\r\n", "x\ty\n35,5\t-2,25\n36,0\t0,03\n", "35,5 ; -2,25\n36 ; 0,03\n",
        "\"35,5\",\"-2,25\"\n\"36\",\"0,03\"\n", "# x y\n35,5   -2,25\n36,0   0,03\n", "35,5\t-2,25\n36,0\t0,03D0\n"}) {
    SCOPED_TRACE(text);
    const auto file = read(text);
    EXPECT_EQ(values_of(file), expected);
    EXPECT_EQ(file.text->decimal, ',');
  }
  EXPECT_EQ(read("1.5\t2\n").text->decimal, '.');
  EXPECT_EQ(read("1,2\n3,4\n").text->delimiter, ',');
}

TEST(TextDecimal, ACommaBeforeATabNeverCutsANumber) {
  for (const std::string text : {"35,5\t1\n36,1\t2\n", "35,5\ta\n36,1\tb\n", "35,5\t1,5\tx y\n36,1\t2,5\tz\n"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(values_of(read(text, {.columns = {"1"}})), (Values{35.5, 36.1}));
  }
  const std::string message = failure_of<BadData>("a 35,5\nb 36,1\n");
  EXPECT_NE(message.find("`delimiter=,` or `decimal=,`"), std::string::npos) << message;
  EXPECT_EQ(values_of(read("a 35,5\nb 36,1\n", {.columns = {"2"}, .decimal = ','})), (Values{35.5, 36.1}));
  EXPECT_EQ(values_of(read("a 35,5\nb 36,1\n", {.columns = {"2"}, .delimiter = ','})), (Values{5, 1}));
}

TEST(TextDecimal, CommasBetweenFieldsStayWhatTheyWere) {
  for (const std::string text : {"1,2\n3,4\n", "1, 2\n3, 4\n", "1 ,2\n3 ,4\n", "1,2\t\n3,4\t\n", "1 , 2\n3 ,\t4\n"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(values_of(read(text)), (Values{1, 2, 3, 4}));
  }
  EXPECT_EQ(read("Main St 12,5\nLow Rd 3,4\n", {.label = "1", .delimiter = ','}).labels->names,
            (Names{"Main St 12", "Low Rd 3"}));
}

TEST(TextDecimal, SaidByTheCaller) {
  EXPECT_EQ(values_of(read("1,5\n2,5\n", {.decimal = ','})), (Values{1.5, 2.5}));
  EXPECT_EQ(values_of(read(",5;2\n3;4\n", {.decimal = ','})), (Values{.5, 2, 3, 4}));
  EXPECT_EQ(values_of(read("1,234;2\n3;4\n", {.decimal = ','})), (Values{1.234, 2, 3, 4}));
  EXPECT_EQ(values_of(read("1,5\n2,5\n", {.decimal = '.'})), (Values{1, 5, 2, 5}));
  EXPECT_NE(failure_of<BadData>("1,5;2\n2,5;3\n", {.decimal = '.'}).find("\"1,5\" is not a number; `decimal=,`"),
            std::string::npos);
  EXPECT_NE(failure_of<UsageError>("1\n", {.decimal = ';'}).find("cannot separate decimals"), std::string::npos);
}

TEST(TextDecimal, WhatIsAmbiguousNamesBothReadings) {
  EXPECT_NE(failure_of<BadData>("1.234,5;2\n3;4\n").find("\"1.234,5\" is not a number; it may mean 1234.5 or 1.2345"),
            std::string::npos);
  EXPECT_NE(failure_of<BadData>("1.234,5\t2\n3\t4\n").find("it may mean 1234.5 or 1.2345"), std::string::npos);
  EXPECT_NE(failure_of<BadData>("1,234;2\n3;4\n").find("it may mean 1.234 or 1234: `decimal=,` takes the first"),
            std::string::npos);
  EXPECT_NE(failure_of<BadData>("1,5;2\n1.234;4\n", {.decimal = ','}).find("it may mean 1.234 or 1234"),
            std::string::npos);
  // Both marks in one file.
  EXPECT_NE(failure_of<BadData>("1.5;2\n3,5;4\n").find("line 2, column 1: \"3,5\" is not a number; `decimal=,`"),
            std::string::npos);
}

TEST(TextDecimal, LabelsAndSkippedColumnsMayHoldAnything) {
  EXPECT_EQ(read("1.5;1.234,5\n2.5;x,5\n", {.label = "2"}).labels->names, (Names{"1.234,5", "x,5"}));
  EXPECT_EQ(values_of(read("1.5,\"3,5\"\n2.5,\"4,5\"\n", {.columns = {"1"}})), (Values{1.5, 2.5}));
}

TEST(TextDecimal, BlocksAndTypesAgree) {
  std::string text = "x;y;class\n";
  Values expected;
  for (int i = 0; i < 200; ++i) {
    text += std::to_string(i) + "," + std::to_string(i % 10) + "5;-" + std::to_string(i) + ";a\n";
    expected.push_back(i + (i % 10) / 10.0 + 0.05);
    expected.push_back(-i);
  }
  for (const std::uint64_t block : {1, 17, 1 << 20}) {
    const auto file = io::read_text_in_blocks(memory_file(text), {.label = "class"}, block);
    ASSERT_EQ(file.points.rows(), 200u);
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_DOUBLE_EQ(values_of(file)[i], expected[i]);
    ASSERT_EQ(io::read_text_in_blocks(memory_file(text), {.dtype = DType::f32, .label = "class"}, block).points.rows(),
              200u);
  }
}

TEST(TextDecimal, AppendedNumbersGetACommaToo) {
  const std::string path = test::temporary_path("decimal.csv");
  std::ofstream(path) << "x;y\r\n1,5;2\r\n3;4,5\r\n";
  const io::AppendedColumn column{"value", [](std::uint64_t row, std::string& to) { to = row == 0 ? "0.25" : "a.b"; }};
  io::append_columns(path, {}, path, {&column, 1}, 2);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "x;y;value\r\n1,5;2;0,25\r\n3;4,5;a.b\r\n");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace kith
