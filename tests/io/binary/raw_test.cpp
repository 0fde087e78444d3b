// Plain numbers and Fortran records by a layout: types, byte orders, headers, padding, what is wrong.
#include "io/binary_input.hpp"
#include "io/binary/raw_layout.hpp"

namespace kith::io::test {
namespace {

using namespace std::string_literals;
using Values = std::vector<double>;
using Names = std::vector<std::string>;

PointFile read_raw(const runtime::InputFile& file, const ReadOptions& options) { return read_points(file, options); }

PointFile read_layout(std::string_view bytes, std::string layout, ReadOptions options = {}) {
  options.layout = std::move(layout);
  return read_bytes(read_raw, bytes, options);
}

template <typename E>
void expect_layout_error(std::string_view bytes, std::string layout, std::string_view part) {
  ReadOptions options;
  options.layout = std::move(layout);
  expect_error<E>(read_raw, bytes, part, options);
}

std::string floats(std::initializer_list<float> values, bool big_endian = false) {
  Bytes bytes;
  for (const float value : values) bytes.put(value, big_endian);
  return bytes.str();
}

std::string record(const std::string& content, bool big_endian = false) {
  Bytes bytes;
  const auto length = static_cast<std::int32_t>(content.size());
  bytes.put(length, big_endian).text(content).put(length, big_endian);
  return bytes.str();
}

TEST(RawLayout, RowsOfOneType) {
  const PointFile file = read_layout(floats({1, 2, 3, 9, 4, 5, 6, 9}), "f32 x,y,z,i");
  EXPECT_EQ(file.format, Format::raw);
  EXPECT_EQ(file.points.dtype(), DType::f32);
  EXPECT_EQ(file.columns, (Names{"x", "y", "z"}));
  EXPECT_EQ(values_of(file), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values_of(read_layout(floats({1, 2, 3, 9}), "f32 a, b ,c,d")), (Values{1, 2, 3, 9}));
  const PointFile unnamed = read_layout(floats({1, 2, 3, 4}), "f32 2");
  EXPECT_EQ(values_of(unnamed), (Values{1, 2, 3, 4}));
  EXPECT_TRUE(unnamed.columns.empty());
  EXPECT_EQ(values_of(read_layout(floats({1, 2, 3, 9}), "f32 x,y,z,i", {.columns = {"i", "x"}})), (Values{9, 1}));
}

TEST(RawLayout, GroupsHeadersPaddingAndByteOrder) {
  Bytes bytes("header");
  for (int i = 0; i < 2; ++i) {
    bytes.be(double(i) + 0.5).be(-double(i)).be(std::uint16_t(500 + i)).text("pad").be(std::int8_t(-1));
  }
  const PointFile file = read_layout(bytes.str(), "be skip=6 f64 x,y; u16 class; pad 3; i8 _", {.label = "class"});
  EXPECT_EQ(values_of(file), (Values{.5, 0, 1.5, -1}));
  EXPECT_EQ(file.labels->names, (Names{"500", "501"}));
  EXPECT_EQ(read_layout(bytes.str(), "be skip=6 rows=1 f64 x,y; u16 class; pad 3; i8 _").points.rows(), 1u);
  EXPECT_EQ(values_of(read_layout(floats({1, 2, 3, 4, 5, 6}), "arrays f32 x,y")), (Values{1, 4, 2, 5, 3, 6}));
}

TEST(RawLayout, FortranRecords) {
  for (const bool big_endian : {false, true}) {
    const std::string order = big_endian ? "be " : "le ";
    const std::string rows =
        record(floats({1, 2, 3}, big_endian), big_endian) + record(floats({4, 5, 6}, big_endian), big_endian);
    EXPECT_EQ(values_of(read_layout(rows, order + "fortran f32 x,y,z")), (Values{1, 2, 3, 4, 5, 6}));
    const std::string block = record("a header", big_endian) +
                              record(floats({1, 2, 3, 4, 5, 6}, big_endian), big_endian) +
                              record("behind it", big_endian);
    EXPECT_EQ(values_of(read_layout(block, "fortran " + order + "skip=1 records=1 f32 x,y,z")),
              (Values{1, 2, 3, 4, 5, 6}));
    const std::string columns =
        record(floats({1, 2, 3}, big_endian), big_endian) + record(floats({4, 5, 6}, big_endian), big_endian);
    EXPECT_EQ(values_of(read_layout(columns, order + "fortran arrays f32 x,y")), (Values{1, 4, 2, 5, 3, 6}));
  }
}

TEST(RawLayout, EmptyFortranRecordsAddNothing) {
  EXPECT_EQ(values_of(read_layout(record("") + record(floats({1, 2})) + record(""), "fortran f32 x,y")),
            (Values{1, 2}));
  EXPECT_EQ(read_layout(record(""), "fortran f32 x,y").points.rows(), 0u);
}

TEST(RawLayout, FilesOfZerosAreRefusedAtOnce) {
  expect_layout_error<CorruptFile>(std::string(1 << 20, '\0'), "fortran f32 x,y",
                                   "empty Fortran records follow each other");
}

TEST(RawLayout, LongFortranRecordsComeInParts) {
  Bytes bytes;
  bytes.le(std::int32_t{-8}).text(floats({1, 2})).le(std::int32_t{8});
  bytes.le(std::int32_t{-4}).text(floats({3})).le(std::int32_t{-4});
  bytes.le(std::int32_t{12}).text(floats({4, 5, 6})).le(std::int32_t{-12});
  EXPECT_EQ(values_of(read_layout(bytes.str(), "fortran f32 x,y,z")), (Values{1, 2, 3, 4, 5, 6}));
}

TEST(RawLayout, WhatIsWrongWithTheFile) {
  const std::string twelve = floats({1, 2, 3});
  expect_layout_error<CorruptFile>(twelve, "f32 x,y",
                                   "12 bytes are not a whole number of rows of 8 bytes (4 are left over)");
  expect_layout_error<CorruptFile>(twelve, "rows=2 f32 x,y", "the layout takes 2 rows of 8 bytes");
  expect_layout_error<CorruptFile>(twelve, "skip=13 u8 x", "has 12 bytes, and the layout skips 13");
  expect_layout_error<CorruptFile>(twelve, "fortran f32 x,y,z", "Fortran record 1 reaches beyond the end");
  expect_layout_error<CorruptFile>(record("abcd") + "\4\0\0\0abcd\5\0\0\0"s, "fortran u8 x",
                                   "Fortran record 2 at byte 12 has the length 4 before and 5 after it");
  expect_layout_error<CorruptFile>(record("abcde"), "fortran u8 x,y",
                                   "Fortran record 1 has 5 bytes, but a row of the layout has 2");
  expect_layout_error<CorruptFile>(record("ab"), "fortran skip=1 u8 x",
                                   "has 1 Fortran records, and the layout skips 1");
  const ReadOptions options{.format = Format::raw};
  expect_error<UsageError>(read_raw, twelve, "`layout=f32 x,y,z`", options);
  expect_error<UsageError>(read_raw, twelve, "not ply", {.format = Format::ply, .layout = "u8 x"});
}

TEST(RawLayout, WhatIsWrongWithTheLayout) {
  const std::pair<const char*, const char*> cases[] = {{"f33 x", "\"f33\" is not a type"},
                                                       {"f32", "a name is missing after \"f32\""},
                                                       {"f32 x,,y", "a name is missing"},
                                                       {"f32 x y", "\"x y\" is not a name; separate names by commas"},
                                                       {"f32 x,x", "\"x\" appears twice"},
                                                       {"skip=a f32 x", "\"skip=a\" needs a whole number"},
                                                       {"jump=1 f32 x", "\"jump=1\" is neither"},
                                                       {"records=1 f32 x", "\"records\" needs \"fortran\""},
                                                       {"pad x; f32 x", "\"pad\" needs a number of bytes"},
                                                       {"f32 0", "\"0\" is not a number of columns"},
                                                       {"f32 999999999", "is not a number of columns"},
                                                       {"pad 4", "it has no columns"},
                                                       {" ; ", "is not a type"}};
  for (const auto& [layout, part] : cases) expect_layout_error<UsageError>("abcd", layout, part);
}

TEST(RawLayout, SurvivesDamage) {
  const std::string records = record(floats({1, 2, 3})) + record(floats({4, 5, 6}));
  for (const char* layout : {"fortran f32 x,y,z", "f32 x", "fortran be f32 x,y,z"}) {
    expect_survives_damage(
        [&](const runtime::InputFile& file) {
          try {
            read_points(file, {.layout = layout, .threads = 1});
          } catch (const CorruptFile&) {
            if (std::string_view(layout).find("be") == std::string_view::npos) throw;
          }
        },
        records, false);
  }
}

}  // namespace
}  // namespace kith::io::test
