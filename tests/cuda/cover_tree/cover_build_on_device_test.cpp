// The GPU builds the CPU's cover trees, byte by byte. Suites named Small are for compute-sanitizer too.
#include "cpu/cover_tree/build.hpp"
#include "cpu/cover_tree/build_by_lists.hpp"
#include "cpu/cover_tree/vector_space.hpp"
#include "cuda/cover_tree/build/build_vectors.hpp"
#include "cuda/on_device.hpp"
#include "support/random_case.hpp"

#include <kith/io/read_points.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

template <typename V>
void expect_same_bytes(std::span<const V> built, std::span<const V> expected, const char* what) {
  ASSERT_EQ(built.size(), expected.size()) << what;
  for (std::size_t i = 0; i < built.size(); ++i) {
    ASSERT_EQ(std::memcmp(&built[i], &expected[i], sizeof(V)), 0) << what << " " << i << " of " << built.size();
  }
}

template <typename T>
void expect_tree_of_cpu(std::span<const T> rows, std::uint32_t dims, std::uint32_t leaf_size,
                        Metric metric = Metric::l2()) {
  const auto count = static_cast<std::uint32_t>(rows.size() / dims);
  SCOPED_TRACE(testing::Message() << count << " x " << dims << ", leaves of " << leaf_size);
  const cpu::VectorSpace<T> space(rows.data(), count, dims, metric);
  const DeviceArray<T> on_device(rows);
  const cuda::Stream stream;
  for (const Builder builder : {Builder::batch, Builder::lists}) {
    SCOPED_TRACE(name_of(builder));
    const cpu::CoverBuildOptions options{.leaf_size = leaf_size, .run = {.threads = 0}};
    const engine::CoverTree expected = builder == Builder::lists ? cpu::build_cover_tree_by_lists(space, options)
                                                                 : cpu::build_cover_tree(space, options);
    const cuda::DeviceCoverTree tree =
        cuda::build_cover_tree_of_vectors(static_cast<const T*>(on_device.data()), count, dims, metric.kind(),
                                          cuda::CoverRules::of(leaf_size, builder), stream);
    const engine::CoverTree built = cuda::copy_to_host(tree, stream);
    EXPECT_EQ(built.leaf_size, leaf_size);
    EXPECT_EQ(built.separation, expected.separation);
    ASSERT_NO_FATAL_FAILURE(expect_same_bytes(built.nodes, expected.nodes, "node"));
    ASSERT_NO_FATAL_FAILURE(expect_same_bytes(built.order, expected.order, "object"));
    ASSERT_NO_FATAL_FAILURE(expect_same_bytes(built.distances, expected.distances, "distance"));
  }
}

/// Clusters of clusters that are flat in all but some of the dims.
template <typename T>
std::vector<T> clusters(std::uint32_t count, std::uint32_t dims, std::mt19937_64& random) {
  constexpr std::uint32_t kClusters = 40, kInner = 10;
  std::normal_distribution<double> normal;
  std::vector<double> centres(std::size_t{kClusters} * kInner * dims);
  for (std::uint32_t c = 0; c < kClusters; ++c) {
    for (std::uint32_t d = 0; d < dims; ++d) {
      const double outer = 10 * normal(random);
      for (std::uint32_t i = 0; i < kInner; ++i) {
        centres[(std::size_t{c} * kInner + i) * dims + d] = outer + normal(random) / (1 + 0.3 * d);
      }
    }
  }
  std::vector<T> rows(std::size_t{count} * dims);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t centre = random() % (kClusters * kInner) * dims;
    for (std::uint32_t d = 0; d < dims; ++d) {
      rows[std::size_t{i} * dims + d] = static_cast<T>(centres[centre + d] + 0.2 * normal(random) / (1 + d));
    }
  }
  return rows;
}

class CoverBuildSmall : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
};
class CoverBuildOnDevice : public CoverBuildSmall {};

TEST_F(CoverBuildSmall, Clusters) {
  std::mt19937_64 random(1);
  for (const std::uint32_t count : {0u, 1u, 2u, 33u, 129u, 1000u}) {
    if (count == 1000 && rounds(2) < 2) continue;
    expect_tree_of_cpu<float>(clusters<float>(count, 5, random), 5, 4);
    expect_tree_of_cpu<double>(clusters<double>(count, 3, random), 3, 32, Metric::l1());
  }
}

