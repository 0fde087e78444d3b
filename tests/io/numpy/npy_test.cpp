// NPY: every dtype, byte order and memory order; shapes; refusals; damage; what we write.
#include "io/binary_input.hpp"

#include <cmath>
#include <limits>

namespace kith::io::test {
namespace {

std::string npy_bytes(std::string_view dictionary, std::string_view data, int version = 1) {
  Bytes bytes("\x93NUMPY");
  bytes.le(static_cast<std::uint8_t>(version)).le(std::uint8_t{0});
  const std::string header = std::string(dictionary) + "\n";
  if (version == 1) {
    bytes.le(static_cast<std::uint16_t>(header.size()));
  } else {
    bytes.le(static_cast<std::uint32_t>(header.size()));
  }
  return bytes.text(header).text(data).str();
}

std::string dictionary(std::string_view descr, std::string_view shape, bool fortran = false) {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }";
}

template <typename T>
void check_dtype(std::string_view code, DType expected, std::vector<T> numbers) {
  for (const bool big : {false, true}) {
    for (const bool fortran : {false, true}) {
      SCOPED_TRACE(testing::Message() << code << (big ? " big" : " little") << (fortran ? " Fortran" : " C"));
      Bytes data;
      for (std::size_t i = 0; i < 6; ++i) data.put(numbers[fortran ? (i % 3) * 2 + i / 3 : i], big);
      const std::string order = sizeof(T) == 1 ? "|" : big ? ">" : "<";
      const PointFile file =
          read_bytes(read_npy, npy_bytes(dictionary(order + std::string(code), "(3, 2)", fortran), data.str()));
      EXPECT_EQ(file.points.dtype(), expected);
      EXPECT_EQ(file.points.rows(), 3u);
      EXPECT_EQ(file.points.dims(), 2u);
      EXPECT_EQ(file.format, Format::npy);
      EXPECT_TRUE(file.columns.empty());
      EXPECT_TRUE(file.notes.empty());
      const std::vector<double> values = values_of(file);
      for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(values[i], static_cast<double>(numbers[i])) << i;
    }
  }
}

TEST(Npy, EveryDtypeInBothByteOrdersAndMemoryOrders) {
  check_dtype<std::int8_t>("i1", DType::f32, {-128, -1, 0, 1, 100, 127});
  check_dtype<std::uint8_t>("u1", DType::f32, {0, 1, 2, 128, 254, 255});
  check_dtype<std::int16_t>("i2", DType::f32, {-32768, -1, 0, 1, 300, 32767});
  check_dtype<std::uint16_t>("u2", DType::f32, {0, 1, 256, 32768, 65534, 65535});
  check_dtype<std::int32_t>("i4", DType::f64, {-2147483647 - 1, -1, 0, 16777217, 5, 2147483647});
  check_dtype<std::uint32_t>("u4", DType::f64, {0, 1, 16777217, 4294967295u, 7, 8});
  check_dtype<std::int64_t>("i8", DType::f64, {-(1ll << 53), -1, 0, 1, 1ll << 60, (1ll << 53) - 1});
  check_dtype<std::uint64_t>("u8", DType::f64, {0, 1, 1ull << 53, 1ull << 63, 3, 4});
  check_dtype<float>("f4", DType::f32, {-0.1f, 1e-45f, 3.4e38f, 0.0f, 1.5f, -2.0f});
  check_dtype<double>("f8", DType::f64, {-0.1, 5e-324, 1.7e308, 0.0, 1.5, -2.0});
}

TEST(Npy, HalvesAreExact) {
  Bytes data;  // 1, -2, largest, smallest denormal, largest denormal, inf, -0, nan
  for (const int bits : {0x3c00, 0xc000, 0x7bff, 0x0001, 0x03ff, 0x7c00, 0x8000, 0x7e00}) {
    data.le(static_cast<std::uint16_t>(bits));
  }
  const PointFile file = read_bytes(read_npy, npy_bytes(dictionary("<f2", "(8,)"), data.str()));
  EXPECT_EQ(file.points.dtype(), DType::f32);
  EXPECT_EQ(file.points.dims(), 1u);
  const std::vector<double> values = values_of(file);
  const std::vector<double> expected = {1, -2, 65504, 0x1p-24, 0x1.ff8p-15, INFINITY};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(values[i], expected[i]) << i;
  EXPECT_TRUE(values[6] == 0 && std::signbit(values[6]));
  EXPECT_TRUE(std::isnan(values[7]));
}

TEST(Npy, BooleansAreZeroAndOne) {
  const PointFile file = read_bytes(read_npy, npy_bytes(dictionary("|b1", "(3, 1)"), std::string("\0\1\2", 3)));
  EXPECT_EQ(values_of(file), (std::vector<double>{0, 1, 1}));
}

TEST(Npy, VersionsTwoAndThree) {
  for (const int version : {2, 3}) {
    const std::string data = Bytes().le(1.5f).le(2.5f).str();
    const PointFile file = read_bytes(read_npy, npy_bytes(dictionary("<f4", "(1, 2)"), data, version));
    EXPECT_EQ(values_of(file), (std::vector<double>{1.5, 2.5}));
  }
}

TEST(Npy, DictionariesAsOtherPythonsWriteThem) {
  const std::string data = Bytes().le(1.5f).le(2.5f).str();
  for (const std::string_view text : {"{\"shape\":(1L,2L),\"descr\":\"<f4\",\"fortran_order\":False}",
                                      "  { 'fortran_order' : False , 'descr' : '<f4' , 'shape' : ( 1 , 2 , ) , }   "}) {
    EXPECT_EQ(values_of(read_bytes(read_npy, npy_bytes(text, data))), (std::vector<double>{1.5, 2.5})) << text;
  }
}

TEST(Npy, EmptyArrays) {
  const PointFile none = read_bytes(read_npy, npy_bytes(dictionary("<f4", "(0, 3)"), ""));
  EXPECT_EQ(none.points.rows(), 0u);
  EXPECT_EQ(none.points.dims(), 3u);
  EXPECT_EQ(read_bytes(read_npy, npy_bytes(dictionary("<f8", "(0,)"), "")).points.dims(), 1u);
  expect_error<BadData>(read_npy, npy_bytes(dictionary("<f4", "(1000000000000, 0)"), ""), "no columns");
}

TEST(Npy, ConvertsWhenAsked) {
  ReadOptions options;
  options.dtype = DType::f32;
  const std::string wide = Bytes().le(0.1).le(1e300).le(-3.4028235677973366e38).le(double(INFINITY)).str();
  const PointFile narrow = read_bytes(read_npy, npy_bytes(dictionary("<f8", "(4,)"), wide), options);
  EXPECT_EQ(values_of(narrow), (std::vector<double>{0.1f, INFINITY, -INFINITY, INFINITY}));
  ASSERT_EQ(narrow.notes.size(), 1u);
  EXPECT_NE(narrow.notes[0].find("2 values are too large for f32"), std::string::npos) << narrow.notes[0];

  options.dtype = DType::f64;
  const PointFile widened = read_bytes(read_npy, npy_bytes(dictionary("<f4", "(1,)"), Bytes().le(0.1f).str()), options);
  EXPECT_EQ(widened.points.dtype(), DType::f64);
  EXPECT_EQ(values_of(widened), (std::vector<double>{0.1f}));
}

TEST(Npy, SaysWhenIntegersLoseDigits) {
  const std::string data = Bytes().le((std::int64_t{1} << 53) + 1).le(std::int64_t{1} << 62).le(INT64_MIN).str();
  const PointFile file = read_bytes(read_npy, npy_bytes(dictionary("<i8", "(3,)"), data));
  ASSERT_EQ(file.notes.size(), 1u);
  EXPECT_NE(file.notes[0].find("1 integers"), std::string::npos) << file.notes[0];
  EXPECT_EQ(values_of(file), (std::vector<double>{0x1p53, 0x1p62, -0x1p63}));
}

TEST(Npy, ChoosesColumnsAndLabelsByPosition) {
  Bytes data;
  for (const std::int16_t v : {1, 2, 3, 4, 5, 3, 7, 8, -9}) data.le(v);
  const std::string bytes = npy_bytes(dictionary("<i2", "(3, 3)"), data.str());
  ReadOptions options;
  options.columns = {"3", "1"};
  EXPECT_EQ(values_of(read_bytes(read_npy, bytes, options)), (std::vector<double>{3, 1, 3, 4, -9, 7}));

  options.columns = {};
  options.label = "3";
  const PointFile labelled = read_bytes(read_npy, bytes, options);
  EXPECT_EQ(values_of(labelled), (std::vector<double>{1, 2, 4, 5, 7, 8}));
  ASSERT_TRUE(labelled.labels.has_value());
  EXPECT_EQ(labelled.labels->names, (std::vector<std::string>{"3", "-9"}));
  EXPECT_EQ(labelled.labels->codes, (std::vector<std::uint32_t>{0, 0, 1}));

  for (const std::string_view wrong : {"0", "4", "x", "-1", "1.0", ""}) {
    options.label = {};
    options.columns = {std::string(wrong)};
    expect_error<UsageError>(read_npy, bytes, "use positions 1 to 3", options);
  }
}

TEST(Npy, FortranOrderWithColumnsAndLabel) {
  Bytes data;
  for (const double v : {1., 2., 3., 10., 20., 30., 0.5, 0.5, 2.}) data.be(v);
  ReadOptions options;
  options.columns = {"2"};
  options.label = "3";
  const PointFile file = read_bytes(read_npy, npy_bytes(dictionary(">f8", "(3, 3)", true), data.str()), options);
  EXPECT_EQ(values_of(file), (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(file.labels->names, (std::vector<std::string>{"0.5", "2"}));
  EXPECT_EQ(file.labels->codes, (std::vector<std::uint32_t>{0, 0, 1}));
}

TEST(Npy, RefusesWhatIsNoMatrixOfNumbers) {
  const std::string data(64, '\0');
  expect_error<CorruptFile>(read_npy, npy_bytes(dictionary("|O", "(2, 2)"), data), "Python objects");
  expect_error<CorruptFile>(read_npy, npy_bytes(dictionary("<c8", "(2, 2)"), data), "complex");
  expect_error<CorruptFile>(read_npy, npy_bytes(dictionary("<U4", "(2, 2)"), data), "text");
  expect_error<CorruptFile>(read_npy, npy_bytes(dictionary("|S4", "(2, 2)"), data), "text");
  expect_error<CorruptFile>(read_npy, npy_bytes(dictionary("<M8[ns]", "(2, 2)"), data), "dates");
  expect_error<CorruptFile>(read_npy, npy_bytes(dictionary("<f16", "(2, 2)"), data), "<f16");
  expect_error<CorruptFile>(
      read_npy, npy_bytes("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }", data), "structured");
  expect_error<BadData>(read_npy, npy_bytes(dictionary("<f4", "(2, 2, 2)"), data), "reshape");
  expect_error<BadData>(read_npy, npy_bytes(dictionary("<f4", "()"), data), "single number");
}

TEST(Npy, HeadersThatLie) {
  const std::string data(64, '\0');
  expect_error<CorruptFile>(read_npy, npy_bytes(dictionary("<f4", "(17, 1)"), data), "64 bytes");
  expect_error<CorruptFile>(read_npy, npy_bytes(dictionary("<f4", "(1000000000000, 3)"), data), "64 bytes");
  expect_error<CorruptFile>(read_npy, npy_bytes(dictionary("<f4", "(4611686018427387904, 4)"), data), "64 bytes");
  expect_error<CorruptFile>(read_npy, npy_bytes(dictionary("<f4", "(99999999999999999999, 4)"), data), "too large");
  expect_error<CorruptFile>(read_npy, npy_bytes(dictionary("<f4", "(-1, 4)"), data), "number");
  expect_error<CorruptFile>(read_npy, npy_bytes("{'descr': '<f4', 'fortran_order': False}", data), "missing");
  expect_error<CorruptFile>(read_npy, npy_bytes("{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}", data),
                            "True or False");
  expect_error<CorruptFile>(read_npy, npy_bytes(dictionary("<f4", "(2, 2)") + "x", data), "after the dictionary");
  Bytes huge("\x93NUMPY");
  huge.le(std::uint8_t{2}).le(std::uint8_t{0}).le(std::uint32_t{0xfffffff0}).text(std::string(100, ' '));
  expect_error<CorruptFile>(read_npy, huge.str(), "claims 4294967280 bytes");
  expect_error<CorruptFile>(read_npy, npy_bytes(dictionary("<f4", "(2, 2)"), data, 9), "version");
  expect_error<CorruptFile>(read_npy, "", "0 bytes");
  expect_error<CorruptFile>(read_npy, "hello, I am no array", "not an NPY array");
}

TEST(Npy, SurvivesDamage) {
  expect_survives_damage(Reader(read_npy), npy_bytes(dictionary("<f4", "(3, 2)"), std::string(24, 'a')), true);
  expect_survives_damage(Reader(read_npy), npy_bytes(dictionary(">i8", "(2, 2)", true), std::string(32, 'a'), 2), true);
}

TEST(Npy, LargerThanOneBlockForAnyNumberOfThreads) {
  const std::uint32_t dims = 3;
  const std::uint64_t rows = 500000;
  std::string data(rows * dims * 4, '\0');
  for (std::size_t i = 0; i < rows * dims; ++i) {
    const float value = static_cast<float>(i);
    std::memcpy(data.data() + i * 4, &value, 4);
  }
  const std::string bytes = npy_bytes(dictionary("<f4", "(500000, 3)"), data);
  for (const int threads : {1, 2, 5}) {
    ReadOptions options;
    options.threads = threads;
    EXPECT_EQ(bytes_of(read_bytes(read_npy, bytes, options)), data);
    options.columns = {"2"};
    const PointFile column = read_bytes(read_npy, bytes, options);
    for (std::uint64_t i = 0; i < rows; ++i) ASSERT_EQ(column.view().at(i, 0), static_cast<double>(i * 3 + 1));
  }
}

TEST(Npy, TellsProgressAndStops) {
  const std::string bytes = npy_bytes(dictionary("<f4", "(3, 2)"), std::string(24, 'a'));
  ReadOptions options;
  std::uint64_t last = 0;
  options.progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.stage, "reading");
    last = progress.done;
    return true;
  };
  read_bytes(read_npy, bytes, options);
  EXPECT_EQ(last, 24u);
  options.progress = [](const Progress&) { return false; };
  expect_error<Interrupted>(read_npy, bytes, "interrupted", options);
}

template <typename T>
void check_npy_round_trip() {
  const PointSet points = odd_points<T>(101, 7);
  const std::string bytes = written(write_npy, points.view());
  EXPECT_EQ((bytes.size() - points.bytes()) % 64, 0u);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\1\0", 8));
  const PointFile back = read_bytes(read_npy, bytes);
  EXPECT_EQ(back.points.dtype(), dtype_of<T>);
  EXPECT_EQ(back.points.rows(), 101u);
  EXPECT_EQ(bytes_of(back), std::string(static_cast<const char*>(points.view().data()), points.bytes()));

  const PointView apart = strided_view<T>(points, 3);
  const PointFile packed = read_bytes(read_npy, written(write_npy, apart));
  const PointSet copy = PointSet::copy_of(apart);
  EXPECT_EQ(bytes_of(packed), std::string(static_cast<const char*>(copy.view().data()), copy.bytes()));
}

TEST(Npy, WhatIsWrittenReadsBackBitForBit) {
  check_npy_round_trip<float>();
  check_npy_round_trip<double>();
  const PointSet none(DType::f64, 0, 4);
  EXPECT_EQ(read_bytes(read_npy, written(write_npy, none.view())).points.dims(), 4u);
}

}  // namespace
}  // namespace kith::io::test
