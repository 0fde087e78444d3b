// Kernels of normals, voxels and motions, run on the host: the bytes of the CPU.
#include "cpu/kd_tree/build.hpp"
#include "cuda/clouds/cloud_case.hpp"
#include "cuda/clouds/motion_kernel.cuh"
#include "cuda/clouds/plane_kernels.cuh"
#include "cuda/clouds/voxel_steps.cuh"
#include "cuda/emulation/emulated_device.hpp"
#include "cuda/kd_tree/emulated_search.hpp"

#include <kith/apps/downsample.hpp>
#include <kith/apps/normals.hpp>
#include <kith/apps/transform.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
bool same_bytes(const std::vector<T>& a, std::span<const T> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), b.size_bytes()) == 0;
}

template <typename T>
class EmulatedClouds : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(EmulatedClouds, Types);

template <typename T, std::uint32_t kDims>
void expect_planes(std::uint64_t rows, std::uint64_t seed, std::uint32_t k, bool has_viewpoint) {
  const PointSet cloud = awkward_cloud<T>(rows, kDims, seed, seed % kAwkwardShapes);
  apps::NormalsOptions options{.neighbors = k, .device = Device::cpu(), .threads = 1};
  if (has_viewpoint) options.direction = apps::NormalDirection::viewpoint;
  options.viewpoint = {0.1, 0.2, 3};
  const apps::Normals expected = apps::normals(cloud.view(), options);
  k = static_cast<std::uint32_t>(std::min<std::uint64_t>(k, rows));
  const Index index = Index::build(cloud.view(), {.device = Device::cpu(), .threads = 1});
  std::vector<std::uint32_t> lists(rows * k);
  std::vector<T> distances(lists.size());
  index.knn_self(k, std::span(lists), std::span(distances), {.threads = 1});

  const engine::KdTree<T> tree =
      cpu::build_kd_tree(cloud.values<T>().data(), rows, kDims, {.leaf_size = 8, .threads = 1});
  std::vector<cuda::PaddedPoint<T, kDims>> padded(rows);
  auto* const bytes = reinterpret_cast<std::byte*>(padded.data());
  cuda::EmulatedDevice device;
  device.launch(cuda::pad_points<T, kDims>, 2, cuda::kPlaneThreads, 0, cloud.values<T>().data(), std::uint64_t{kDims},
                rows, bytes);
  std::vector<T> normals(rows * kDims, T(7)), curvatures(rows, T(7));
  std::uint32_t without = 0;
  cuda::PlaneTask<T> task;
  task.tree = search_tree(tree);
  task.points = bytes;
  task.k = k;
  task.has_viewpoint = has_viewpoint;
  std::copy(options.viewpoint.begin(), options.viewpoint.end(), task.viewpoint);
  task.normals = normals.data();
  task.curvatures = curvatures.data();
  task.without = &without;
  // In two parts by number, as where lists do not fit.
  std::vector<std::uint32_t> places[2];
  for (std::uint32_t place = 0; place < rows; ++place) {
    const std::uint64_t leaf = task.tree.leaf_of_place(place);
    const std::uint64_t first = task.tree.geometry.first(task.tree.geometry.levels, leaf);
    places[task.tree.leaf(leaf).numbers[place - first] < rows / 3 ? 0 : 1].push_back(place);
  }
  // Lists are read four numbers at a time.
  struct alignas(16) Four {
    std::uint32_t numbers[4];
  };
  std::vector<Four> aligned(lists.size() / 4 + 1);
  for (const std::uint32_t part : {0u, 1u}) {
    const std::uint64_t from = part == 0 ? 0 : rows / 3;
    std::memcpy(aligned.data(), lists.data() + from * k, (lists.size() - from * k) * sizeof(std::uint32_t));
    task.lists = aligned.data()->numbers;
    task.first = static_cast<std::uint32_t>(from);
    task.places = places[part].data();
    task.count = places[part].size();
    device.launch(k % 4 == 0 ? cuda::fit_planes_by_leaf<T, kDims, true> : cuda::fit_planes_by_leaf<T, kDims, false>, 2,
                  cuda::kPlaneThreads, 0, task);
  }
  ASSERT_TRUE(same_bytes(normals, expected.normals.values<T>()));
  ASSERT_TRUE(same_bytes(curvatures, expected.curvature.values<T>()));
  ASSERT_EQ(without, expected.without);
}

TYPED_TEST(EmulatedClouds, NormalsAreThoseOfTheCpu) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::uint64_t rows = seed == 0 ? 1 : seed == 1 ? 2 : 3 + seed * 71 % 500;
    const std::uint32_t k = seed % 2 == 0 ? 16 : static_cast<std::uint32_t>(3 + seed % 7);
    expect_planes<TypeParam, 3>(rows, seed, k, seed % 5 == 0);
    expect_planes<TypeParam, 2>(rows, seed, k, seed % 5 == 0);
    if (this->HasFatalFailure()) return;
  }
}

template <typename T, std::uint32_t kDims, typename Key>
std::uint32_t emulated_voxels(cuda::VoxelSteps<T, kDims, cuda::EmulatedDevice>& steps, const cuda::VoxelTask<T>& task,
                              std::uint32_t bits) {
  const std::uint64_t bytes = cuda::lay_out_voxel_scratch<Key>(task.count, nullptr).bytes;
  const auto memory = std::make_unique<std::byte[]>(bytes + 256);
  std::memset(memory.get(), 0xa5, bytes + 256);
  std::byte* aligned = memory.get() + (256 - reinterpret_cast<std::uintptr_t>(memory.get()) % 256) % 256;
  return steps.run(task, bits, cuda::lay_out_voxel_scratch<Key>(task.count, aligned));
}

