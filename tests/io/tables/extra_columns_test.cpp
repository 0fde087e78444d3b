// Columns beside the coordinates: read in their own type, no coordinates unless named as such.
#include <kith/io/read_points.hpp>

#include "io/formats.hpp"
#include "runtime/input_file.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kith::io {
namespace {

PointFile read(const std::string& text, const ReadOptions& options) {
  return read_points(runtime::InputFile("memory", std::vector<char>(text.begin(), text.end())), options);
}

TEST(ExtraColumns, OfTextAreNoCoordinates) {
  const std::string text = "x,score,y,name\n1,10,2,a\n3,20,4,b\n";
  const PointFile file = read(text, {.label = "name", .extras = {"score"}});
  EXPECT_EQ(file.columns, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(file.extra_columns, std::vector<std::string>{"score"});
  ASSERT_EQ(file.extras.rows(), 2u);
  EXPECT_EQ(file.extras.view().at(1, 0), 20);
  EXPECT_EQ(file.view().at(1, 1), 4);
  EXPECT_EQ(file.labels->names.size(), 2u);

  const PointFile both = read(text, {.columns = {"x", "score"}, .extras = {"score", "y"}});
  EXPECT_EQ(both.columns, (std::vector<std::string>{"x", "score"}));
  EXPECT_EQ(both.extra_columns, (std::vector<std::string>{"score", "y"}));

  const PointFile nameless = read("1 2 3\n4 5 6\n", {.extras = {"2"}});
  EXPECT_EQ(nameless.points.dims(), 2u);
  EXPECT_EQ(nameless.extras.view().at(1, 0), 5);
  EXPECT_TRUE(nameless.extra_columns.empty());
}

TEST(ExtraColumns, OfPlyKeepTheTypeOfTheCoordinates) {
  const PointFile file = read(
      "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
      "property double weight\nend_header\n1 2 3 0.1\n",
      {.extras = {"weight"}});
  EXPECT_EQ(file.points.dtype(), DType::f32);
  EXPECT_EQ(file.points.dims(), 3u);
  EXPECT_EQ(file.extras.dtype(), DType::f64);
  EXPECT_EQ(file.extras.view().at(0, 0), 0.1);
}

TEST(ExtraColumns, ThatAreNotThereOrLeaveNothing) {
  EXPECT_THROW(read("x,y\n1,2\n", {.extras = {"z"}}), UsageError);
  EXPECT_THROW(read("x\n1\n", {.extras = {"x"}}), BadData);
}

}  // namespace
}  // namespace kith::io
