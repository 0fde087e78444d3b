// Files of points to be classified: what is read, what is refused and how, and what is written.
#include "io/results/class_file_read.hpp"
#include "io/text/text_input.hpp"
#include "support/file_content.hpp"
#include "support/temporary_path.hpp"
#include "support/thrown_message.hpp"

#include <kith/io/class_file.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

namespace kith {
namespace {

using test::file_content;
using testing_text::memory_file;
using testing_text::message_of;

io::ClassFile class_file_in(const std::string& text, std::optional<DType> dtype = {},
                            std::uint64_t block_bytes = 1 << 20, int threads = 1) {
  return io::read_class_file_in_blocks(memory_file(text, "c.txt"), dtype, threads, {}, block_bytes);
}

/// The message with which reading fails, the same for every block size.
template <typename Thrown = BadData>
std::string failure(const std::string& text, std::optional<DType> dtype = {}) {
  const std::string message = message_of<Thrown>([&] { class_file_in(text, dtype); });
  for (const std::uint64_t block : {1, 2, 5, 16}) {
    EXPECT_EQ(message_of<Thrown>([&] { class_file_in(text, dtype, block, 2); }), message) << "in blocks of " << block;
  }
  return message;
}

std::vector<double> values_of(const PointSet& points) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    for (std::uint32_t d = 0; d < points.dims(); ++d) values.push_back(points.view().at(i, d));
  }
  return values;
}

std::string temporary(const std::string& name) { return test::temporary_path("class_file_" + name); }

void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string classified(const io::ClassFile& file, const std::vector<std::uint32_t>& labels,
                       const std::vector<double>& shares = {}) {
  const std::string path = temporary("classified.txt");
  io::write_classified(path, file, labels, shares);
  const std::string text = file_content(path);
  std::filesystem::remove(path);
  return text;
}

