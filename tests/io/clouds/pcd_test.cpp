// PCD: three encodings, every type, padding and repeated fields, organised clouds, lies, damage, what we write.
#include "io/binary_input.hpp"

#include <cmath>

namespace kith::io::test {
namespace {

std::string header(std::string_view fields, std::string_view sizes, std::string_view types, std::string_view counts,
                   int width, int height, std::string_view data) {
  return "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS " + std::string(fields) + "\nSIZE " +
         std::string(sizes) + "\nTYPE " + std::string(types) + "\nCOUNT " + std::string(counts) + "\nWIDTH " +
         std::to_string(width) + "\nHEIGHT " + std::to_string(height) + "\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS " +
         std::to_string(width * height) + "\nDATA " + std::string(data) + "\n";
}

std::string xyz_header(int points, std::string_view data) {
  return header("x y z", "4 4 4", "F F F", "1 1 1", points, 1, data);
}

/// LZF without compression: runs of up to 32 literal bytes, each after its length less one.
std::string lzf_literals(std::string_view bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 32) {
    const std::string_view run = bytes.substr(at, 32);
    out += static_cast<char>(run.size() - 1);
    out += run;
  }
  return out;
}

std::string compressed(std::string_view planes) {
  const std::string data = lzf_literals(planes);
  return Bytes()
      .le(static_cast<std::uint32_t>(data.size()))
      .le(static_cast<std::uint32_t>(planes.size()))
      .text(data)
      .str();
}

TEST(Pcd, XyzInEveryEncoding) {
  const std::vector<double> expected = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(values_of(read_bytes(read_pcd, xyz_header(2, "ascii") + "1 2 3\n4 5 6\n")), expected);
  Bytes records;
  for (const float v : {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}) records.le(v);
  EXPECT_EQ(values_of(read_bytes(read_pcd, xyz_header(2, "binary") + records.str())), expected);
  Bytes planes;
  for (const float v : {1.f, 4.f, 2.f, 5.f, 3.f, 6.f}) planes.le(v);
  const PointFile file = read_bytes(read_pcd, xyz_header(2, "binary_compressed") + compressed(planes.str()));
  EXPECT_EQ(values_of(file), expected);
  EXPECT_EQ(file.points.dtype(), DType::f32);
  EXPECT_EQ(file.columns, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(file.format, Format::pcd);
}

TEST(Pcd, BackReferencesOfTheCompression) {
  // One literal byte 0, then "repeat from one byte back" twice: 47 zero bytes = 4 points less a byte, then one literal.
  Bytes data;
  data.le(std::uint8_t{0}).le(std::uint8_t{0});                          // literal run of one zero
  data.le(std::uint8_t{0xe0}).le(std::uint8_t{37}).le(std::uint8_t{0});  // 37 + 7 + 2 = 46 bytes from one back
  data.le(std::uint8_t{0}).le(std::uint8_t{0x40});                       // the last byte of the last z: 2.0f
  const std::string body =
      Bytes().le(static_cast<std::uint32_t>(data.size())).le(std::uint32_t{48}).text(data.str()).str();
  std::vector<double> expected(12, 0.0);
  expected[11] = 2;
  EXPECT_EQ(values_of(read_bytes(read_pcd, xyz_header(4, "binary_compressed") + body)), expected);
}

TEST(Pcd, EveryTypePaddingAndRepeatedFields) {
  const std::string_view fields = "a b c d X _ Y e f g Z normal";
  const std::string_view sizes = "1 1 2 2 8 1 4 4 8 8 4 4";
  const std::string_view types = "I U I U F U F U I U I F";
  const std::string_view counts = "1 1 1 1 1 3 1 1 1 1 1 2";
  const auto number = [](int field, int row) { return field * 10 + row; };
  Bytes records;
  Bytes text;
  for (int row = 0; row < 2; ++row) {
    records.le(std::int8_t(-number(1, row))).le(std::uint8_t(number(2, row))).le(std::int16_t(-number(3, row)));
    records.le(std::uint16_t(number(4, row))).le(0.1 * row).text("pad").le(0.5f * float(row));
    records.le(std::uint32_t(number(5, row))).le(std::int64_t(-number(6, row))).le(std::uint64_t(number(7, row)));
    records.le(std::int32_t(number(8, row))).le(float(row)).le(float(-row));
    for (const int i : {1, 2, 3, 4}) text.text(std::to_string(i % 2 ? -number(i, row) : number(i, row)) + " ");
    text.text(row == 0 ? "0 9 9 9 0 " : "0.1 9 9 9 0.5 ");
    text.text(std::to_string(number(5, row)) + " " + std::to_string(-number(6, row)) + " " +
              std::to_string(number(7, row)) + " " + std::to_string(number(8, row)) + " ");
    text.text(std::to_string(row) + " " + std::to_string(-row) + "\n");
  }
  const std::size_t record_sizes[] = {1, 1, 2, 2, 8, 3, 4, 4, 8, 8, 4, 8};
  std::string planes;
  std::size_t offset = 0;
  const std::size_t record = records.size() / 2;
  for (const std::size_t size : record_sizes) {
    for (std::size_t row = 0; row < 2; ++row) planes += records.str().substr(row * record + offset, size);
    offset += size;
  }
  for (const auto& [encoding, body] : {std::pair<std::string, std::string>{"ascii", text.str()},
                                       {"binary", records.str()},
                                       {"binary_compressed", compressed(planes)}}) {
    SCOPED_TRACE(encoding);
    const std::string bytes = header(fields, sizes, types, counts, 2, 1, encoding) + body;
    const PointFile file = read_bytes(read_pcd, bytes);
    EXPECT_EQ(values_of(file), (std::vector<double>{0, 0, 80, 0.1, 0.5, 81}));
    EXPECT_EQ(file.columns, (std::vector<std::string>{"X", "Y", "Z"}));
    ReadOptions options;
    options.columns = {"normal_1", "normal", "a", "b", "c", "d", "e", "f", "g"};
    options.label = "z";
    const PointFile all = read_bytes(read_pcd, bytes, options);
    EXPECT_EQ(values_of(all), (std::vector<double>{0, 0, -10, 20, -30, 40, 50, -60, 70,  //
                                                   -1, 1, -11, 21, -31, 41, 51, -61, 71}));
    EXPECT_EQ(all.labels->names, (std::vector<std::string>{"80", "81"}));
    options.columns = {"_"};
    expect_error<UsageError>(read_pcd, bytes, "no column \"_\"", options);
  }
}

TEST(Pcd, OrganisedCloudsKeepTheirNans) {
  const std::string bytes =
      header("x y z", "4 4 4", "F F F", "1 1 1", 2, 2, "ascii") + "1 2 3\nnan nan nan\n4 5 6\n-nan NaN nan\n";
  const PointFile file = read_bytes(read_pcd, bytes);
  EXPECT_EQ(file.points.rows(), 4u);
  for (const std::uint64_t row : {1, 3}) {
    for (std::uint32_t d = 0; d < 3; ++d) EXPECT_TRUE(std::isnan(file.view().at(row, d)));
  }
  EXPECT_EQ(file.view().at(2, 2), 6);
}

TEST(Pcd, OldVersionsWithoutCounts) {
  const std::string body = "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA ascii\n1 2 3\n";
  for (const std::string_view version : {"VERSION .5\n", "VERSION 0.6\n", ""}) {
    EXPECT_EQ(values_of(read_bytes(read_pcd, std::string(version) + body)), (std::vector<double>{1, 2, 3}));
  }
  EXPECT_EQ(values_of(read_bytes(read_pcd,
                                 "FIELDS x y z\r\nSIZE 4 4 4\r\nTYPE F F F\r\nWIDTH 1\r\nHEIGHT 1\r\n"
                                 "DATA ascii\r\n1 2 3\r\n")),
            (std::vector<double>{1, 2, 3}));
}

TEST(Pcd, HeadersThatAreWrong) {
  const auto bad = [](const std::string& bytes, std::string_view part) {
    expect_error<CorruptFile>(read_pcd, bytes, part);
  };
  const std::string body = "1 2 3\n4 5 6\n";
  const auto xyz = [&](std::string_view sizes, std::string_view types, std::string_view counts) {
    return header("x y z", sizes, types, counts, 2, 1, "ascii") + body;
  };
  bad("", "DATA");
  bad(xyz("4 4 0", "F F F", "1 1 1"), "SIZE 0");
  bad(xyz("4 4 3", "F F I", "1 1 1"), "SIZE 3");
  bad(xyz("4 4 2", "F F F", "1 1 1"), "SIZE 2");
  bad(xyz("4 4 4", "F F X", "1 1 1"), "TYPE X");
  bad(xyz("4 4 4", "F F", "1 1 1"), "2 values for 3 fields");
  bad(xyz("4 4 4", "F F F", "1 1 -1"), "COUNT \"-1\"");
  bad(xyz("4 4 4", "F F F", "1 1 0"), "COUNT 0");
  bad(xyz("4 4 4", "F F F", "1 1 99999999"), "more than");
  bad(xyz("8 8 8", "F F F", "1 1 9223372036854775807"), "too large");
  bad(header("x y x", "4 4 4", "F F F", "1 1 1", 2, 1, "ascii") + body, "\"x\" is declared twice");
  bad(header("x y i", "4 4 4", "F F F", "1 1 1", 2, 1, "ascii") + body, "no column \"z\"");
  bad("FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 2\nHEIGHT 3\nPOINTS 5\nDATA ascii\n" + body, "POINTS is 5");
  bad("FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 4294967296\nHEIGHT 4294967296\nPOINTS 0\nDATA ascii\n", "too large");
  bad("FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nDATA ascii\n" + body, "missing");
  bad("FIELDS x y z\nDATA ascii\n" + body, "missing");
  bad("SIZE 4 4 4\nFIELDS x y z\nDATA ascii\n" + body, "0 fields");
  bad("VERSION 0.9\n" + body, "version");
  bad("FIELDS x y z\nFIELDS x y z\nDATA ascii\n" + body, "twice");
  bad(xyz_header(2, "zipped") + body, "\"DATA zipped\"");
  bad("FIELDS x y z\nnonsense\nDATA ascii\n" + body, "\"nonsense\"");
}

TEST(Pcd, CountsAndSizesThatLie) {
  for (const int points : {3, 2000000000}) {
    expect_error<CorruptFile>(read_pcd, xyz_header(points, "ascii") + "1 2 3\n4 5 6\n", "cut short");
    expect_error<CorruptFile>(read_pcd, xyz_header(points, "binary") + std::string(24, 'a'), "cut short");
    expect_error<CorruptFile>(read_pcd, xyz_header(points, "binary_compressed") + compressed(std::string(24, 'a')),
                              "do not make");
  }
  const auto with_sizes = [](std::uint32_t stored, std::uint32_t bytes, int points) {
    return xyz_header(points, "binary_compressed") +
           Bytes().le(stored).le(bytes).text(lzf_literals(std::string(24, 'a'))).str();
  };
  expect_error<CorruptFile>(read_pcd, with_sizes(0xffffffff, 24, 2), "cut short");
  expect_error<CorruptFile>(read_pcd, with_sizes(25, 1200000000, 100000000), "cannot be compressed");
  expect_error<CorruptFile>(read_pcd, with_sizes(25, 36, 3), "damaged");
  expect_error<CorruptFile>(read_pcd, with_sizes(24, 24, 2), "damaged");
  expect_error<CorruptFile>(read_pcd, with_sizes(0, 24, 2), "cannot be compressed");
}

TEST(Pcd, SurvivesDamage) {
  const std::string_view fields = "x y z _ n";
  for (const std::string_view encoding : {"ascii", "binary", "binary_compressed"}) {
    const std::string head = header(fields, "4 4 4 1 2", "F F F U I", "1 1 1 2 2", 2, 1, encoding);
    const std::string body = encoding == "ascii"    ? "1 2 3 0 0 4 5\n6 7 8 0 0 9 10\n"
                             : encoding == "binary" ? std::string(36, 'a')
                                                    : compressed(std::string(36, 'a'));
    expect_survives_damage(Reader(read_pcd), head + body, encoding != "ascii");
  }
}

template <typename T>
void check_pcd_round_trip() {
  const PointSet points = odd_points<T>(50, 3);
  const std::string expected(static_cast<const char*>(points.view().data()), points.bytes());
  const PointView apart = strided_view<T>(points, 2);
  const PointSet copy = PointSet::copy_of(apart);
  for (const bool text : {false, true}) {
    WriteOptions options;
    options.ascii = text;
    EXPECT_EQ(bytes_of(read_bytes(read_pcd, written(write_pcd, points.view(), options))), expected);
    options.columns = {"u", "v"};
    ReadOptions columns;
    columns.columns = {"u", "v"};
    EXPECT_EQ(bytes_of(read_bytes(read_pcd, written(write_pcd, apart, options), columns)),
              std::string(static_cast<const char*>(copy.view().data()), copy.bytes()));
  }
}

TEST(Pcd, WhatIsWrittenReadsBackBitForBit) {
  check_pcd_round_trip<float>();
  check_pcd_round_trip<double>();
}

TEST(Pcd, TheValueOfDataIsQuoted) {
  const std::string file = "VERSION .7\nFIELDS x y\nSIZE 4 4\nTYPE F F\nWIDTH 1\nPOINTS 1\nDATA ascii-1.72\n2 3\n";
  expect_error<CorruptFile>(read_pcd, file, "header line 7: \"DATA ascii-1.72\" is not known");
  expect_error<CorruptFile>(read_pcd, file, "the first point follows on a line of its own");
}

}  // namespace
}  // namespace kith::io::test
