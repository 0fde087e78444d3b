// Which path a search takes on the CPU, and why not a faster one; tests/cuda has those of a GPU.
#include "support/thrown_message.hpp"

#include <kith/bit_index.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace kith::test {
namespace {

Index index_of(DType dtype, Engine engine, Metric metric = {}, std::vector<double> period = {}) {
  const std::vector<float> narrow(3000, 0.5f);
  const std::vector<double> wide(3000, 0.5);
  const PointView view = dtype == DType::f32 ? PointView(narrow.data(), 1000, 3) : PointView(wide.data(), 1000, 3);
  return Index::build(view, {.engine = engine, .device = Device::cpu(), .metric = metric, .period = std::move(period)});
}

TEST(ExplainSearch, TreesOnTheCpu) {
  const Index index = index_of(DType::f32, Engine::kd_tree);
  EXPECT_PRED2(holds, index.explain_knn(8), "search: kdtree on cpu: groups of up to ");
  EXPECT_PRED2(holds, index.explain_knn(8), "lists of keys");
  EXPECT_PRED2(holds, index.explain_knn(100, 50), "lists of candidates");
  EXPECT_PRED2(holds, index_of(DType::f64, Engine::kd_tree).explain_knn(8), "lists of candidates");
  EXPECT_PRED2(holds, index.explain_knn(8, 1), "one query, on the caller's thread");
  EXPECT_PRED2(holds, index.explain_knn(8, 50, {.eps = 0.1}), "do not apply: an exact search is faster");
  EXPECT_PRED2(holds, index.explain_knn(8, 50, {.eps = 0.1}), "groups of up to ");
  const Index wide = Index::build(PointView(std::vector<float>(900, 0.5f).data(), 100, 9), {.engine = Engine::kd_tree});
  EXPECT_PRED2(holds, wide.explain_knn(8, {}, {.max_leaves = 3}), "one by one; groups do not apply");
  EXPECT_PRED2(holds, wide.explain_knn(8, {}, {.eps = 0.1}), "do not apply: an exact search is faster");
  EXPECT_PRED2(holds, index.explain_radius(), "groups of up to ");
  EXPECT_PRED2(holds, index.explain_radius(1), "one query");
  EXPECT_PRED2(holds, index_of(DType::f32, Engine::cover_tree).explain_knn(8),
               "search: covertree on cpu: every query walks through the tree");
}

TEST(ExplainSearch, BruteForceOnTheCpu) {
  EXPECT_PRED2(holds, index_of(DType::f32, Engine::brute_force).explain_knn(8),
               "search: brute on cpu: products filter all pairs");
  EXPECT_PRED2(holds, index_of(DType::f32, Engine::brute_force, Metric::l1()).explain_radius(9),
               "all pairs are measured; no filter by products: the filter is for metrics that L2 searches");
  EXPECT_PRED2(holds, index_of(DType::f64, Engine::brute_force, {}, {1, 0, 0}).explain_knn(2),
               "the filter takes no periodic axes");
  const std::uint8_t rows[] = {1, 2, 3};
  EXPECT_PRED2(holds, BitIndex::build(BitView(rows, 3, 8)).explain_knn(2),
               "search: brute on cpu: every query is compared with every point");
}

TEST(ExplainSearch, RefusesWhatTheSearchRefuses) {
  const Index index = index_of(DType::f32, Engine::kd_tree);
  const auto said = [](const auto& call) { return thrown_message<UsageError>(call); };
  EXPECT_PRED2(holds, said([&] { index.explain_knn(8, {}, {.eps = -1}); }), "eps");
  EXPECT_PRED2(holds, said([&] { index.explain_knn(8, 5, {.exclude_self = true}); }), "exclude_self");
  EXPECT_PRED2(holds, said([&] { index.explain_radius({}, {.max_leaves = 1}); }), "max_leaves");
}

}  // namespace
}  // namespace kith::test
