// The builders of the cover tree as an option of an index: the same answers, other trees, and who may ask for them.
#include "support/engines.hpp"
#include "support/expect_same.hpp"
#include "support/random_case.hpp"
#include "support/temporary_path.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/index_file.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

BuildOptions with(Builder builder) { return {.engine = Engine::cover_tree, .builder = builder, .leaf_size = 4}; }

TEST(CoverBuilder, NamesAreReadAndWritten) {
  for (const std::string name : {"batch", "lists"}) EXPECT_EQ(name_of(parse_builder(name)), name);
  EXPECT_THROW(parse_builder("list"), UsageError);
}

TEST(CoverBuilder, AnswersAreTheSameAndTreesAreNot) {
  std::mt19937_64 random(4);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 3000, 2, random);
  const Index batch = Index::build(points.view(), with(Builder::batch));
  const Index lists = Index::build(points.view(), with(Builder::lists));
  expect_same(batch.knn_self(9), lists.knn_self(9));
  expect_same(batch.radius_self(0.1), lists.radius_self(0.1));
  EXPECT_EQ(batch.count_self(0.1), lists.count_self(0.1));
  EXPECT_NE(batch.to_bytes(), lists.to_bytes());
  EXPECT_NE(lists.explain().find("by lists"), std::string::npos) << lists.explain();
  EXPECT_EQ(batch.explain().find("by lists"), std::string::npos) << batch.explain();
}

TEST(CoverBuilder, BytesAreThoseOfTheCpuOnEveryDevice) {
  std::mt19937_64 random(6);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 3000, 2, random);
  for (const Builder builder : {Builder::batch, Builder::lists}) {
    const std::vector<std::byte> expected = Index::build(points.view(), with(builder)).to_bytes();
    for (const EngineOnDevice& where : available_engines()) {
      if (where.engine != Engine::cover_tree) continue;
      BuildOptions options = with(builder);
      options.device = where.device;
      const Index index = Index::build(points.view(), options);
      EXPECT_EQ(index.device(), where.device);
      EXPECT_EQ(index.to_bytes(), expected) << where.device.name();
      EXPECT_EQ(index.explain().find("by lists") != std::string::npos, builder == Builder::lists) << index.explain();
      const Index again = Index::from_bytes(expected, {.device = where.device});
      EXPECT_EQ(again.to_bytes(), expected) << where.device.name();
    }
  }
}

// A tree by lists is checked by what it promises, which is less than what the other does.
TEST(CoverBuilder, IsKnownToTheFile) {
  std::mt19937_64 random(5);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f64, 3000, 2, random);
  const std::string path = temporary_path("cover_builder.kith");
  for (const Builder builder : {Builder::batch, Builder::lists}) {
    Index::build(points.view(), with(builder)).save(path);
    EXPECT_EQ(describe_index_file(path).builder, name_of(builder));
    EXPECT_EQ(Index::load(path).first_violation(), "");
  }
  std::filesystem::remove(path);
}

TEST(CoverBuilder, IsRefusedWhereItMeansNothing) {
  const float points[] = {0, 1, 2, 3};
  const PointView view(points, 2, 2);
  EXPECT_EQ(Index::build(view, with(Builder::lists)).device(), Device::cpu());
  for (const Engine engine : {Engine::automatic, Engine::brute_force, Engine::kd_tree}) {
    EXPECT_THROW(Index::build(view, {.engine = engine, .builder = Builder::lists}), UsageError);
  }
}

}  // namespace
}  // namespace kith::test
