// LAS: versions, point formats and their attributes, scaling, LAZ refused, lies, damage.
#include "io/binary_input.hpp"

#include <array>

namespace kith::io::test {
namespace {

constexpr std::array<std::uint16_t, 11> kRecordBytes = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};

struct Las {
  int minor = 2;
  int format = 0;
  int extra_bytes = 0;  // at the end of each record
  std::uint32_t points = 2;
  std::string records_before = {};  // variable length records
  std::uint32_t record_count = 0;
  double scale = 0.01;
  double origin = 1000;

  std::string str() const {
    const std::uint16_t header_bytes = minor == 4 ? 375 : minor == 3 ? 235 : 227;
    const auto record_bytes = static_cast<std::uint16_t>(kRecordBytes[static_cast<std::size_t>(format)] + extra_bytes);
    Bytes file("LASF");
    file.text(std::string(20, '\0'))
        .le(std::uint8_t{1})
        .le(static_cast<std::uint8_t>(minor))
        .text(std::string(68, 'k'));
    file.le(header_bytes).le(static_cast<std::uint32_t>(header_bytes + records_before.size())).le(record_count);
    file.le(static_cast<std::uint8_t>(format))
        .le(record_bytes)
        .le(minor == 4 ? 0u : points)
        .text(std::string(20, '\0'));
    for (int i = 0; i < 3; ++i) file.le(scale);
    for (int i = 0; i < 3; ++i) file.le(origin + i);
    file.text(std::string(48, '\0'));
    if (minor >= 3) file.le(std::uint64_t{0});
    if (minor == 4) {
      file.le(std::uint64_t{0}).le(std::uint32_t{0}).le(std::uint64_t{points}).text(std::string(120, '\0'));
    }
    EXPECT_EQ(file.size(), header_bytes);
    file.text(records_before);
    for (std::uint32_t i = 0; i < points; ++i) {
      const std::size_t begin = file.size();
      const auto n = static_cast<std::int32_t>(i);
      file.le(std::int32_t{123 + n}).le(std::int32_t{-456 - n}).le(std::int32_t{2147483647 - n});
      file.le(static_cast<std::uint16_t>(60000 + i));
      if (format < 6) {
        file.le(std::uint8_t{0x80 | (3 << 3) | 2}).le(std::uint8_t{0xe0 | 6});  // 2 of 3 returns; flags and class 6
        file.le(std::int8_t{-5}).le(std::uint8_t{77}).le(std::uint16_t{555});
      } else {
        file.le(std::uint8_t{(9 << 4) | 8}).le(std::uint8_t{0xff}).le(std::uint8_t{200});  // 8 of 9; class 200
        file.le(std::uint8_t{77}).le(std::int16_t{-5000}).le(std::uint16_t{555});
      }
      if (format == 1 || format >= 3) file.le(1e9 + 0.25 * n);
      if (format == 2 || format == 3 || format == 5 || format == 7 || format == 8 || format == 10) {
        file.le(std::uint16_t{1}).le(std::uint16_t{2}).le(static_cast<std::uint16_t>(65535 - i));
      }
      if (format == 8 || format == 10) file.le(std::uint16_t{42});
      file.text(std::string(begin + record_bytes - file.size(), 'w'));
    }
    return file.str();
  }
};

TEST(Las, CoordinatesOfEveryVersionAndFormat) {
  for (const int minor : {0, 1, 2, 3, 4}) {
    for (int format = 0; format <= 10; ++format) {
      for (const int extra : {0, 5}) {
        SCOPED_TRACE(testing::Message() << "1." << minor << " format " << format << " extra " << extra);
        const PointFile file = read_bytes(read_las, Las{.minor = minor, .format = format, .extra_bytes = extra}.str());
        EXPECT_EQ(file.points.dtype(), DType::f64);
        EXPECT_EQ(file.format, Format::las);
        EXPECT_EQ(file.columns, (std::vector<std::string>{"x", "y", "z"}));
        std::vector<double> expected;
        for (int i = 0; i < 2; ++i) {
          expected.push_back(double(123 + i) * 0.01 + 1000);
          expected.push_back(double(-456 - i) * 0.01 + 1001);
          expected.push_back(double(2147483647 - i) * 0.01 + 1002);
        }
        EXPECT_EQ(values_of(file), expected);
      }
    }
  }
}

TEST(Las, AttributesByName) {
  ReadOptions options;
  options.columns = {"Intensity", "return_number", "number_of_returns", "scan_angle", "user_data", "point_source_id"};
  options.label = "classification";
  const PointFile old_format = read_bytes(read_las, Las{.format = 3}.str(), options);
  EXPECT_EQ(old_format.points.dtype(), DType::f64);
  EXPECT_EQ(values_of(old_format), (std::vector<double>{60000, 2, 3, -5, 77, 555, 60001, 2, 3, -5, 77, 555}));
  EXPECT_EQ(old_format.labels->names, (std::vector<std::string>{"6"}));
  const PointFile new_format = read_bytes(read_las, Las{.minor = 4, .format = 6}.str(), options);
  EXPECT_EQ(values_of(new_format), (std::vector<double>{60000, 8, 9, -5000, 77, 555, 60001, 8, 9, -5000, 77, 555}));
  EXPECT_EQ(new_format.labels->names, (std::vector<std::string>{"200"}));
  options.label = {};
  for (const int format : {1, 3, 4, 5, 6, 7, 8, 9, 10}) {
    options.columns = {"gps_time"};
    EXPECT_EQ(values_of(read_bytes(read_las, Las{.minor = 4, .format = format}.str(), options)),
              (std::vector<double>{1e9, 1e9 + 0.25}));
  }
  for (const int format : {2, 3, 5, 7, 8, 10}) {
    options.columns = {"blue", "green", "red"};
    EXPECT_EQ(values_of(read_bytes(read_las, Las{.minor = 4, .format = format}.str(), options)),
              (std::vector<double>{65535, 2, 1, 65534, 2, 1}));
  }
  options.columns = {"nir"};
  EXPECT_EQ(values_of(read_bytes(read_las, Las{.minor = 4, .format = 8}.str(), options)),
            (std::vector<double>{42, 42}));
  options.columns = {"red"};
  expect_error<UsageError>(read_las, Las{.format = 1}.str(), "no column \"red\"", options);
  options.columns = {"x"};
  options.label = "z";
  EXPECT_EQ(read_bytes(read_las, Las{.scale = 1, .origin = 0}.str(), options).labels->names,
            (std::vector<std::string>{"2147483649", "2147483648"}));
}

TEST(Las, CompressedPointsAreRefusedByName) {
  std::string bits = Las{}.str();
  bits[104] = static_cast<char>(0x80);
  expect_error<CorruptFile>(read_las, bits, "laszip -i");
  Bytes record;
  record.le(std::uint16_t{0}).text("laszip encoded").text(std::string(2, '\0')).le(std::uint16_t{22204});
  record.le(std::uint16_t{6}).text(std::string(32, '\0')).text("abcdef");
  expect_error<CorruptFile>(read_las, Las{.records_before = record.str(), .record_count = 1}.str(), "LAZ");
  const std::string plain = Las{}.str();
  const runtime::InputFile named("scan.laz", std::vector<char>(plain.begin(), plain.end()));
  EXPECT_THROW(read_las(named, {}), CorruptFile);
  const std::string other = std::string(54, 'v');
  EXPECT_EQ(read_bytes(read_las, Las{.records_before = other, .record_count = 4000000000u}.str()).points.rows(), 2u);
}

TEST(Las, HeadersThatAreWrong) {
  const std::string good = Las{}.str();
  const auto changed = [&](std::string bytes, std::size_t at, auto value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    return bytes;
  };
  const auto bad = [](const std::string& bytes, std::string_view part) {
    expect_error<CorruptFile>(read_las, bytes, part);
  };
  bad(changed(good, 0, std::uint32_t{0}), "LASF");
  bad(changed(good, 24, std::uint8_t{2}), "version 2.2");
  bad(changed(good, 25, std::uint8_t{5}), "version 1.5");
  bad(changed(good, 25, std::uint8_t{4}), "too few for version 1.4");
  bad(changed(good, 94, std::uint16_t{100}), "claims 100 bytes");
  bad(changed(good, 96, std::uint32_t{100}), "start at byte 100");
  bad(changed(good, 96, std::uint32_t{1000000}), "start at byte 1000000");
  bad(changed(good, 104, std::uint8_t{11}), "point format 11");
  bad(changed(good, 105, std::uint16_t{19}), "too short");
  bad(changed(good, 105, std::uint16_t{0}), "too short");
  bad(changed(good, 107, std::uint32_t{3}), "cut short");
  bad(changed(good, 107, std::uint32_t{0xffffffff}), "cut short");
  bad(changed(good, 131, 0.0), "scale");
  bad(changed(good, 131, std::uint64_t{0x7ff8000000000000}), "scale");
  const std::string modern = Las{.minor = 4, .format = 6}.str();
  bad(changed(modern, 247, std::uint64_t{1} << 62), "cut short");
  bad(changed(modern, 107, std::uint32_t{1}), "1 points in one place and 2");
  EXPECT_EQ(read_bytes(read_las, changed(changed(modern, 247, std::uint64_t{0}), 107, std::uint32_t{2})).points.rows(),
            2u);
}

TEST(Las, SurvivesDamage) {
  expect_survives_damage(Reader(read_las), Las{}.str(), true);
  expect_survives_damage(Reader(read_las),
                         Las{.minor = 4, .format = 7, .records_before = std::string(60, 'v'), .record_count = 1}.str(),
                         true);
}

}  // namespace
}  // namespace kith::io::test
