// fvecs, bvecs and ivecs: types, records that disagree, left-over bytes, damage.
#include "io/binary_input.hpp"

namespace kith::io::test {
namespace {

Reader reader_of(Format format) {
  return
      [format](const runtime::InputFile& file, const ReadOptions& options) { return read_vecs(file, options, format); };
}

TEST(Vecs, FloatsBytesAndIntegers) {
  const std::string floats = Bytes().le(2).le(1.5f).le(-0.f).le(2).le(3.f).le(4.f).str();
  const PointFile f = read_bytes(reader_of(Format::fvecs), floats);
  EXPECT_EQ(f.points.dtype(), DType::f32);
  EXPECT_EQ(f.format, Format::fvecs);
  EXPECT_EQ(values_of(f), (std::vector<double>{1.5, 0, 3, 4}));

  const std::string bytes = Bytes().le(3).text(std::string("\0\x80\xff", 3)).le(3).text("abc").str();
  const PointFile b = read_bytes(reader_of(Format::bvecs), bytes);
  EXPECT_EQ(b.points.dtype(), DType::f32);
  EXPECT_EQ(values_of(b), (std::vector<double>{0, 128, 255, 'a', 'b', 'c'}));

  const PointFile i = read_bytes(reader_of(Format::ivecs), Bytes().le(1).le(16777217).le(1).le(INT32_MIN).str());
  EXPECT_EQ(i.points.dtype(), DType::f64);
  EXPECT_EQ(values_of(i), (std::vector<double>{16777217, -2147483648.}));
}

TEST(Vecs, ColumnsAndLabel) {
  ReadOptions options;
  options.label = "2";
  const PointFile file =
      read_bytes(reader_of(Format::ivecs), Bytes().le(2).le(5).le(-7).le(2).le(6).le(-7).str(), options);
  EXPECT_EQ(values_of(file), (std::vector<double>{5, 6}));
  EXPECT_EQ(file.labels->names, (std::vector<std::string>{"-7"}));
}

TEST(Vecs, RecordsThatDisagreeAndLeftOvers) {
  const Reader reader = reader_of(Format::fvecs);
  const std::string good = Bytes().le(1).le(1.f).le(1).le(2.f).le(1).le(3.f).str();
  std::string odd = good;
  odd[16] = 2;
  expect_error<CorruptFile>(reader, odd, "record 2 at byte 16 claims 2 dimensions");
  odd[8] = 7;
  expect_error<CorruptFile>(reader, odd, "record 1 at byte 8 claims 7 dimensions");
  expect_error<CorruptFile>(reader, good + "xyz", "3 bytes are left over");
  expect_error<CorruptFile>(reader, "", "empty");
  expect_error<CorruptFile>(reader, "ab", "cut short");
  expect_error<CorruptFile>(reader, Bytes().le(0).le(1.f).str(), "claims 0 dimensions");
  expect_error<CorruptFile>(reader, Bytes().le(-1).le(1.f).str(), "4294967295 dimensions");
  expect_error<CorruptFile>(reader, Bytes().le(1000).le(1.f).str(), "8 bytes only");
}

TEST(Vecs, LongRecordsThatDisagree) {
  Bytes bytes;
  for (int i = 0; i < 5; ++i) bytes.le(i == 3 ? 1999 : 2000).text(std::string(8000, 'a'));
  expect_error<CorruptFile>(reader_of(Format::fvecs), bytes.str(), "record 3 at byte 24012 claims 1999");
}

TEST(Vecs, SurvivesDamage) {
  const std::string bytes = Bytes().le(2).le(1).le(2).le(2).le(3).le(4).str();
  for (const Format format : {Format::fvecs, Format::ivecs}) {
    expect_survives_damage(reader_of(format), bytes, false);  // a cut between records leaves a shorter file
  }
  expect_survives_damage(reader_of(Format::bvecs), Bytes().le(3).text("abc").le(3).text("def").str(), false);
}

}  // namespace
}  // namespace kith::io::test
