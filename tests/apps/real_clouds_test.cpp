// Duplicates and trees of real clouds: against the plain loop and the checker. Skips where the data is absent.
#include <kith/apps/dedupe.hpp>
#include <kith/apps/tree_export.hpp>
#include <kith/apps/verify_tree.hpp>
#include <kith/io/read_points.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace kith::apps {
namespace {

class RealCloud : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string path = std::string(KITH_TEST_DATA) + "/" + GetParam();
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
    file_ = io::read_points(path, {.dtype = DType::f32});
    points_ = first_rows(6000);
  }

  PointView first_rows(std::uint64_t most) const { return file_.view().slice(0, std::min(file_.points.rows(), most)); }

  bool is_finite(std::uint64_t row) const {
    const float* values = points_.row<float>(row);
    return std::all_of(values, values + points_.dims(), [](float value) { return std::isfinite(value); });
  }

  /// The rows that the loop keeps.
  std::vector<std::uint32_t> loop(double tolerance) const {
    std::vector<std::uint32_t> kept;
    for (std::uint32_t row = 0; row < points_.rows(); ++row) {
      if (!is_finite(row)) continue;
      const bool is_near = std::any_of(kept.begin(), kept.end(), [&](std::uint32_t other) {
        float sum = 0;
        for (std::uint32_t d = 0; d < points_.dims(); ++d) {
          const float difference = points_.row<float>(row)[d] - points_.row<float>(other)[d];
          sum = std::fma(difference, difference, sum);
        }
        return static_cast<double>(std::sqrt(sum)) <= tolerance;
      });
      if (!is_near) kept.push_back(row);
    }
    return kept;
  }

  io::PointFile file_;
  PointView points_;
};

TEST_P(RealCloud, IsThinnedOutAsByTheLoop) {
  for (const double tolerance : {0.0005, 0.005, 0.05}) {
    const std::vector<std::uint32_t> expected = loop(tolerance);
    for (const int threads : {1, 2, 5}) {
      const DedupeOptions options{.tolerance = tolerance, .skip_nonfinite = true, .threads = threads};
      EXPECT_EQ(dedupe(points_, options).kept, expected) << tolerance << ", " << threads << " threads";
    }
  }
}

TEST_P(RealCloud, GivesRightTrees) {
  const PointView points = first_rows(50000);
  for (const SplitRule split : {SplitRule::widest, SplitRule::cycle}) {
    const TreeExportOptions options{.split = split, .unique = true, .skip_nonfinite = true};
    const NodeTable table = export_node_table(points, options);
    EXPECT_EQ(table.point.size(), dedupe(points, {.skip_nonfinite = true}).kept.size());
    EXPECT_EQ(verify_tree(table, points).first_violation, "");
    EXPECT_EQ(verify_tree(export_in_order(points, options), points).first_violation, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, RealCloud,
                         testing::Values("open3d/slac_fragment_000.ply", "pcl/milk.pcd", "pcl/lamppost.pcd",
                                         "pcl/office1.pcd", "stanford_bunny/bun_zipper.ply"));

}  // namespace
}  // namespace kith::apps
