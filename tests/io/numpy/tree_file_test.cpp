// Exported trees come back from their files as they were; other and damaged files are refused.
#include <kith/io/tree_file.hpp>

#include "support/file_content.hpp"
#include "support/random_case.hpp"

#include <kith/apps/verify_tree.hpp>
#include <kith/error.hpp>
#include <kith/io/neighbors_file.hpp>
#include <kith/io/read_points.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace kith::io {
namespace {

class TreeFile : public testing::Test {
 protected:
  ~TreeFile() override { std::remove(path_.c_str()); }

  PointSet points(std::uint64_t rows, std::uint32_t dims, DType dtype = DType::f32) const {
    std::mt19937_64 random(rows + dims);
    return kith::test::nasty_points(kith::test::NastyShape::grid, dtype, rows, dims, random);
  }
  std::string bytes() const { return kith::test::file_content(path_); }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  const std::string path_ = std::string(KITH_TEST_TEMPORARY) + "/tree-" +
                            testing::UnitTest::GetInstance()->current_test_info()->name() + ".npz";
};

TEST_F(TreeFile, NodeTablesComeBack) {
  for (const std::uint32_t dims : {1u, 3u, 300u}) {
    for (const std::uint64_t rows : {0u, 1u, 50u}) {
      const PointSet set = points(rows, dims, DType::f64);
      const apps::NodeTable table = apps::export_node_table(set.view(), {.split = SplitRule::cycle, .unique = true});
      write_tree(path_, table);
      EXPECT_TRUE(is_tree_file(path_));
      const auto back = std::get<apps::NodeTable>(read_tree(path_));
      EXPECT_EQ(back.facts, table.facts);
      EXPECT_EQ(back.root, table.root);
      EXPECT_EQ(back.point, table.point);
      EXPECT_EQ(back.split_dim, table.split_dim);
      EXPECT_EQ(back.less, table.less);
      EXPECT_EQ(back.greater, table.greater);
    }
  }
}

TEST_F(TreeFile, TreesInOrderComeBackAndAreReadAsPoints) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const PointSet set = points(50, 3, dtype);
    const apps::InOrderTree tree = apps::export_in_order(set.view());
    write_tree(path_, tree);
    const auto back = std::get<apps::InOrderTree>(read_tree(path_));
    EXPECT_EQ(back.facts, tree.facts);
    EXPECT_EQ(back.index, tree.index);
    EXPECT_EQ(back.split_dim, tree.split_dim);
    EXPECT_EQ(apps::verify_tree(back, set.view()).first_violation, "");
    const PointFile file = read_points(path_);
    EXPECT_EQ(file.points.rows(), 50u);
    EXPECT_EQ(file.points.dims(), 3u);
  }
  const PointSet none = points(0, 3);
  write_tree(path_, apps::export_in_order(none.view()));
  EXPECT_TRUE(std::get<apps::InOrderTree>(read_tree(path_)).index.empty());
}

TEST_F(TreeFile, OnlyTheLeftMiddleIsWritten) {
  const PointSet set = points(50, 3);
  write_tree(path_, apps::export_in_order(set.view()));
  EXPECT_EQ(bytes().find("middle"), std::string::npos);
  write_tree(path_, apps::export_in_order(set.view(), {.middle = apps::Middle::left}));
  EXPECT_NE(bytes().find("middle"), std::string::npos);
  const auto back = std::get<apps::InOrderTree>(read_tree(path_));
  EXPECT_EQ(back.facts.middle, apps::Middle::left);
  EXPECT_EQ(apps::verify_tree(back, set.view()).first_violation, "");
}

TEST_F(TreeFile, OtherFilesAreNoTrees) {
  write("x,y\n1,2\n");
  EXPECT_FALSE(is_tree_file(path_));
  EXPECT_THROW(read_tree(path_), CorruptFile);
  write_neighbors(path_, Neighbors(1, 1, 1, {0}, Distances(std::vector<float>{0})));
  EXPECT_FALSE(is_tree_file(path_));
  EXPECT_THROW(read_tree(path_), CorruptFile);
  EXPECT_THROW(is_tree_file(path_ + ".absent"), IoError);
}

/// Every byte changed and every length: refused, or read and then checked, but never a crash or a wrong tree that
/// passes.
TEST_F(TreeFile, DamageIsNoticed) {
  const PointSet set = points(9, 2);
  const apps::NodeTable table = apps::export_node_table(set.view());
  write_tree(path_, table);
  const std::string good = bytes();
  const auto look = [&] {
    try {
      const auto back = std::get<apps::NodeTable>(read_tree(path_));
      const bool same = back.facts == table.facts && back.root == table.root && back.point == table.point &&
                        back.split_dim == table.split_dim && back.less == table.less && back.greater == table.greater;
      EXPECT_TRUE(same || !apps::verify_tree(back, set.view(), {.threads = 1}).first_violation.empty());
    } catch (const Error&) {
      // refused by name
    }
  };
  for (std::size_t length = 0; length < good.size(); length += 19) {
    write(good.substr(0, length));
    EXPECT_THROW(read_tree(path_), CorruptFile) << length;
  }
  for (std::size_t i = 0; i < good.size(); i += 5) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    write(bad);
    look();
  }
}

}  // namespace
}  // namespace kith::io
