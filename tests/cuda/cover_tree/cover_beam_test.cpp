// Walks through a cover tree begin at the leaf of the nearest centre, also where the nearest child is not the way
// there; the GPU's code, run on the host.
#include "cuda/cover_tree/spaces/bit_space.cuh"
#include "cuda/cover_tree/search/cover_beam.cuh"

#include "cuda/cover_tree/emulated_cover.hpp"
#include "support/cover_oracle.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

constexpr std::uint32_t kWords = 8, kClusters = 40, kCount = 1200, kQueries = 40;

std::uint32_t distance(const std::uint32_t* a, const std::uint32_t* b) {
  int differ = 0;
  for (std::uint32_t w = 0; w < kWords; ++w) differ += std::popcount(a[w] ^ b[w]);
  return static_cast<std::uint32_t>(differ);
}

/// Clusters of bits: centres are all about as far from each other, objects are near their own.
struct Clusters {
  std::vector<std::uint32_t> objects, queries;
  engine::CoverTree tree;

  explicit Clusters(std::mt19937_64& random) {
    std::vector<std::uint32_t> centres(kClusters * kWords);
    for (std::uint32_t& word : centres) word = static_cast<std::uint32_t>(random());
    const auto add_to = [&](std::vector<std::uint32_t>& rows, std::uint32_t cluster) {
      for (std::uint32_t w = 0; w < kWords; ++w) {
        rows.push_back(centres[cluster * kWords + w] ^ 1u << random() % 32 ^ 1u << random() % 32);
      }
    };
    for (std::uint32_t i = 0; i < kCount; ++i) add_to(objects, i % kClusters);
    for (std::uint32_t i = 0; i < kQueries; ++i) add_to(queries, i);
    tree = CoverOracle(kCount, 4, {}, 0x1p62, [&](std::uint32_t a, std::uint32_t b) {
             return distance(&objects[a * kWords], &objects[b * kWords]);
           }).build();
  }
  std::uint32_t from_centre(std::uint32_t query, std::uint32_t node) const {
    return distance(&queries[query * kWords], &objects[tree.nodes[node].centre * kWords]);
  }
  std::uint32_t nearest_centre(std::uint32_t query) const {
    std::uint32_t nearest = std::numeric_limits<std::uint32_t>::max();
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) nearest = std::min(nearest, from_centre(query, i));
    return nearest;
  }
  /// Where a walk to the nearest child ends.
  std::uint32_t greedy_leaf(std::uint32_t query) const {
    std::uint32_t node = 0;
    while (tree.nodes[node].children > 0) {
      const engine::CoverNode& parent = tree.nodes[node];
      node = parent.first_child;
      for (std::uint32_t i = 1; i < parent.children; ++i) {
        if (from_centre(query, parent.first_child + i) < from_centre(query, node)) node = parent.first_child + i;
      }
    }
    return node;
  }
};

TEST(CoverBeam, EndsAtTheNearestCentre) {
  std::mt19937_64 random(11);
  const Clusters clusters(random);
  const EmulatedCover cover(clusters.tree, clusters.objects, kWords, true);
  const cuda::BitSpace space(kWords);
  std::vector<std::uint32_t> leaves(kQueries);
  std::uint64_t evaluations = 0;
  cuda::emulation::run_grid(1, cuda::kWarp, space.context_bytes(), cuda::emulation::Residence::one_by_one, [&] {
    for (std::uint32_t q = 0; q < kQueries; ++q) {
      space.prepare(cuda::shared_memory(), {&clusters.queries[q * kWords], 1});
      cuda::CoverBeam<cuda::BitSpace> beam(space, cover.tree(), cuda::shared_memory());
      const std::uint32_t leaf = beam.nearest_leaf();
      const std::uint32_t measured = cuda::sum_of_warp(beam.evaluations());
      if (cuda::lane_number() == 0) {
        leaves[q] = leaf;
        evaluations += measured;
      }
      cuda::sync_warp();
    }
  });
  std::uint32_t misled = 0;
  for (std::uint32_t q = 0; q < kQueries; ++q) {
    ASSERT_LT(leaves[q], clusters.tree.nodes.size());
    EXPECT_EQ(clusters.tree.nodes[leaves[q]].children, 0u);
    EXPECT_EQ(clusters.from_centre(q, leaves[q]), clusters.nearest_centre(q)) << "query " << q;
    if (clusters.from_centre(q, clusters.greedy_leaf(q)) > clusters.nearest_centre(q)) ++misled;
  }
  EXPECT_GT(misled, kQueries / 4);  // or this shows nothing
  EXPECT_LE(evaluations, kQueries * clusters.tree.nodes.size());
}

}  // namespace
}  // namespace kith::test
