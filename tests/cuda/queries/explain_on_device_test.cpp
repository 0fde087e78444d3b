// Which kernels a search takes on a GPU, and why not faster ones.
#include "cuda/on_device.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/device.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

class SmallExplainOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
  static Index index_of(std::uint64_t rows, std::uint32_t dims, Engine engine, DType dtype = DType::f32,
                        Metric metric = {}) {
    std::mt19937_64 random(rows + dims);
    return Index::build(nasty_points(NastyShape::uniform, dtype, rows, dims, random).view(),
                        {.engine = engine, .device = Device::cuda(), .metric = metric});
  }
};

TEST_F(SmallExplainOnDevice, Trees) {
  const Index index = index_of(40000, 3, Engine::kd_tree);
  EXPECT_PRED2(holds, index.explain_knn(8), "search: kdtree on cuda:0: packets of 32 queries, lists of keys");
  EXPECT_PRED2(holds, index.explain_knn(100), "packets of 32 queries, collected points");
  EXPECT_PRED2(holds, index.explain_knn(1), "packets of 32 queries, each its own neighbour");
  EXPECT_PRED2(holds, index.explain_radius(), "packets of 32 queries");
  EXPECT_PRED2(holds, index.explain_knn(500), "a warp per query; packets do not apply: k is too large");
  EXPECT_PRED2(holds, index.explain_knn(8, 3000), "there is fewer than one query for 8 points");
  EXPECT_PRED2(holds, index.explain_knn(8, 100), "there are too few queries");
  EXPECT_PRED2(holds, index.explain_radius(100), "a warp per query; packets do not apply: there are too few queries");
  const std::vector<std::uint64_t> allowed(40000 / 64, 3);
  EXPECT_PRED2(holds, index.explain_knn(8, {}, {.allowed = allowed}), "packets of 32 queries, lists of keys");
  EXPECT_PRED2(holds, index.explain_knn(40, {}, {.allowed = allowed}), "k is too large for packets with a filter");
  EXPECT_PRED2(holds, index.explain_radius({}, {.allowed = allowed}), "a filter is set, or an axis is periodic");
  EXPECT_PRED2(holds, index.explain_knn(8, {}, {.eps = 0.1}), "eps and max_leaves do not apply");
  EXPECT_PRED2(holds, index_of(40000, 6, Engine::kd_tree).explain_knn(8), "packets take 2 to 5 dims");
  EXPECT_PRED2(holds, index_of(40000, 5, Engine::kd_tree).explain_radius(), "radius searches by packets take 2 to 4");
  EXPECT_PRED2(holds, index_of(40000, 3, Engine::kd_tree, DType::f32, Metric::l1()).explain_knn(8),
               "packets are for L2");
  EXPECT_PRED2(holds, index_of(40000, 6, Engine::kd_tree).explain_knn(8, {}, {.max_leaves = 2}),
               "approximate, a warp per query");
}

TEST_F(SmallExplainOnDevice, BruteForce) {
  const Index index = index_of(20000, 20, Engine::brute_force);
  const std::string filters = available_devices().at(1).gpu.value().tensor_filter_dims >= 20
                                  ? "search: brute on cuda:0: tensor cores filter all pairs"
                                  : "tiles of points; the filter by tensor cores does not apply: its blocks need more";
  EXPECT_PRED2(holds, index.explain_knn(8, 1000), filters);
  EXPECT_PRED2(holds, index.explain_radius(1000), "tiles of points");
  EXPECT_PRED2(holds, index.explain_radius(5), "a scan for few queries");
  EXPECT_PRED2(holds, index_of(20000, 20, Engine::brute_force, DType::f64).explain_knn(8),
               "tiles of points; the filter by tensor cores does not apply: it is for f32");
  EXPECT_PRED2(holds, index_of(20000, 3, Engine::brute_force).explain_knn(8),
               "tiles of points of few dims; the filter by tensor cores does not apply: it pays from 5 dims on");
  EXPECT_PRED2(holds, index_of(20000, 6, Engine::brute_force, DType::f32, Metric::canberra()).explain_knn(8),
               "pair by pair; tiles do not apply");
}

}  // namespace
}  // namespace kith::test
