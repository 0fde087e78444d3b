// PointRows: some rows of a file are those of the whole, whatever lies between them.
#include "io/binary_input.hpp"

#include <kith/io/point_rows.hpp>

#include <fstream>

namespace kith::io::test {
namespace {

constexpr std::uint64_t kRows = 7;

std::string npy_rows(std::string_view descr, bool fortran, std::string_view data, std::string_view shape = "(7, 3)") {
  std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + std::string(shape) + ", }\n";
  Bytes bytes("\x93NUMPY");
  bytes.le(std::uint8_t{1}).le(std::uint8_t{0}).le(static_cast<std::uint16_t>(header.size()));
  return bytes.text(header).text(data).str();
}

void expect_parts_of_the_whole(const std::string& path, const ReadOptions& options) {
  const PointFile all = read_points(path, options);
  const PointRows rows(path, options);
  ASSERT_EQ(rows.rows(), all.points.rows());
  ASSERT_EQ(rows.dims(), all.points.dims());
  ASSERT_EQ(rows.dtype(), all.points.dtype());
  for (std::uint64_t first = 0; first <= rows.rows(); ++first) {
    for (std::uint64_t count = 0; first + count <= rows.rows(); ++count) {
      const PointSet some = rows.read(first, count);
      ASSERT_EQ(some.rows(), count);
      ASSERT_EQ(some.dims(), rows.dims());
      for (std::uint64_t i = 0; i < count; ++i) {
        for (std::uint32_t d = 0; d < rows.dims(); ++d) {
          ASSERT_EQ(some.view().at(i, d), all.view().at(first + i, d)) << first << " " << i << " " << d;
        }
      }
    }
  }
  EXPECT_THROW(rows.read(rows.rows() - 1, 2), UsageError);
  EXPECT_THROW(rows.read(rows.rows() + 1, 0), UsageError);
}

TEST(PointRows, SomeRowsAreThoseOfTheWhole) {
  const std::string path = temporary_path("rows.npy");
  for (const bool fortran : {false, true}) {
    for (const bool big : {false, true}) {
      Bytes data;
      for (std::uint64_t i = 0; i < kRows * 3; ++i) data.put(static_cast<float>(i) * 1.5f, big);
      std::ofstream(path, std::ios::binary) << npy_rows(big ? ">f4" : "<f4", fortran, data.str());
      expect_parts_of_the_whole(path, {});
      expect_parts_of_the_whole(path, {.dtype = DType::f64, .columns = {"3", "1"}});
    }
  }
  std::ofstream(path, std::ios::binary) << npy_rows("<f8", false, std::string(32, '\0'), "(4,)");
  expect_parts_of_the_whole(path, {});
  std::remove(path.c_str());
}

TEST(PointRows, PlainNumbersNeedALayout) {
  const std::string path = temporary_path("rows.bin");
  Bytes data("head");
  for (std::uint64_t i = 0; i < kRows * 4; ++i) data.le(static_cast<float>(i) + 0.25f);
  std::ofstream(path, std::ios::binary) << data.str();
  EXPECT_THROW(PointRows{path}, UsageError);
  EXPECT_FALSE(PointRows::open_if_possible(path));
  expect_parts_of_the_whole(path, {.columns = {"y", "x"}, .layout = "skip=4 f32 x,y,z,w"});
  std::remove(path.c_str());
}

TEST(PointRows, OtherFilesHaveNoRegularPlaces) {
  const std::string path = temporary_path("rows.csv");
  std::ofstream(path) << "x,y\n1,2\n";
  EXPECT_FALSE(PointRows::open_if_possible(path));
  EXPECT_THROW(PointRows{path}, UsageError);
  std::ofstream(path) << "";
  EXPECT_FALSE(PointRows::open_if_possible(path));
  std::ofstream(path, std::ios::binary) << npy_rows("<f4", false, std::string(83, '\0'));
  EXPECT_THROW(PointRows::open_if_possible(path), CorruptFile) << "it ends a byte early";
  std::ofstream(path, std::ios::binary) << npy_rows("<f4", false, "", "(7, 0)");
  EXPECT_THROW(PointRows{path}, BadData);
  std::remove(path.c_str());
  EXPECT_THROW(PointRows::open_if_possible(path), IoError);
}

}  // namespace
}  // namespace kith::io::test
