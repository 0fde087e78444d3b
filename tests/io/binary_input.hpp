// Builds files byte by byte in memory, reads them, damages them.
#pragma once

#include "io/formats.hpp"
#include "runtime/input_file.hpp"
#include "runtime/output_file.hpp"
#include "support/file_content.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::test {

/// A file under construction.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::string_view text) : bytes_(text) {}

  Bytes& text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  template <typename T>
  Bytes& le(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes_.append(raw, sizeof(T));
    return *this;
  }
  template <typename T>
  Bytes& be(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes_.append(std::make_reverse_iterator(raw + sizeof(T)), std::make_reverse_iterator(raw));
    return *this;
  }
  template <typename T>
  Bytes& put(T value, bool big_endian) {
    return big_endian ? be(value) : le(value);
  }
  const std::string& str() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
};

using Reader = std::function<PointFile(const runtime::InputFile&, const ReadOptions&)>;

inline PointFile read_bytes(const Reader& reader, std::string_view bytes, const ReadOptions& options = {}) {
  const runtime::InputFile file("memory", std::vector<char>(bytes.begin(), bytes.end()));
  return reader(file, options);
}

/// All coordinates, row by row.
inline std::vector<double> values_of(const PointFile& file) {
  std::vector<double> values;
  const PointView view = file.view();
  for (std::uint64_t i = 0; i < view.rows(); ++i) {
    for (std::uint32_t d = 0; d < view.dims(); ++d) values.push_back(view.at(i, d));
  }
  return values;
}

/// The bytes of all coordinates.
inline std::string bytes_of(const PointFile& file) {
  return std::string(static_cast<const char*>(file.view().data()), file.points.bytes());
}

/// Expects that reading throws `E` with a message that contains `part`.
template <typename E>
void expect_error(const Reader& reader, std::string_view bytes, std::string_view part,
                  const ReadOptions& options = {}) {
  try {
    read_bytes(reader, bytes, options);
    ADD_FAILURE() << "nothing was thrown; expected: " << part;
  } catch (const E& error) {
    EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << "one line, please";
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception was thrown: " << error.what();
  }
}

/// Cuts the file at every length and changes every byte in several ways: each time the reader throws a kith::Error or
/// succeeds. If `cuts_fail`, every cut must throw.
inline void expect_survives_damage(const std::function<void(const runtime::InputFile&)>& read, const std::string& bytes,
                                   bool cuts_fail) {
  const auto survives = [&](const std::string& damaged) {
    const runtime::InputFile file("damaged", std::vector<char>(damaged.begin(), damaged.end()));
    try {
      read(file);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  ASSERT_TRUE(survives(bytes)) << "the undamaged file must be read";
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const bool read_well = survives(bytes.substr(0, length));
    if (cuts_fail) {
      EXPECT_FALSE(read_well) << "cut to " << length << " of " << bytes.size() << " bytes";
    }
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const unsigned char flip : {0x01, 0x10, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ flip);
      survives(damaged);
    }
  }
}

inline void expect_survives_damage(const Reader& reader, const std::string& bytes, bool cuts_fail) {
  ReadOptions options;
  options.threads = 1;
  expect_survives_damage([&](const runtime::InputFile& file) { reader(file, options); }, bytes, cuts_fail);
}

/// A path of its own for each test.
inline std::string temporary_path(std::string_view name) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  return std::string(KITH_TEST_TEMPORARY) + "/" + info->test_suite_name() + "_" + info->name() + "_" +
         std::string(name);
}

inline std::string content_of(const std::string& path) {
  EXPECT_TRUE(std::ifstream(path, std::ios::binary).good()) << path;
  return kith::test::file_content(path);
}

using Writer = std::function<void(runtime::OutputFile&, PointView, const WriteOptions&)>;

/// What a writer makes of the points.
inline std::string written(const Writer& writer, PointView points, const WriteOptions& options = {}) {
  const std::string path = temporary_path("written");
  {
    runtime::OutputFile file(path);
    writer(file, points, options);
    file.commit();
  }
  std::string bytes = content_of(path);
  std::remove(path.c_str());
  return bytes;
}

/// rows x dims values that are all different, some denormal, huge, negative or NaN.
template <typename T>
PointSet odd_points(std::uint64_t rows, std::uint32_t dims) {
  PointSet points(dtype_of<T>, rows, dims);
  auto values = points.values<T>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i) * T{0.1} - T{3};
  const T odd[] = {std::numeric_limits<T>::denorm_min(), -std::numeric_limits<T>::max(), T{-0.0},
                   std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()};
  for (std::size_t i = 0; i < std::size(odd) && i < values.size(); ++i) values[values.size() - 1 - i] = odd[i];
  return points;
}

/// Every second column and row of a larger block, so that rows lie apart.
template <typename T>
PointView strided_view(const PointSet& points, std::uint32_t dims) {
  return PointView(points.values<T>().data(), dtype_of<T>, points.rows() / 2, dims,
                   static_cast<std::int64_t>(2) * points.dims());
}

}  // namespace kith::io::test
