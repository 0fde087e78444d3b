// What a text file can do wrong: every case gives one clear line that says where.
#include "io/text/text_input.hpp"
#include "support/temporary_path.hpp"

#include <filesystem>
#include <fstream>

namespace kith {
namespace {

using testing_text::failure_of;
using testing_text::memory_file;
using testing_text::message_of;
using testing_text::read;

TEST(TextMalformed, NothingInTheFile) {
  EXPECT_EQ(failure_of<BadData>(""), "points.csv: holds no points, the file is empty");
  for (const std::string text : {"\n", "\n\n  \n\t\n", "# only\n% comments\n", "\r\n"}) {
    EXPECT_EQ(failure_of<BadData>(text), "points.csv: holds no points, only blank lines or comments");
  }
  EXPECT_EQ(failure_of<BadData>("\xEF\xBB\xBF"), "points.csv: holds no points, only blank lines or comments");
}

TEST(TextMalformed, RaggedRows) {
  EXPECT_EQ(failure_of<BadData>("1,2,3\n4,5,6\n7,8\n9,1,2\n"), "points.csv: line 3: 2 fields, but line 1 has 3");
  EXPECT_EQ(failure_of<BadData>("1,2,3\n4,5,6\n7,8,9,10\n"), "points.csv: line 3: 4 fields, but line 1 has 3");
  EXPECT_EQ(failure_of<BadData>("x,y\n# note\n\n1,2\n3\n"),
            "points.csv: line 5: 1 field, but the header in line 1 has 2");
  EXPECT_EQ(failure_of<BadData>("1 2 3\n4 5\n"), "points.csv: line 2: 2 fields, but line 1 has 3");
  EXPECT_EQ(failure_of<BadData>("1,2\n3,4,\n"), "points.csv: line 2: 3 fields, but line 1 has 2");
  // Not what is wrong with its fields, nor with the columns that text seems to stand in.
  EXPECT_EQ(failure_of<BadData>("1,2,3\n4,abc\n"), "points.csv: line 2: 2 fields, but line 1 has 3");
  EXPECT_EQ(failure_of<BadData>("1,2,3\n?,5\n"), "points.csv: line 2: 2 fields, but line 1 has 3");
  EXPECT_EQ(failure_of<BadData>("1, 2,3\n4, 5\n6, 7,8\n"), "points.csv: line 2: 2 fields, but line 1 has 3");
  EXPECT_EQ(failure_of<BadData>("1,2,a\n3,4\n"), "points.csv: line 2: 2 fields, but line 1 has 3");
  EXPECT_EQ(failure_of<BadData>("ann 1 2\nbob jr 3 4\n"), "points.csv: line 2: 4 fields, but line 1 has 3");
  // Also where all columns but one are left out, and behind a quoted separator.
  EXPECT_EQ(failure_of<BadData>("1,2,3\n4,5\n", {.columns = {"1"}}), "points.csv: line 2: 2 fields, but line 1 has 3");
  EXPECT_EQ(failure_of<BadData>("1,a\n2,\"b,c\",d\n", {.label = "2"}),
            "points.csv: line 2: 3 fields, but line 1 has 2");
}

TEST(TextMalformed, MissingValues) {
  EXPECT_EQ(
      failure_of<BadData>("x,y\n1,2\n\n3,\n?,4\n5,NA\n"),
      "points.csv: line 4, column 2 (y): the value is missing (3 missing values in the file); fill it in, leave such "
      "rows out (`missing_as_nan=true`) or choose other columns (`columns=`)");
  for (const std::string marker : {"", "?", "NA", "na", "N/A", "null", "NULL", "None", "-", "\"\""}) {
    SCOPED_TRACE(marker);
    const std::string message = failure_of<BadData>("1,2,3\n4," + marker + ",6\n");
    EXPECT_NE(message.find("line 2, column 2: the value is missing (1 missing value in the file)"), std::string::npos)
        << message;
  }
}

TEST(TextMalformed, MissingInSkippedOrLabelColumnsIsNotCounted) {
  EXPECT_EQ(read("1,?,3\n4,5,?\n", {.columns = {"1"}, .label = "3"}).points.rows(), 2u);
  EXPECT_NE(failure_of<BadData>("1,?,3\n,5,?\n", {.columns = {"1"}, .label = "3"}).find("(1 missing value in"),
            std::string::npos);
}

TEST(TextMalformed, NotANumber) {
  EXPECT_EQ(
      failure_of<BadData>("x,y\n1,2\n3,4x\n"),
      "points.csv: line 3, column 2 (y): \"4x\" is not a number; correct it, or choose other columns (`columns=`)");
  for (const std::string field :
       {"1e", "--1", "+-1", "1.2.3", "0x10", "1 2", "abc", "1d", "e5", ".", "+", "1_000", "\"1"}) {
    SCOPED_TRACE(field);
    EXPECT_NE(failure_of<BadData>("1,2,3\n4," + field + ",6\n7,8,9\n").find("line 2, column 2: "), std::string::npos);
  }
}

TEST(TextMalformed, OutOfRange) {
  EXPECT_EQ(failure_of<BadData>("1,1e400\n"),
            "points.csv: line 1, column 2: \"1e400\" is beyond the range of f64; correct it, or leave such rows out "
            "(`missing_as_nan=true`)");
  EXPECT_NE(failure_of<BadData>("1,-1e400\n").find("\"-1e400\" is beyond"), std::string::npos);
  EXPECT_NE(failure_of<BadData>("1,1e39\n", {.dtype = DType::f32}).find("beyond the range of f32"), std::string::npos);
  EXPECT_NE(failure_of<BadData>("1," + std::string(400, '9') + "\n").find("beyond the range of f64"),
            std::string::npos);
}

TEST(TextMalformed, NulBytes) {
  using namespace std::string_literals;
  EXPECT_EQ(failure_of<CorruptFile>("1,2\n3,\0\n"s),
            "points.csv: byte 6 is NUL, so this is not text or it is damaged; if it is UTF-16, convert it to UTF-8");
  EXPECT_NE(failure_of<CorruptFile>("x\0,y\n1,2\n"s).find("byte 1 is NUL"), std::string::npos);
  EXPECT_NE(failure_of<CorruptFile>("1,2\n# comment \0\n3,4\n"s).find("byte 14 is NUL"), std::string::npos);
  EXPECT_NE(failure_of<CorruptFile>("1,2\n3,4\n\0\n"s).find("byte 8 is NUL"), std::string::npos);
  EXPECT_NE(failure_of<CorruptFile>("1,a\n3,b\0c\n"s, {.label = "2"}).find("byte 7 is NUL"), std::string::npos);
  // An earlier mistake comes first.
  EXPECT_NE(failure_of<BadData>("1,2\nx,2\n1,\0\n"s).find("line 2"), std::string::npos);
}

TEST(TextMalformed, Utf16IsRefusedByName) {
  using namespace std::string_literals;
  EXPECT_NE(failure_of<CorruptFile>("\xFF\xFE\x31\0\n\0"s).find("UTF-16"), std::string::npos);
  EXPECT_NE(failure_of<CorruptFile>("\xFE\xFF\0\x31\0\n"s).find("UTF-16"), std::string::npos);
}

TEST(TextMalformed, LoneCarriageReturns) {
  EXPECT_NE(failure_of<BadData>("1,2\r3,4\r5,6\r").find("line 1 holds carriage returns without line feeds"),
            std::string::npos);
  EXPECT_NE(failure_of<BadData>("1,2\n3\r,4\n").find("line 2, column 1: \"3\\x0d\" is not a number; a carriage return"),
            std::string::npos);
}

TEST(TextMalformed, Quotes) {
  EXPECT_NE(
      failure_of<BadData>("1,2\n3,\"4\n5\",6\n").find("line 2, column 2: a quoted field does not end on its line"),
      std::string::npos);
  EXPECT_NE(failure_of<BadData>("1,2\n3,\"4\"5\n").find("line 2, column 2: text follows the closing quote"),
            std::string::npos);
  EXPECT_NE(failure_of<BadData>("1,2\n3,\"4\" 5\n").find("line 2, column 2: text follows the closing quote"),
            std::string::npos);
}

TEST(TextMalformed, OneHugeFieldDoesNotFillTheMemory) {
  std::string text = "1,2\n";
  text.append((std::size_t{64} << 20) + 100, '7');
  EXPECT_NE(failure_of<BadData>(text).find("line 2 is longer than 64 MiB"), std::string::npos);
  std::string later;
  for (int row = 0; row < 100; ++row) later += "1,2\n";
  EXPECT_EQ(failure_of<BadData>(later + text.substr(4)),
            "points.csv: line 101: longer than 64 MiB; is this a text file with line breaks?");
}

TEST(TextMalformed, LongFieldsAreCutInMessages) {
  const std::string message = failure_of<BadData>("1,2\n1," + std::string(5000, 'q') + "\n");
  EXPECT_LT(message.size(), 200u);
  EXPECT_NE(message.find("qqq...\" is not a number"), std::string::npos);
  EXPECT_NE(failure_of<BadData>("1,2\n1,\xE9t\xE9\n").find("\"\\xe9t\\xe9\""), std::string::npos);
  EXPECT_NE(failure_of<BadData>("1,2\n1,\xC3\xA9t\n").find("\"\xC3\xA9t\""), std::string::npos);
}

TEST(TextMalformed, TooManyColumns) {
  std::string text = "0";
  for (int d = 1; d < 4097; ++d) text += ",0";
  EXPECT_NE(failure_of<BadData>(text + "\n").find("has 4097 columns of coordinates, kith takes 1 to 4096"),
            std::string::npos);
  EXPECT_EQ(read(text + "\n", {.label = "1"}).points.dims(), 4096u);
  EXPECT_NE(failure_of<BadData>(std::string((std::size_t{1} << 20) + 1, ',')).find("more than 1048576 fields"),
            std::string::npos);
}

TEST(TextMalformed, ShortRowsBelowAWideOneDoNotReserveMemory) {
  // 4096 columns promise 32 KiB for each of a million rows of two bytes: 32 GiB if the rows were believed.
  std::string text = "0";
  for (int d = 1; d < 4096; ++d) text += ",0";
  text += "\n";
  for (int row = 0; row < 1'000'000; ++row) text += "1\n";
  EXPECT_EQ(failure_of<BadData>(text), "points.csv: line 2: 1 field, but line 1 has 4096");
}

TEST(TextMalformed, CountsThatLie) {
  EXPECT_NE(failure_of<CorruptFile>("3\nwater\nO 0 0 0\nH 1 1 1\n").find("promises 3 rows, but there are 2"),
            std::string::npos);
  EXPECT_NE(failure_of<CorruptFile>("1\n1 2 3\n4 5 6\n").find("promises 1 rows, but there are 2"), std::string::npos);
  EXPECT_NE(failure_of<BadData>("1\nfirst\nO 0 0 0\n1\nsecond\nO 1 1 1\n")
                .find("line 4: 1 field, but line 3 has 4; files "
                      "with several frames"),
            std::string::npos);
}

TEST(TextMalformed, WordsAreNoPoints) {
  EXPECT_NE(failure_of<BadData>("A\nAA\nAAA\n").find("column 1 holds text"), std::string::npos);
}

TEST(TextMalformed, FileThatShrinksWhileItIsRead) {
  const std::filesystem::path path = test::temporary_path("shrinking.csv");
  std::ofstream(path) << std::string(100'000, '\n').replace(0, 4, "1,2\n").replace(99'990, 4, "3,4\n");
  const runtime::InputFile file(path.string());
  std::filesystem::resize_file(path, 50'000);
  EXPECT_NE(message_of<IoError>([&] { io::read_text(file, {}); }).find("became shorter"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(TextMalformed, PathsThatAreNoFiles) {
  EXPECT_THROW(io::read_points("/nowhere/at/all.csv"), IoError);
  EXPECT_THROW(io::read_points(KITH_TEST_TEMPORARY), IoError);
}

}  // namespace
}  // namespace kith
