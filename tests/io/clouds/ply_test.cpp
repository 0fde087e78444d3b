// PLY: three encodings, every property type, lists and other elements, columns and labels, lies, damage, what we write.
#include "io/binary_input.hpp"

#include <cmath>

namespace kith::io::test {
namespace {

const char* const kEncodings[] = {"ascii", "binary_little_endian", "binary_big_endian"};

std::string header(std::string_view encoding, std::string_view body) {
  return "ply\nformat " + std::string(encoding) + " 1.0\ncomment made by hand\n" + std::string(body) + "end_header\n";
}

/// Writes numbers as text or bytes, as the encoding says.
class PlyBody {
 public:
  explicit PlyBody(std::string_view encoding) : ascii_(encoding == "ascii"), big_(encoding == "binary_big_endian") {}
  template <typename T>
  PlyBody& put(T value) {
    if (ascii_) {
      bytes_.text(std::to_string(value) + " ");
    } else {
      bytes_.put(value, big_);
    }
    return *this;
  }
  PlyBody& end() {
    if (ascii_) bytes_.text("\n");
    return *this;
  }
  const std::string& str() const { return bytes_.str(); }

 private:
  bool ascii_;
  bool big_;
  Bytes bytes_;
};

TEST(Ply, XyzInEveryEncoding) {
  for (const std::string_view encoding : kEncodings) {
    PlyBody body(encoding);
    for (int i = 0; i < 4; ++i) body.put(float(i)).put(float(i) + 0.5f).put(-float(i)).end();
    const PointFile file = read_bytes(
        read_ply,
        header(encoding, "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n") + body.str());
    EXPECT_EQ(file.points.dtype(), DType::f32);
    EXPECT_EQ(values_of(file), (std::vector<double>{0, 0.5, 0, 1, 1.5, -1, 2, 2.5, -2, 3, 3.5, -3})) << encoding;
    EXPECT_EQ(file.columns, (std::vector<std::string>{"x", "y", "z"}));
    EXPECT_EQ(file.format, Format::ply);
  }
}

TEST(Ply, EveryTypeOtherElementsAndLists) {
  const std::string elements =
      "element camera 2\nproperty list uint8 int16 pose\nproperty float64 focus\n"
      "element nothing 7\n"
      "element vertex 2\nproperty char a\nproperty uint8 b\nproperty list ushort double neighbours\nproperty short x\n"
      "property uint16 c\nproperty int32 z\nproperty uint d\nproperty double y\nproperty list char uchar tail\n"
      "element face 1\nproperty list uchar int vertex_indices\n";
  for (const std::string_view encoding : kEncodings) {
    SCOPED_TRACE(encoding);
    PlyBody body(encoding);
    body.put(std::uint8_t{2}).put(std::int16_t{5}).put(std::int16_t{6}).put(1.25).end();
    body.put(std::uint8_t{0}).put(2.25).end();
    for (int i = 0; i < 2; ++i) {
      body.put(std::int8_t(-1 - i)).put(std::uint8_t(200 + i)).put(std::uint16_t(i * 2));
      for (int j = 0; j < i * 2; ++j) body.put(0.5);
      body.put(std::int16_t(-300 - i)).put(std::uint16_t(60000 + i)).put(std::int32_t(-70000 - i));
      body.put(std::uint32_t(4000000000u + static_cast<unsigned>(i))).put(0.125 * i);
      body.put(std::int8_t(1)).put(std::uint8_t(9)).end();
    }
    body.put(std::uint8_t{3}).put(0).put(1).put(0).end();
    const std::string bytes = header(encoding, elements) + body.str();
    const PointFile file = read_bytes(read_ply, bytes);
    EXPECT_EQ(file.points.dtype(), DType::f64);
    EXPECT_EQ(values_of(file), (std::vector<double>{-300, 0, -70000, -301, 0.125, -70001}));

    ReadOptions options;
    options.columns = {"d", "b", "A", "d"};
    options.label = "c";
    const PointFile chosen = read_bytes(read_ply, bytes, options);
    EXPECT_EQ(values_of(chosen), (std::vector<double>{4e9, 200, -1, 4e9, 4000000001., 201, -2, 4000000001.}));
    EXPECT_EQ(chosen.columns, (std::vector<std::string>{"d", "b", "a", "d"}));
    EXPECT_EQ(chosen.labels->names, (std::vector<std::string>{"60000", "60001"}));

    options.label = {};
    options.columns = {"c", "b"};
    EXPECT_EQ(read_bytes(read_ply, bytes, options).points.dtype(), DType::f32);
    options.columns = {"neighbours"};
    expect_error<UsageError>(read_ply, bytes, "no column \"neighbours\"", options);
  }
}

TEST(Ply, CarriageReturnsObjInfoAndBlankLines) {
  const std::string ascii =
      "ply\r\nformat ascii 1.0\r\nobj_info num_cols 5\r\ncomment\r\nelement vertex 2\r\nproperty float x\r\n"
      "property float y\r\nproperty float z\r\nend_header\r\n1 2 3\r\n\r\n   \r\n+4\t5e0 nan  \r\n";
  const std::vector<double> values = values_of(read_bytes(read_ply, ascii));
  EXPECT_EQ(std::vector<double>(values.begin(), values.begin() + 5), (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(std::isnan(values[5]));
  const std::string binary =
      Bytes(
          "ply\r\nformat binary_little_endian 1.0\r\nelement vertex 1\r\nproperty float x\r\nproperty float y\r\n"
          "property float z\r\nend_header\r\n")
          .le(1.f)
          .le(2.f)
          .le(3.f)
          .str();
  EXPECT_EQ(values_of(read_bytes(read_ply, binary)), (std::vector<double>{1, 2, 3}));
}

TEST(Ply, NoFinalNewlineAndNoVertices) {
  const std::string xyz = "property float x\nproperty float y\nproperty float z\n";
  EXPECT_EQ(values_of(read_bytes(read_ply, header("ascii", "element vertex 1\n" + xyz) + "1 2 3")),
            (std::vector<double>{1, 2, 3}));
  for (const std::string_view encoding : kEncodings) {
    const PointFile none = read_bytes(read_ply, header(encoding, "element vertex 0\n" + xyz));
    EXPECT_EQ(none.points.rows(), 0u);
    EXPECT_EQ(none.points.dims(), 3u);
  }
}

TEST(Ply, HeadersThatAreWrong) {
  const std::string xyz = "property float x\nproperty float y\nproperty float z\n";
  const auto bad = [&](const std::string& bytes, std::string_view part) {
    expect_error<CorruptFile>(read_ply, bytes, part);
  };
  bad("", "\"ply\"");
  bad("plyformat", "\"ply\"");
  bad("ply\nformat ascii 1.0\nelement vertex 1\n" + xyz, "end_header");
  bad("ply\nformat ascii 1.0\n" + std::string(3 << 20, 'x'), "end_header");
  bad("ply\nelement vertex 1\n" + xyz + "end_header\n1 2 3\n", "format");
  bad(header("utf8", "element vertex 1\n" + xyz), "encoding \"utf8\"");
  bad(header("ascii", xyz), "before any element");
  bad(header("ascii", "element face 1\n" + xyz), "no element \"vertex\"");
  bad(header("ascii", "element vertex -1\n" + xyz), "\"-1\"");
  bad(header("ascii", "element vertex 99999999999999999999\n" + xyz), "element count");
  bad(header("ascii", "element vertex 1\nelement vertex 1\n" + xyz), "twice");
  bad(header("ascii", "element vertex 1\n" + xyz + "property float x\n") + "1 2 3 4\n", "\"x\" is declared twice");
  bad(header("ascii", "element vertex 1\nproperty half x\n"), "type \"half\"");
  bad(header("ascii", "element vertex 1\nproperty list float int x\n"), "integer");
  bad(header("ascii", "element vertex 1\nproperty float x\nproperty float y\n") + "1 2\n", "no column \"z\"");
  bad(header("binary_little_endian", "element vertex 0\n"), "no column \"x\"");
}

TEST(Ply, CountsThatLie) {
  const std::string xyz = "property float x\nproperty float y\nproperty float z\n";
  for (const std::string_view encoding : kEncodings) {
    for (const std::string_view count : {"2", "1000000000000", "18446744073709551615"}) {
      PlyBody body(encoding);
      body.put(1.f).put(2.f).put(3.f).end();
      expect_error<CorruptFile>(
          read_ply, header(encoding, "element vertex " + std::string(count) + "\n" + xyz) + body.str(), "cut short");
      expect_error<CorruptFile>(read_ply,
                                header(encoding, "element other " + std::string(count) +
                                                     "\nproperty float a\nproperty list uchar float b\n"
                                                     "element vertex 1\n" +
                                                     xyz) +
                                    body.str(),
                                "cut short");
    }
  }
  for (const bool big : {false, true}) {
    const std::string encoding = big ? "binary_big_endian" : "binary_little_endian";
    const std::string before = header(encoding, "element face 1\nproperty list int double v\nelement vertex 1\n" + xyz);
    const std::string rest = Bytes().le(1.f).le(2.f).le(3.f).le(1.f).le(2.f).str();
    expect_error<CorruptFile>(read_ply, before + Bytes().put(std::int32_t{-1}, big).str() + rest, "count -1");
    expect_error<CorruptFile>(read_ply, before + Bytes().put(INT32_MAX, big).str() + rest, "cut short");
    const std::string inside = header(encoding, "element vertex 1\n" + xyz + "property list uint double v\n");
    expect_error<CorruptFile>(read_ply,
                              inside + Bytes().le(1.f).le(2.f).le(3.f).put(std::uint32_t{0x80000000}, big).str() + rest,
                              "cut short");
  }
}

TEST(Ply, TextThatIsWrong) {
  const std::string head = header("ascii", "element vertex 2\nproperty float x\nproperty float y\nproperty double z\n");
  expect_error<CorruptFile>(read_ply, head + "1 2 3\n4 5\n6 7 8\n", "line 10 (vertex 1)");
  expect_error<CorruptFile>(read_ply, head + "1 2 3\n4 5 6 7\n", "more values");
  expect_error<BadData>(read_ply, head + "1 2 3\n4 five 6\n", "\"five\" of \"y\" is not a number");
  expect_error<BadData>(read_ply, head + "1 2 3\n4 5 6,\n", "\"6,\"");
  expect_error<BadData>(read_ply, head + "1 2 3\n4 5 1e400\n", "out of range");
  ReadOptions options;
  options.missing_as_nan = true;
  EXPECT_EQ(values_of(read_bytes(read_ply, head + "1 2 3\n4 5 -1e400\n", options))[5], -INFINITY);
  options.missing_as_nan = false;
  options.dtype = DType::f32;
  const PointFile narrow = read_bytes(read_ply, head + "1 2 3\n4 5 1e300\n", options);
  EXPECT_EQ(values_of(narrow)[5], INFINITY);
  EXPECT_EQ(narrow.notes.size(), 1u);
  const std::string lists = header("ascii",
                                   "element vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
                                   "property list uchar int v\n");
  expect_error<BadData>(read_ply, lists + "1 2 3 -1\n", "length of a list");
  expect_error<CorruptFile>(read_ply, lists + "1 2 3 2147483648 5 6\n", "ends before");
}

TEST(Ply, TextOfManyBlocksForAnyNumberOfThreads) {
  std::string text = header("ascii", "element vertex 90000\nproperty double x\nproperty double y\nproperty double z\n");
  const std::size_t head = text.size();
  for (int i = 0; i < 90000; ++i) {
    text += std::to_string(i) + " " + std::to_string(i * 0.5) + " " + std::to_string(-i) + (i % 7 == 0 ? "\n\n" : "\n");
  }
  ASSERT_GT(text.size() - head, 2u << 20);
  for (const int threads : {1, 2, 5}) {
    ReadOptions options;
    options.threads = threads;
    const PointFile file = read_bytes(read_ply, text, options);
    for (int i = 0; i < 90000; ++i) {
      ASSERT_EQ(file.view().at(static_cast<std::uint64_t>(i), 0), i);
      ASSERT_EQ(file.view().at(static_cast<std::uint64_t>(i), 1), i * 0.5);
      ASSERT_EQ(file.view().at(static_cast<std::uint64_t>(i), 2), -i);
    }
    std::string broken = text;  // the first of several faults is the one that is told
    broken[head] = '?';
    broken[text.size() - 3] = '?';
    expect_error<BadData>(read_ply, broken, "(vertex 0)", options);
  }
}

TEST(Ply, SurvivesDamage) {
  const std::string elements =
      "element face 1\nproperty list uchar int v\n"
      "element vertex 2\nproperty float x\nproperty double y\nproperty short z\nproperty list uchar uchar w\n";
  for (const std::string_view encoding : kEncodings) {
    PlyBody body(encoding);
    body.put(std::uint8_t{2}).put(1).put(2).end();
    for (int i = 0; i < 2; ++i) {
      body.put(1.5f).put(2.5).put(std::int16_t{3}).put(std::uint8_t{1}).put(std::uint8_t{7}).end();
    }
    expect_survives_damage(Reader(read_ply), header(encoding, elements) + body.str(), encoding != "ascii");
  }
}

template <typename T>
void check_ply_round_trip() {
  const PointSet points = odd_points<T>(50, 3);
  const std::string expected(static_cast<const char*>(points.view().data()), points.bytes());
  EXPECT_EQ(bytes_of(read_bytes(read_ply, written(write_ply, points.view()))), expected);
  WriteOptions ascii;
  ascii.ascii = true;
  EXPECT_EQ(bytes_of(read_bytes(read_ply, written(write_ply, points.view(), ascii))), expected);

  const PointView apart = strided_view<T>(points, 2);
  const PointSet copy = PointSet::copy_of(apart);
  ReadOptions columns;
  columns.columns = {"u", "v"};
  for (const bool text : {false, true}) {
    WriteOptions named;
    named.ascii = text;
    named.columns = {"u", "v"};
    const PointFile back = read_bytes(read_ply, written(write_ply, apart, named), columns);
    EXPECT_EQ(back.points.dtype(), dtype_of<T>);
    EXPECT_EQ(bytes_of(back), std::string(static_cast<const char*>(copy.view().data()), copy.bytes()));
  }
}

TEST(Ply, WhatIsWrittenReadsBackBitForBit) {
  check_ply_round_trip<float>();
  check_ply_round_trip<double>();
}

TEST(Ply, NamesThatCannotBeWritten) {
  const PointSet points = odd_points<float>(2, 2);
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"a", "b c"}, {"a", ""}, {"a", "a"}, {"a", "b\n"}, {"a"}}) {
    WriteOptions options;
    options.columns = names;
    EXPECT_THROW(written(write_ply, points.view(), options), UsageError);
    EXPECT_THROW(written(write_pcd, points.view(), options), UsageError);
  }
}

}  // namespace
}  // namespace kith::io::test