TEST(ClassFile, HoldsRowsWithAClassAndNewOnes) {
  const io::ClassFile file = class_file_in("2,1,3,2\n1.5,-2,0\n0.25,1e2,2\n7,8,-1\n");
  EXPECT_EQ(file.classes, 3u);
  EXPECT_EQ(file.train.dtype(), DType::f64);
  EXPECT_EQ(values_of(file.train), (std::vector<double>{1.5, -2, 0.25, 100}));
  EXPECT_EQ(file.labels, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(values_of(file.fresh), (std::vector<double>{7, 8}));
  EXPECT_EQ(file.fresh.dims(), 2u);
}

TEST(ClassFile, TheTypeIsTheCallers) {
  const io::ClassFile file = class_file_in("1,1,1,1\n0.1,0\n0.2,-1\n", DType::f32);
  EXPECT_EQ(file.train.values<float>()[0], 0.1f);
  EXPECT_EQ(file.fresh.values<float>()[0], 0.2f);
}

TEST(ClassFile, EitherPartMayBeEmpty) {
  EXPECT_EQ(class_file_in("0,1,2,1\n3,-1").train.rows(), 0u);
  EXPECT_EQ(class_file_in("1,0,2,1\n3,1").fresh.rows(), 0u);
  EXPECT_EQ(class_file_in("0,0,2,5").fresh.dims(), 5u);
  EXPECT_EQ(class_file_in("0,0,2,5\n\n").train.dims(), 5u);
}

TEST(ClassFile, LineEndsBlanksAndByteOrderMarksAreTakenAsTheyAre) {
  const std::string text = "\xEF\xBB\xBF 2 , 1,2,2 \r\n 1 ,\t2 , 0 \r\n3,4.50,1\r\n +5,6e0,\t-1 \r\n \t\r\n\r\n";
  for (const std::uint64_t block : {1, 3, 7, 64, 1 << 20}) {
    const io::ClassFile file = class_file_in(text, {}, block, 2);
    EXPECT_EQ(values_of(file.train), (std::vector<double>{1, 2, 3, 4.5}));
    EXPECT_EQ(file.labels, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(values_of(file.fresh), (std::vector<double>{5, 6}));
    EXPECT_EQ(std::string(file.text.begin(), file.text.end()), text);
    EXPECT_EQ(classified(file, {1}), "\xEF\xBB\xBF 2 , 1,2,2 \r\n 1 ,\t2 ,0\r\n3,4.50,1\r\n +5,6e0,1\r\n");
  }
}

TEST(ClassFile, TheLastLineMayHaveNoEnd) {
  EXPECT_EQ(classified(class_file_in("1,1,1,1\n3,0\n4,-1"), {0}), "1,1,1,1\n3,0\n4,0\n");
}

TEST(ClassFile, BlocksAndThreadsDoNotMatter) {
  std::mt19937 random(7);
  std::string text = "60,40,9,3\n";
  for (int row = 0; row < 100; ++row) {
    for (int d = 0; d < 3; ++d) {
      const auto mantissa = static_cast<double>(random());
      text += fmt::format("{},", std::ldexp(mantissa, -int(random() % 60)));
    }
    text += fmt::format("{}\n", row < 60 ? int(random() % 9) : -1);
  }
  const io::ClassFile whole = class_file_in(text);
  for (std::uint64_t block = 1; block < 200; block += 1 + block / 8) {
    SCOPED_TRACE(block);
    const io::ClassFile file = class_file_in(text, {}, block, 3);
    EXPECT_EQ(values_of(file.train), values_of(whole.train));
    EXPECT_EQ(values_of(file.fresh), values_of(whole.fresh));
    EXPECT_EQ(file.labels, whole.labels);
    EXPECT_EQ(file.starts, whole.starts);
    EXPECT_EQ(file.ends, whole.ends);
  }
}

TEST(ClassFile, TheFirstLineIsFourWholeNumbers) {
  const std::string meaning =
      "N,M,C,D: the rows with a class, the new rows, the number of classes and that of coordinates";
  EXPECT_EQ(failure("1,2,3\n"), "c.txt: line 1: \"1,2,3\" is not " + meaning);
  EXPECT_EQ(failure("1,2,3,4,5\n"), "c.txt: line 1: \"1,2,3,4,5\" is not " + meaning);
  EXPECT_EQ(failure("x,y,class\n1,2,0\n"), "c.txt: line 1: \"x,y,class\" is not " + meaning);
  EXPECT_EQ(failure("1,b,3,4\n"), "c.txt: line 1, column 2: \"b\" is not a whole number; the first line is " + meaning);
  EXPECT_EQ(failure("1,2,,4\n"), "c.txt: line 1, column 3: \"\" is not a whole number; the first line is " + meaning);
  EXPECT_EQ(failure("-1,2,3,4\n"),
            "c.txt: line 1, column 1: \"-1\" is not a whole number; the first line is " + meaning);
  EXPECT_EQ(failure("1,2,3,4.0\n"),
            "c.txt: line 1, column 4: \"4.0\" is not a whole number; the first line is " + meaning);
  EXPECT_EQ(failure("\n1,0,1,1\n3,0\n"), "c.txt: line 1: \"\" is not " + meaning);
  EXPECT_EQ(failure("1,0,1,1\r3,0\r"), "c.txt: line 1: \"1,0,1,1\\x0d3,0\" is not " + meaning +
                                           "; a carriage return without a line feed is not a line end");
}

TEST(ClassFile, CountsMustMakeSense) {
  EXPECT_EQ(failure("1,0,0,1\n3,0\n"), "c.txt: line 1, column 3: 0 classes; there must be at least 1");
  EXPECT_EQ(failure("1,0,1,0\n0\n"), "c.txt: line 1, column 4: 0 coordinates per row; there must be at least 1");
  EXPECT_EQ(failure("1,0,1,4097\n"), "c.txt: line 1, column 4: 4097 coordinates per row, more than 4096");
  EXPECT_EQ(failure("1,0,4294967296,1\n"), "c.txt: line 1, column 3: 4294967296 classes, more than 4294967295");
  EXPECT_EQ(failure("1,0,99999999999999999999,1\n"),
            "c.txt: line 1, column 3: 99999999999999999999 classes, more than 4294967295");
  EXPECT_EQ(failure("18446744073709551617,0,1,1\n"),
            "c.txt: line 1, column 1: 18446744073709551617 rows, more than the 4294967294 that fit into one index");
  EXPECT_EQ(failure("1,4294967294,1,1\n"),
            "c.txt: line 1, column 2: 4294967294 rows besides 1, more than the 4294967294 that fit into one index");
  EXPECT_EQ(failure("1000000000000,1,1,1\n3,0\n"),
            "c.txt: line 1, column 1: 1000000000000 rows, more than the 4294967294 that fit into one index");
}

TEST(ClassFile, AsManyRowsAsPromised) {
  EXPECT_EQ(failure("3,1,1,1\n3,0\n4,0\n5,0\n"),
            "c.txt: line 4: line 1 promises 4 rows (3 with a class, 1 new), but there are 3");
  EXPECT_EQ(failure("1,1,1,1\n3,0\n4,-1\n5,-1\n6,-1"),
            "c.txt: line 4: line 1 promises 2 rows (1 with a class, 1 new), but there are 4");
  EXPECT_EQ(failure("4000000000,200000000,4294967295,4096\n"),
            "c.txt: line 1: line 1 promises 4200000000 rows (4000000000 with a class, 200000000 new), but there are 0");
}

TEST(ClassFile, ShortRowsDoNotTakeTheMemoryOfLongOnes) {
  std::string text = "200000,0,1,4096\n";
  for (int row = 0; row < 200000; ++row) text += "1,0\n";  // 6.5 GB if it were believed
  EXPECT_EQ(message_of<BadData>([&] { class_file_in(text); }),
            "c.txt: line 2: 2 fields, but by line 1 a row is 4096 coordinates and a class");
}

TEST(ClassFile, AClassIsOneOfThosePromised) {
  EXPECT_EQ(failure("2,0,50,2\n1,2,49\n3,4,50\n"),
            "c.txt: line 3, column 3: class 50, but by line 1 the classes are 0 to 49");
  EXPECT_EQ(failure("1,0,1,2\n1,2,1\n"), "c.txt: line 2, column 3: class 1, but by line 1 the only class is 0");
  EXPECT_EQ(failure("1,0,5,1\n1,-2\n"), "c.txt: line 2, column 2: class -2, but by line 1 the classes are 0 to 4");
  EXPECT_EQ(failure("1,0,5,1\n1,99999999999999999999999\n"),
            "c.txt: line 2, column 2: class 99999999999999999999999, but by line 1 the classes are 0 to 4");
  EXPECT_EQ(failure("2,1,5,1\n1,0\n2,-1\n3,-1\n"),
            "c.txt: line 3, column 2: class -1 marks a new row, but by line 1 the rows up to line 3 have a class");
  EXPECT_EQ(failure("1,2,5,1\n1,0\n2,-1\n3,4\n"),
            "c.txt: line 4, column 2: class 4, but by line 1 the rows after line 2 are new, with class -1");
  EXPECT_EQ(failure("1,0,5,1\n1,\n"), "c.txt: line 2, column 2: the class is missing");
  EXPECT_EQ(failure("1,0,5,1\n1,cat\n"), "c.txt: line 2, column 2: class \"cat\" is not a whole number");
  EXPECT_EQ(failure("1,0,5,1\n1,1.0\n"), "c.txt: line 2, column 2: class \"1.0\" is not a whole number");
  EXPECT_EQ(failure("1,0,5,1\n1,1 2\n"), "c.txt: line 2, column 2: class \"1 2\" is not a whole number");
  EXPECT_EQ(class_file_in("1,0,5,1\n1,00000000000000000000004\n").labels.at(0), 4u);
}

TEST(ClassFile, ACoordinateIsAFiniteNumber) {
  EXPECT_EQ(failure("2,0,1,3\n1,2,3,0\n4,5,x6,0\n"), "c.txt: line 3, column 3: \"x6\" is not a number");
  EXPECT_EQ(failure("1,0,1,2\n1,,0\n"), "c.txt: line 2, column 2: the coordinate is missing");
  EXPECT_EQ(failure("1,0,1,2\n?,1,0\n"), "c.txt: line 2, column 1: the coordinate is missing");
  EXPECT_EQ(failure("1,0,1,2\n1,nan,0\n"), "c.txt: line 2, column 2: \"nan\" is not finite; leave such points out");
  EXPECT_EQ(failure("1,0,1,2\n-inf,1,0\n"), "c.txt: line 2, column 1: \"-inf\" is not finite; leave such points out");
  EXPECT_EQ(failure("1,0,1,2\n1e400,1,0\n"), "c.txt: line 2, column 1: \"1e400\" is too large");
  EXPECT_EQ(failure("1,0,1,1\n1e40,0\n", DType::f32), "c.txt: line 2, column 1: \"1e40\" is too large for f32");
  EXPECT_EQ(failure("1,0,1,2\n\"1\",1,0\n"), "c.txt: line 2, column 1: \"\\\"1\\\"\" is not a number");
  EXPECT_EQ(failure("1,0,1,2\n1,1\r,0\n"),
            "c.txt: line 2, column 2: \"1\\x0d\" is not a number; a carriage return "
            "without a line feed is not a line end");
}

TEST(ClassFile, RowsAreAsLongAsPromised) {
  EXPECT_EQ(failure("2,0,1,2\n1,2,0\n1,0\n"),
            "c.txt: line 3: 2 fields, but by line 1 a row is 2 coordinates and a class");
  EXPECT_EQ(failure("2,0,1,1\n1,2,0\n1,0\n"),
            "c.txt: line 2: 3 fields, but by line 1 a row is 1 coordinate and a class");
  EXPECT_EQ(failure("1,0,1,1\n1 0\n"), "c.txt: line 2: 1 field, but by line 1 a row is 1 coordinate and a class");
  EXPECT_EQ(failure("2,0,1,1\n1,0\n\n2,0\n"), "c.txt: line 3: blank, but rows follow; remove it");
  EXPECT_EQ(failure("3,0,1,1\n1,0\n \n2,0\n"), "c.txt: line 3: blank, but rows follow; remove it");
}

TEST(ClassFile, WhatIsNoTextIsRefused) {
  EXPECT_EQ(failure(""), "c.txt: is empty; a file of points to be classified starts with the line N,M,C,D");
  EXPECT_EQ(failure("\xEF\xBB\xBF \n\r\n"),
            "c.txt: is empty; a file of points to be classified starts with the line N,M,C,D");
  EXPECT_PRED2(test::holds, failure<CorruptFile>(std::string("1,0,1,1\n1\0,0\n", 13)), "c.txt: byte 9 is NUL");
  EXPECT_PRED2(test::holds, failure<CorruptFile>(std::string("1,0\0,1,1\n1,0\n", 13)), "c.txt: byte 3 is NUL");
  EXPECT_PRED2(test::holds, failure<CorruptFile>(std::string("9,0,1,1\n1\0,0\n", 13)), "c.txt: byte 9 is NUL");
  EXPECT_PRED2(test::holds,
               failure<CorruptFile>("\xFF\xFE"
                                    "1"),
               "UTF-16");
}

TEST(ClassFile, CutAtAnyByteItIsReadRightOrRefused) {
  const std::string text = "2,2,3,2\n1.25,-7,0\n3,4e1,2\n55,6,-1\n7,-8.5,-1\n";
  for (std::size_t bytes = 0; bytes + 1 < text.size(); ++bytes) {
    SCOPED_TRACE(bytes);
    EXPECT_THROW(class_file_in(text.substr(0, bytes), {}, 8), BadData);
  }
}

TEST(ClassFile, ReadFromDiskPlainAndGzipped) {
  const std::string text = "1,1,2,1\n0.5,1\n0.25,-1\n";
  const std::string plain = temporary("plain.txt");
  const std::string packed = temporary("packed.txt.gz");
  put(plain, text);
  const gzFile gz = gzopen(packed.c_str(), "wb");
  gzwrite(gz, text.data(), static_cast<unsigned>(text.size()));
  gzclose(gz);
  for (const std::string& path : {plain, packed}) {
    EXPECT_TRUE(io::looks_like_class_file(path));
    EXPECT_EQ(values_of(io::read_class_file(path).fresh), (std::vector<double>{0.25}));
    std::filesystem::remove(path);
  }
  EXPECT_THROW(io::read_class_file(plain), IoError);
}

TEST(ClassFile, AStopIsHeard) {
  const std::string path = temporary("stopped.txt");
  put(path, "1,0,2,1\n0.5,1\n");
  EXPECT_THROW(io::read_class_file(path, {}, 1, [](const Progress&) { return false; }), Interrupted);
  std::filesystem::remove(path);
}

TEST(LooksLikeClassFile, GoesByTheFirstTwoLines) {
  const std::string path = temporary("looks.txt");
  const auto looks = [&](const std::string& text) {
    put(path, text);
    const bool answer = io::looks_like_class_file(path);
    std::filesystem::remove(path);
    return answer;
  };
  EXPECT_TRUE(looks("2,1,3,2\n1,2,0\n"));
  EXPECT_TRUE(looks("\xEF\xBB\xBF 2, 1 ,3,2\r\n1,2,0\r\n"));
  EXPECT_TRUE(looks("2,1,3,2\n1,x,0\n")) << "what is wrong later is for the reader to say";
  EXPECT_TRUE(looks("0,0,3,2\n"));
  EXPECT_FALSE(looks("2,1,3,2\n"));
  EXPECT_FALSE(looks("2,1,3,2\n1,2,0,4\n")) << "a table of four columns";
  EXPECT_FALSE(looks("1.5,2,3,4\n1,2,3,4\n"));
  EXPECT_FALSE(looks("x,y,z,label\n1,2,3,4\n"));
  EXPECT_FALSE(looks("1,2,3\n"));
  EXPECT_FALSE(looks(""));
  EXPECT_FALSE(looks(std::string(3 << 20, 'x')));
  EXPECT_FALSE(io::looks_like_class_file(path)) << "not there";
  EXPECT_FALSE(io::looks_like_class_file(KITH_TEST_TEMPORARY)) << "a folder";
  EXPECT_FALSE(io::looks_like_class_file("-")) << "standard input can be read once only";
}

TEST(WriteClassified, KeepsCoordinatesAndPutsTheClassAndSharesBehind) {
  const io::ClassFile file = class_file_in("1,2,2,2\n01.50,+2,0\n3.000000000000000000001,-0,-1\n1e+05, .5 , -1\n");
  EXPECT_EQ(classified(file, {1, 0}), "1,2,2,2\n01.50,+2,0\n3.000000000000000000001,-0,1\n1e+05, .5 ,0\n");
  EXPECT_EQ(classified(file, {1, 0}, {0.25, 0.75, 1.0 / 3, 1}),
            "1,2,2,2\n01.50,+2,0\n3.000000000000000000001,-0,1,0.25,0.75\n1e+05, .5 ,0,0.3333333333333333,1\n");
}

TEST(WriteClassified, RefusesWhatDoesNotFit) {
  const io::ClassFile file = class_file_in("0,2,2,1\n1,-1\n2,-1\n");
  const std::string path = temporary("refused.txt");
  EXPECT_THROW(io::write_classified(path, file, std::vector<std::uint32_t>{0}), UsageError);
  EXPECT_THROW(io::write_classified(path, file, std::vector<std::uint32_t>{0, 2}), UsageError);
  EXPECT_THROW(io::write_classified(path, file, std::vector<std::uint32_t>{0, 1}, std::vector<double>{0, 1, 1}),
               UsageError);
  EXPECT_THROW(
      io::write_classified(path, file, std::vector<std::uint32_t>{0, 1}, {}, [](const Progress&) { return false; }),
      Interrupted);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THROW(io::write_classified("/nowhere/at/all.txt", file, std::vector<std::uint32_t>{0, 1}), IoError);
}

TEST(WriteClassFile, IsReadBack) {
  const std::string path = temporary("back.txt");
  const std::vector<double> values = {1.5, -2.123456, 0, 100, -100, 0.000001, -0.000001, 99.999999};
  const std::vector<std::uint32_t> labels = {2, 0, 1};
  io::write_class_file(path, PointView(values.data(), 4, 2), labels, 3, 3);
  EXPECT_EQ(file_content(path),
            "3,1,3,2\n1.500000,-2.123456,2\n0.000000,100.000000,0\n-100.000000,0.000001,1\n-0.000001,99.999999,-1\n");
  EXPECT_TRUE(io::looks_like_class_file(path));
  const io::ClassFile file = io::read_class_file(path);
  EXPECT_EQ(values_of(file.train), std::vector<double>(values.begin(), values.begin() + 6));
  EXPECT_EQ(values_of(file.fresh), std::vector<double>(values.begin() + 6, values.end()));
  EXPECT_EQ(file.labels, labels);
  std::filesystem::remove(path);
}

TEST(WriteClassFile, NumbersAreRoundedAsPrintfDoes) {
  const std::string path = temporary("rounded.txt");
  std::mt19937_64 random(11);
  std::vector<double> values = {-0.0, 0.5, 1.5, 2.5, 1e300, -1e15, 4503599627.3704955, 0.0000005, -0.0000005};
  for (int i = 0; i < 2000; ++i) {
    const auto whole = static_cast<double>(static_cast<std::int64_t>(random()) >> (random() % 60));
    values.push_back(random() % 2 ? whole / 1e6 : whole * 0x1p-30);
  }
  for (const int decimals : {0, 1, 6, 9}) {
    io::write_class_file(path, PointView(values.data(), values.size(), 1), {}, 0, 1, decimals);
    std::string expected = fmt::format("0,{},1,1\n", values.size());
    for (const double value : values) {
      char text[400];
      std::snprintf(text, sizeof(text), "%.*f,-1\n", decimals, value);
      expected += text;
    }
    EXPECT_EQ(file_content(path), expected) << decimals << " decimals";
  }
  std::filesystem::remove(path);
}

TEST(WriteClassFile, RefusesWhatDoesNotFit) {
  const std::string path = temporary("not_written.txt");
  const std::vector<double> values = {1, std::numeric_limits<double>::quiet_NaN()};
  const PointView points(values.data(), 2, 1);
  const std::vector<std::uint32_t> labels = {0, 3};
  EXPECT_THROW(io::write_class_file(path, points, labels, 3, 4), UsageError);
  EXPECT_THROW(io::write_class_file(path, points, labels, 2, 3), UsageError);
  EXPECT_THROW(io::write_class_file(path, points, labels, 2, 0), UsageError);
  EXPECT_THROW(io::write_class_file(path, points, labels, 2, 4, 16), UsageError);
  EXPECT_THROW(io::write_class_file(path, points, labels, 2, 4), BadData);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace kith
