// A folder of shards that is built again: what was there stays until something good can take its place.
#include "shards/stored_folder.hpp"
#include "support/expect_same.hpp"
#include "support/random_case.hpp"

#include <kith/error.hpp>
#include <kith/shards/stored_shards.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace kith::test {
namespace {

using shards::StoredShards;

TEST(StoredReplacement, KeepsTheShardsIfTheNewPointsAreBad) {
  std::mt19937_64 random(11);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 300, 2, random);
  PointSet bad = nasty_points(NastyShape::uniform, DType::f32, 300, 2, random);
  bad.values<float>()[7] = std::numeric_limits<float>::quiet_NaN();
  const StoredFolder folder("replaced");
  const std::string shards = folder / "shards";
  StoredShards::build(folder.write(points.view()), shards, {.shards = 3});
  const WideNeighbors before = StoredShards::open(shards).knn(points.view(), 4);
  const auto files = folder.write(bad.view());
  EXPECT_THROW(StoredShards::build(files, shards, {.shards = 3}), BadData);
  EXPECT_THROW(StoredShards::build(files, shards, {.shards = 3, .memory = 1000}), OutOfMemory);
  expect_same(before, StoredShards::open(shards).knn(points.view(), 4));
  StoredShards::build(files, shards, {.shards = 2, .build = {.skip_nonfinite = true}});
  EXPECT_EQ(StoredShards::open(shards).skipped(), 1u);
  EXPECT_EQ(StoredShards::open(shards).map().size(), 2u);
}

}  // namespace
}  // namespace kith::test