TEST_F(CoverBuildSmall, RowsOfAllLengths) {
  std::mt19937_64 random(2);
  for (const std::uint32_t dims : {1u, 31u, 32u, 33u, 511u, 513u, 1024u, 1025u}) {
    if (dims % 2 == 1 && rounds(2) < 2) continue;
    expect_tree_of_cpu<float>(clusters<float>(400, dims, random), dims, 8, Metric::linf());
    expect_tree_of_cpu<double>(clusters<double>(300, dims, random), dims, 8);
  }
}

void expect_trees_of_nasty_points(std::uint64_t first_seed, std::uint64_t end_seed, std::uint64_t most_rows) {
  for (std::uint64_t seed = first_seed; seed < end_seed; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    const auto dims = static_cast<std::uint32_t>(1 + random() % 6);
    const std::uint64_t rows = random() % most_rows;
    const auto leaf_size = static_cast<std::uint32_t>(1 + random() % 40);
    const PointSet f32 = nasty_points(shape, DType::f32, rows, dims, random);
    const PointSet f64 = nasty_points(shape, DType::f64, rows, dims, random);
    expect_tree_of_cpu<float>(f32.values<float>(), dims, leaf_size);
    expect_tree_of_cpu<double>(f64.values<double>(), dims, leaf_size, seed % 2 == 0 ? Metric::l1() : Metric::linf());
  }
}
TEST_F(CoverBuildSmall, NastyPoints) { expect_trees_of_nasty_points(1, 1 + rounds(6), 300); }
TEST_F(CoverBuildOnDevice, ManyNastyPoints) { expect_trees_of_nasty_points(10, 40, 2000); }

TEST_F(CoverBuildOnDevice, ManyClusters) {
  std::mt19937_64 random(3);
  expect_tree_of_cpu<float>(clusters<float>(200'000, 54, random), 54, 32);
  expect_tree_of_cpu<float>(clusters<float>(300'000, 3, random), 3, 32);
  expect_tree_of_cpu<double>(clusters<double>(100'000, 8, random), 8, 16);
}

TEST_F(CoverBuildOnDevice, ManyObjectsThatAreTheSame) {
  std::vector<float> rows(2 * 300'000, 0.25f);
  expect_tree_of_cpu<float>(rows, 2, 32);
  std::mt19937_64 random(4);
  for (std::size_t i = 0; i < rows.size(); i += 3) rows[i] = static_cast<float>(random() % 1000);
  expect_tree_of_cpu<float>(rows, 2, 32);
  expect_tree_of_cpu<float>(rows, 2, 32, Metric::l1());
}

TEST_F(CoverBuildOnDevice, DistancesOfAllSizes) {
  std::vector<double> rows;
  for (int e = -480; e <= 480; e += 5) {
    for (int i = 0; i < 50; ++i) rows.push_back(std::ldexp(1 + 0.001 * i, e));
  }
  expect_tree_of_cpu<double>(rows, 1, 8);
}

TEST_F(CoverBuildOnDevice, RealPoints) {
  if (!std::filesystem::exists(KITH_TEST_DATA)) GTEST_SKIP() << "no test data at " << KITH_TEST_DATA;
  for (const char* name : {"covtype/covtype.20k.data", "stanford_bunny/bun_zipper.ply"}) {
    SCOPED_TRACE(name);
    const std::string path = std::string(KITH_TEST_DATA) + "/" + name;
    const auto f32 = io::read_points(path, {.dtype = DType::f32}), f64 = io::read_points(path, {.dtype = DType::f64});
    const std::uint32_t dims = f32.view().dims();
    expect_tree_of_cpu<float>(f32.points.values<float>(), dims, 32);
    expect_tree_of_cpu<double>(f64.points.values<double>(), dims, 8, Metric::l1());
  }
}

TEST_F(CoverBuildOnDevice, UniformInManyDims) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<float> uniform;
  std::vector<float> rows(16 * 50'000);
  for (float& x : rows) x = uniform(random);
  expect_tree_of_cpu<float>(rows, 16, 32);
}

}  // namespace
}  // namespace kith::test
