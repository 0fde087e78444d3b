// Real binary files of others, read with the counts that are known of them. Skipped where the files are absent.
#include "io/binary_input.hpp"

#include <kith/io/read_points.hpp>

#include <cmath>
#include <filesystem>
#include <set>

namespace kith::io::test {
namespace {

class SharedBinaryData : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(KITH_TEST_DATA)) GTEST_SKIP() << "no test data at " KITH_TEST_DATA;
  }

  static PointFile read(const std::string& name, const ReadOptions& options = {}) {
    return read_points(std::string(KITH_TEST_DATA) + "/" + name, options);
  }

  static std::uint64_t rows_with_nan(const PointFile& file) {
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < file.points.rows(); ++i) {
      bool found = false;
      for (std::uint32_t d = 0; d < file.points.dims(); ++d) found |= std::isnan(file.view().at(i, d));
      count += found;
    }
    return count;
  }

  static std::uint64_t duplicates(const PointFile& file) {
    std::set<std::vector<double>> seen;
    for (std::uint64_t i = 0; i < file.points.rows(); ++i) {
      std::vector<double> row;
      for (std::uint32_t d = 0; d < file.points.dims(); ++d) row.push_back(file.view().at(i, d));
      seen.insert(std::move(row));
    }
    return file.points.rows() - seen.size();
  }

  static void expect_cloud(const PointFile& file, Format format, std::uint64_t rows, DType dtype) {
    EXPECT_EQ(file.format, format);
    EXPECT_EQ(file.points.rows(), rows);
    EXPECT_EQ(file.points.dims(), 3u);
    EXPECT_EQ(file.points.dtype(), dtype);
    EXPECT_TRUE(file.notes.empty());
  }
};

TEST_F(SharedBinaryData, StanfordBunny) {
  const PointFile bunny = read("stanford_bunny/bun_zipper.ply");
  expect_cloud(bunny, Format::ply, 35947, DType::f32);
  EXPECT_EQ(rows_with_nan(bunny), 0u);
  EXPECT_EQ(duplicates(bunny), 0u);
  EXPECT_EQ(bunny.view().at(0, 0), double(-0.0378297f));
  EXPECT_EQ(bunny.view().at(1, 2), double(0.00190497f));
  expect_cloud(read("stanford_bunny/bun_zipper_res4.ply"), Format::ply, 453, DType::f32);
  ReadOptions options;
  options.columns = {"confidence", "intensity"};
  EXPECT_EQ(read("stanford_bunny/bun_zipper.ply", options).view().at(0, 1), 0.5);
  for (const char* const name : {"bun000.ply", "bun045.ply", "bun090.ply"}) {
    const PointFile scan = read(std::string("stanford_bunny/") + name);
    EXPECT_EQ(scan.format, Format::ply);
    EXPECT_GT(scan.points.rows(), 30000u);
    EXPECT_EQ(rows_with_nan(scan), 0u);
  }
}

TEST_F(SharedBinaryData, Open3dFragments) {
  expect_cloud(read("open3d/slac_fragment_000.ply"), Format::ply, 5028, DType::f64);
  ReadOptions options;
  options.columns = {"nx", "ny", "nz"};
  const PointFile normals = read("open3d/slac_fragment_001.ply", options);
  expect_cloud(normals, Format::ply, 5335, DType::f64);
  for (std::uint64_t i = 0; i < normals.points.rows(); ++i) {
    const double length = std::hypot(normals.view().at(i, 0), normals.view().at(i, 1), normals.view().at(i, 2));
    ASSERT_TRUE(std::abs(length - 1) < 1e-3 || length == 0) << i;  // a check of the data, not of our arithmetic
  }
}

TEST_F(SharedBinaryData, PointCloudLibrary) {
  const PointFile office = read("pcl/office1.pcd");
  expect_cloud(office, Format::pcd, 307200, DType::f32);
  EXPECT_EQ(rows_with_nan(office), 52744u);
  const PointFile table = read("pcl/table_scene_mug_stereo_textured.pcd");
  expect_cloud(table, Format::pcd, 307200, DType::f32);
  EXPECT_EQ(rows_with_nan(table), 97920u);
  const PointFile milk = read("pcl/milk.pcd");
  expect_cloud(milk, Format::pcd, 13704, DType::f32);
  EXPECT_EQ(rows_with_nan(milk), 0u);
  const PointFile bunny = read("pcl/bunny.pcd");
  expect_cloud(bunny, Format::pcd, 397, DType::f32);
  EXPECT_EQ(bunny.view().at(0, 0), double(0.0054216f));
  const PointFile lamppost = read("pcl/lamppost.pcd");
  expect_cloud(lamppost, Format::pcd, 1771, DType::f32);
  EXPECT_EQ(duplicates(lamppost), 14u);
}

TEST_F(SharedBinaryData, LidarInUtm) {
  const PointFile pcd = read("pdal_las/pcd_autzen-utm.pcd");
  expect_cloud(pcd, Format::pcd, 1065, DType::f64);
  const PointFile las = read("pdal_las/autzen_autzen-utm.las");
  expect_cloud(las, Format::las, 1065, DType::f64);
  for (std::uint64_t i = 0; i < 1065; ++i) {  // the same cloud, once scaled integers, once doubles
    for (std::uint32_t d = 0; d < 3; ++d) ASSERT_NEAR(pcd.view().at(i, d), las.view().at(i, d), 0.005) << i;
  }
  const PointFile trim = read("pdal_las/las_autzen_trim.las");
  expect_cloud(trim, Format::las, 110000, DType::f64);
  EXPECT_EQ(rows_with_nan(trim), 0u);
  ReadOptions options;
  options.columns = {"x", "y", "intensity"};
  options.label = "classification";
  const PointFile labelled = read("pdal_las/las_autzen_trim.las", options);
  EXPECT_EQ(labelled.labels->codes.size(), 110000u);
  EXPECT_GE(labelled.labels->names.size(), 2u);
  EXPECT_LE(labelled.labels->names.size(), 32u);
}

TEST_F(SharedBinaryData, FashionImages) {
  const PointFile images = read("fashion_mnist/t10k-images-idx3-ubyte.gz");
  EXPECT_EQ(images.format, Format::idx);
  EXPECT_EQ(images.points.rows(), 10000u);
  EXPECT_EQ(images.points.dims(), 784u);
  EXPECT_EQ(images.points.dtype(), DType::f32);
  EXPECT_EQ(duplicates(images), 0u);
  const PointFile labels = read("fashion_mnist/t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(labels.points.rows(), 10000u);
  EXPECT_EQ(labels.points.dims(), 1u);
  std::vector<int> histogram(10);
  for (const float label : labels.points.values<float>()) ++histogram.at(static_cast<std::size_t>(label));
  EXPECT_EQ(histogram, std::vector<int>(10, 1000));
}

}  // namespace
}  // namespace kith::io::test