template <typename T, std::uint32_t kDims>
void expect_voxels(std::uint64_t rows, std::uint64_t seed, double size, apps::VoxelKeep keep) {
  const PointSet cloud = awkward_cloud<T>(rows, kDims, seed, seed % kAwkwardShapes);
  const apps::Downsampled expected =
      apps::downsample(cloud.view(), {.voxel = size, .keep = keep, .want_map = true, .threads = 1});
  cuda::EmulatedDevice device;
  cuda::VoxelSteps<T, kDims, cuda::EmulatedDevice> steps(device);
  std::vector<T> sample(rows * kDims, T(7));
  std::vector<std::uint32_t> kept(rows, 7), counts(rows, 7), map(rows, 7);
  cuda::VoxelTask<T> task;
  task.rows = cloud.values<T>().data();
  task.row_stride = kDims;
  task.count = static_cast<std::uint32_t>(rows);
  task.size = size;
  task.keep = keep;
  task.sample = sample.data();
  task.kept_rows = kept.data();
  task.counts = counts.data();
  task.map = map.data();
  cuda::OrderedKey<T> box[2 * kDims];
  steps.find_box(task, box);
  const std::optional<std::uint32_t> bits = cuda::set_cells(task, box, kDims);
  ASSERT_TRUE(bits);
  for (const bool is_wide : {false, true}) {
    if (!is_wide && *bits > 32) continue;
    const std::uint32_t voxels = is_wide ? emulated_voxels<T, kDims, std::uint64_t>(steps, task, *bits)
                                         : emulated_voxels<T, kDims, std::uint32_t>(steps, task, *bits);
    ASSERT_EQ(voxels, expected.points.rows());
    ASSERT_EQ(map, expected.map);
    ASSERT_TRUE(std::equal(expected.rows.begin(), expected.rows.end(), kept.begin()));
    ASSERT_TRUE(std::equal(expected.counts.begin(), expected.counts.end(), counts.begin()));
    ASSERT_EQ(std::memcmp(sample.data(), expected.points.values<T>().data(), voxels * kDims * sizeof(T)), 0);
  }
}

TYPED_TEST(EmulatedClouds, VoxelsAreThoseOfTheCpu) {
  using apps::VoxelKeep;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::uint64_t rows = seed == 0 ? 1 : seed == 1 ? 2 : seed % 10 == 2 ? 5000 : 3 + seed * 71 % 900;
    const double size = seed % 10 == 2 ? 10 : seed % 3 == 0 ? 0.01 : seed % 3 == 1 ? 0.2 : 1e-5;
    const auto keep = static_cast<VoxelKeep>(seed % 10 == 2 ? seed / 10 % 2 : seed % 3);
    expect_voxels<TypeParam, 3>(rows, seed, size, keep);
    expect_voxels<TypeParam, 2>(rows, seed, size, keep);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(EmulatedClouds, CellsThatNeedMoreThan64BitsAreRefused) {
  using T = TypeParam;
  cuda::VoxelTask<T> task;
  task.size = 1e-12;
  const auto key = [](double x) { return cuda::ordered_key(static_cast<T>(x)); };
  const cuda::OrderedKey<T> wide[] = {key(0), key(0), key(0), key(1), key(1), key(1)};
  EXPECT_FALSE(cuda::set_cells(task, wide, 3));
  const cuda::OrderedKey<T> far[] = {key(0), key(0), key(1e5), key(0)};
  EXPECT_FALSE(cuda::set_cells(task, far, 2));
  const cuda::OrderedKey<T> missing[] = {key(0), key(0), key(0), key(std::numeric_limits<double>::quiet_NaN())};
  EXPECT_FALSE(cuda::set_cells(task, missing, 2));
  const cuda::OrderedKey<T> narrow[] = {key(0), key(0), key(0), key(1e-3)};
  EXPECT_EQ(cuda::set_cells(task, narrow, 2), 30u);
}

template <typename T, std::uint32_t kDims>
void expect_motions(std::uint64_t seed) {
  const PointSet cloud = awkward_cloud<T>(300, kDims, seed, seed % kAwkwardShapes);
  apps::Pose pose = apps::rotation_about_z(static_cast<double>(seed) * 7);
  pose(0, 3) = 4e5;
  if (kDims == 3) pose(2, 1) = -1.5;
  std::vector<T> moved(cloud.values<T>().size(), T(7));
  std::uint32_t bad = 0;
  cuda::MotionTask<T> task{cloud.values<T>().data(), kDims, cloud.rows(), moved.data(), &bad, {}};
  std::copy(pose.matrix.begin(), pose.matrix.end(), task.matrix);
  cuda::EmulatedDevice device;
  device.launch(cuda::move_rows<T, kDims, false>, 1, cuda::kMotionThreads, 0, task);
  ASSERT_TRUE(same_bytes<T>(moved, apps::transform(cloud.view(), pose).template values<T>()));
  device.launch(cuda::move_rows<T, kDims, true>, 1, cuda::kMotionThreads, 0, task);
  ASSERT_TRUE(same_bytes<T>(moved, apps::turn_directions(cloud.view(), pose).template values<T>()));
  ASSERT_EQ(bad, 0u);
}

TYPED_TEST(EmulatedClouds, MotionsAreThoseOfTheCpu) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    expect_motions<TypeParam, 2>(seed);
    expect_motions<TypeParam, 3>(seed);
  }
}

}  // namespace
}  // namespace kith::test
