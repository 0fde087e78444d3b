// IDX: every type, one to three dimensions, lies, damage.
#include "io/binary_input.hpp"

namespace kith::io::test {
namespace {

Bytes idx(int code, std::initializer_list<std::uint32_t> extents) {
  Bytes bytes;
  bytes.le(std::uint16_t{0}).le(static_cast<std::uint8_t>(code)).le(static_cast<std::uint8_t>(extents.size()));
  for (const std::uint32_t extent : extents) bytes.be(extent);
  return bytes;
}

TEST(Idx, EveryType) {
  const auto check = [](int code, auto a, auto b, DType dtype) {
    const PointFile file = read_bytes(read_idx, idx(code, {2, 1}).be(a).be(b).str());
    EXPECT_EQ(file.points.dtype(), dtype) << code;
    EXPECT_EQ(values_of(file), (std::vector<double>{static_cast<double>(a), static_cast<double>(b)})) << code;
    EXPECT_EQ(file.format, Format::idx);
  };
  check(0x08, std::uint8_t{0}, std::uint8_t{255}, DType::f32);
  check(0x09, std::int8_t{-128}, std::int8_t{127}, DType::f32);
  check(0x0B, std::int16_t{-32768}, std::int16_t{258}, DType::f32);
  check(0x0C, std::int32_t{-2147483647}, std::int32_t{16777217}, DType::f64);
  check(0x0D, 0.1f, -1e30f, DType::f32);
  check(0x0E, 0.1, -1e300, DType::f64);
}

TEST(Idx, ImagesBecomeRowsAndLabelsBecomeOneColumn) {
  const PointFile images = read_bytes(read_idx, idx(8, {2, 2, 2}).text("abcdefgh").str());
  EXPECT_EQ(images.points.rows(), 2u);
  EXPECT_EQ(images.points.dims(), 4u);
  EXPECT_EQ(values_of(images), (std::vector<double>{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}));
  const PointFile labels = read_bytes(read_idx, idx(8, {3}).text("abc").str());
  EXPECT_EQ(labels.points.dims(), 1u);
  EXPECT_EQ(values_of(labels), (std::vector<double>{'a', 'b', 'c'}));
  EXPECT_EQ(read_bytes(read_idx, idx(8, {0, 5}).str()).points.dims(), 5u);
}

TEST(Idx, HeadersThatAreWrong) {
  expect_error<CorruptFile>(read_idx, "", "cut short");
  expect_error<CorruptFile>(read_idx, "\1\1\1\1aaaa", "not an IDX file");
  expect_error<CorruptFile>(read_idx, idx(0x0A, {1}).text("a").str(), "0x0a");
  expect_error<CorruptFile>(read_idx, idx(8, {}).str(), "without dimensions");
  expect_error<CorruptFile>(read_idx, idx(8, {2, 0}).str(), "extent");
  expect_error<CorruptFile>(read_idx, idx(8, {3}).text("ab").str(), "cut short");
  expect_error<CorruptFile>(read_idx, idx(8, {3}).text("abcd").str(), "1 bytes follow");
  expect_error<CorruptFile>(read_idx, idx(8, {0xffffffff, 1000}).text("ab").str(), "cut short");
  expect_error<CorruptFile>(read_idx, idx(8, {1, 0xffffffff, 0xffffffff, 0xffffffff}).text("ab").str(), "more than");
}

TEST(Idx, SurvivesDamage) {
  expect_survives_damage(Reader(read_idx), idx(0x0C, {2, 2}).be(1).be(2).be(3).be(4).str(), true);
}

}  // namespace
}  // namespace kith::io::test
