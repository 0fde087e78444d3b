// Registration on a GPU, its kernels run on the host: the bytes of the CPU's poses, sums and pairs.
#include "apps/normals/fit_planes.hpp"
#include "apps/register/refine.hpp"
#include "cpu/kd_tree/build.hpp"
#include "cuda/emulation/grid.hpp"
#include "cuda/kd_tree/emulated_search.hpp"
#include "cuda/registration/cloud_kernels.cuh"
#include "cuda/registration/refine_few_kernel.cuh"
#include "cuda/registration/refine_kernel.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace kith::test {
namespace {

using cuda::emulation::Residence;

/// Blobs, grids (whose distances tie) or duplicates, around a place.
template <typename T>
PointSet made_up_cloud(std::uint64_t rows, std::uint32_t dims, std::uint64_t seed, int shape) {
  std::mt19937_64 random(seed);
  PointSet points(dtype_of<T>, rows, dims);
  for (T& value : points.values<T>()) {
    const auto draw = static_cast<double>(random() % 100000) / 100000;
    value = static_cast<T>(shape == 1 ? std::floor(draw * 6) / 4 : shape == 2 ? std::floor(draw * 3) : draw * draw);
  }
  return points;
}

template <typename T>
struct Emulated {
  std::vector<std::uint32_t> matches;
  std::vector<double> total, surfaces;
  std::vector<core::StepRecord> records;
  core::StageState state;
};

/// Which kernel runs a stage, and how.
struct Kernel {
  std::uint32_t points_per_block = 0;  ///< of the one for few points; 0: the other one
  std::uint32_t blocks = 1;            ///< of that
  std::uint32_t listed = 0;            ///< neighbours of the target that are known
};

template <typename T, std::uint32_t kDims, int Unknowns>
Emulated<T> emulate(const apps::Stage<T>& stage, const core::Frame& frame, const core::StepRule& rule,
                    const core::StageState& start, const Kernel& kernel) {
  constexpr int kTerms = core::TermPlaces<Unknowns>::kCount;
  const engine::KdTree<T> tree = cpu::build_kd_tree(stage.target->template values<T>().data(), stage.target->rows(),
                                                    kDims, {.leaf_size = 8, .threads = 1});
  Emulated<T> result;
  result.state = start;
  result.matches.assign(stage.source.rows(), core::kNoPoint);
  result.total.assign(kTerms, -1);
  result.surfaces.assign(kTerms, -1);
  result.records.resize(rule.max_iterations + 1);
  std::vector<double> sums(cuda::refine_scratch(stage.source.rows(), kTerms), -1);
  std::uint32_t counters[4] = {};
  cuda::RefineTask<T> task;
  task.tree = search_tree(tree);
  task.target = stage.target->template values<T>().data();
  task.source = stage.source.template values<T>().data();
  if (stage.target_surface) task.target_normals = stage.target_surface->normals.template values<T>().data();
  if (stage.source_normals.rows() > 0) task.source_normals = stage.source_normals.template values<T>().data();
  task.points = stage.source.rows();
  task.frame = frame;
  task.rule = rule;
  const double spacing = rule.least_distance / 4;
  if (rule.adapts_distance) {  // as the GPU knows it
    task.rule.least_distance = 0;
    task.spacing = {&spacing, 1};
  }
  task.state = &result.state;
  task.records = result.records.data();
  task.matches = result.matches.data();
  task.sums = sums.data();
  task.total = result.total.data();
  task.counters = counters;
  if (kernel.points_per_block == 0) {
    cuda::emulation::run_grid(kernel.blocks, core::kSumBlock, sizeof(cuda::RefineShared<Unknowns>),
                              Residence::all_together, [&] { cuda::refine_stage<T, kDims, Unknowns>(task); });
    return result;
  }
  const auto listed = static_cast<std::uint32_t>(std::min<std::uint64_t>(kernel.listed, stage.target->rows()));
  std::vector<std::uint32_t> lists(stage.target->rows() * listed);
  std::vector<T> distances(lists.size());
  if (listed > 0) {
    stage.target_index->knn_self(listed, std::span(lists), std::span(distances), {.threads = 1});
    task.near = {lists.data(), distances.data(), listed};
  }
  if (rule.pair.error == core::PairError::gicp) task.surfaces = result.surfaces.data();
  const auto blocks = (task.points + kernel.points_per_block - 1) / kernel.points_per_block;
  cuda::emulation::run_grid(static_cast<std::uint32_t>(blocks), core::kSumBlock,
                            sizeof(cuda::FewShared<T, kDims, Unknowns>), Residence::all_together,
                            [&] { cuda::refine_few<T, kDims, Unknowns>(task, kernel.points_per_block); });
  return result;
}

template <typename T>
apps::Surface surface_of(const Index& index, const PointSet& points) {
  apps::Surface surface{PointSet(dtype_of<T>, points.rows(), points.dims()), {}};
  apps::fit_planes<T>(index, points.values<T>(), {8, {}, 1, nullptr}, surface.normals.values<T>(), {},
                      &surface.neighbors);
  return surface;
}

/// Normals as the kernel finds them, from the same lists.
template <typename T, std::uint32_t kDims>
std::vector<T> emulated_planes(const Index& index, const PointSet& points, std::uint32_t k) {
  std::vector<std::uint32_t> lists(points.rows() * k);
  std::vector<T> distances(lists.size()), normals(points.rows() * kDims, T(-7));
  index.knn_self(k, std::span(lists), std::span(distances), {.threads = 1});
  cuda::emulation::run_grid(2, 64, 0, Residence::one_by_one, [&] {
    cuda::fit_planes<T, kDims>(points.values<T>().data(), points.rows(), lists.data(), k, normals.data(), nullptr);
  });
  return normals;
}

/// Far away, where no list leads to the nearest point; half a cell of the grids off, where distances tie; or nearby.
void set_start(std::uint64_t kind, core::StageState& start) {
  if (kind == 0) {
    start.max_distance = 9;
    core::apply_step({{0, 0, 0.2}, {4, -3, 0}, 0}, start.motion);
  } else if (kind == 1) {
    core::apply_step({{0, 0, 0}, {0.125, 0.125, 0}, 0}, start.motion);
  } else {
    core::apply_step({{0, 0, 0.1}, {0.05, -0.02, 0}, 0}, start.motion);
  }
}

template <typename T, std::uint32_t kDims, int Unknowns>
void expect_stage_of_cpu(std::uint64_t seed, Kernel (*kernel)(std::mt19937_64&), std::uint64_t most_sources) {
  std::mt19937_64 random(seed);
  const int shape = static_cast<int>(random() % 3);
  const std::uint64_t targets = 8 + random() % 400;
  const std::uint64_t sources = 1 + random() % most_sources;
  apps::Stage<T> stage;
  stage.target = std::make_shared<PointSet>(made_up_cloud<T>(targets, kDims, random(), shape));
  stage.source = made_up_cloud<T>(sources, kDims, random(), shape);
  stage.target_index = Index::build(stage.target->view(), {.device = Device::cpu(), .threads = 1});
  core::StepRule rule;
  rule.pair = {static_cast<core::PairError>(random() % 3), static_cast<core::PairWeight>(random() % 5), 0.1};
  rule.free_mask = kDims == 2 ? 0b0011100 : 0b0111111;
  if (Unknowns == 7) rule.free_mask |= 0b1000000;
  rule.points = sources;
  rule.max_iterations = static_cast<std::uint32_t>(random() % 13);
  rule.rotation_tolerance = rule.translation_tolerance = 1e-7;
  rule.adapts_distance = random() % 2 == 0;
  rule.least_distance = 0.05;
  if (rule.pair.error != core::PairError::point) {
    stage.target_surface = std::make_shared<apps::Surface>(surface_of<T>(*stage.target_index, *stage.target));
    const PointSet& normals = stage.target_surface->normals;
    const std::vector<T> found = emulated_planes<T, kDims>(*stage.target_index, *stage.target, 8);
    ASSERT_EQ(std::memcmp(found.data(), normals.template values<T>().data(), found.size() * sizeof(T)), 0);
  }
  if (rule.pair.error == core::PairError::gicp) {
    const Index index = Index::build(stage.source.view(), {.device = Device::cpu(), .threads = 1});
    stage.source_normals = surface_of<T>(index, stage.source).normals;
  }
  core::Frame frame;
  for (std::uint32_t d = 0; d < kDims; ++d) frame.source[d] = frame.target[d] = 0.5;
  core::StageState start;
  start.end = rule.max_iterations == 0 ? core::StageEnd::iterations : core::StageEnd::none;
  start.max_distance = random() % 4 == 0 ? 0.02 : 0.6;
  set_start(random() % 4, start);

  const apps::Refined expected =
      apps::refine<T>(stage, frame, rule, {.want_pairs = true}, Unknowns, start, {}, 1, ProgressCallback{});
  const Emulated<T> found = emulate<T, kDims, Unknowns>(stage, frame, rule, start, kernel(random));
  ASSERT_EQ(std::memcmp(&found.state.motion, &expected.state.motion, sizeof(core::Motion)), 0);
  ASSERT_EQ(found.state.end, expected.state.end);
  ASSERT_EQ(found.state.iteration, expected.state.iteration);
  ASSERT_EQ(std::memcmp(found.total.data(), expected.sums.data(), found.total.size() * sizeof(double)), 0);
  if (found.surfaces[0] != -1) {
    ASSERT_EQ(std::memcmp(found.surfaces.data(), expected.surfaces.data(), expected.surfaces.size() * sizeof(double)),
              0);
  }
  ASSERT_LE(expected.records.size(), found.records.size());
  for (std::size_t i = 0; i < expected.records.size(); ++i) {
    ASSERT_EQ(std::memcmp(&found.records[i], &expected.records[i], sizeof(core::StepRecord)), 0) << "iteration " << i;
  }
  std::vector<apps::RegisteredPair> pairs;
  for (std::uint32_t i = 0; i < sources; ++i) {
    if (found.matches[i] != core::kNoPoint) pairs.push_back({i, found.matches[i]});
  }
  ASSERT_EQ(pairs, expected.pairs);
}

Kernel any_kernel_of_many(std::mt19937_64& random) { return {.blocks = 1 + static_cast<std::uint32_t>(random() % 3)}; }

/// With long and short lists, and without any.
Kernel any_kernel_of_few(std::mt19937_64& random) {
  const auto each = static_cast<std::uint32_t>(core::kSumGroup << random() % 4);
  return {.points_per_block = each, .listed = static_cast<std::uint32_t>(random() % 4 * 7)};
}

TEST(EmulatedRegistration, HasTheBytesOfTheCpu) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_stage_of_cpu<float, 3, 6>(seed, any_kernel_of_many, 700);
    expect_stage_of_cpu<float, 2, 6>(seed, any_kernel_of_many, 700);
    expect_stage_of_cpu<double, 3, 7>(seed, any_kernel_of_many, 700);
    if (HasFatalFailure()) return;
  }
}

TEST(EmulatedRegistration, OfFewPointsHasTheBytesOfTheCpu) {
  for (std::uint64_t seed = 100; seed < 116; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_stage_of_cpu<float, 3, 6>(seed, any_kernel_of_few, 300);
    expect_stage_of_cpu<float, 2, 6>(seed, any_kernel_of_few, 300);
    expect_stage_of_cpu<double, 3, 7>(seed, any_kernel_of_few, 300);
    if (HasFatalFailure()) return;
  }
}

TEST(EmulatedRegistration, TotalsHaveTheBytesOfTheCpu) {
  std::mt19937_64 random(1);
  for (const std::uint64_t items : {1u, 31u, 32u, 33u, 255u, 256u, 257u, 5000u, 70000u}) {
    std::vector<double> values(items);
    for (double& value : values)
      value = std::ldexp(static_cast<double>(random() % 1000003), -static_cast<int>(random() % 40));
    const auto expected = [&] {
      std::vector<core::Terms<1>> blocks(core::sum_blocks(items));
      for (std::uint64_t b = 0; b < blocks.size(); ++b) {
        blocks[b] =
            core::sum_of_block<1>(b * core::kSumBlock, std::min<std::uint64_t>(items, (b + 1) * core::kSumBlock),
                                  [&](std::uint64_t i, core::Terms<1>& terms) { terms[0] = values[i]; });
      }
      return core::sum_of_blocks<1>(blocks)[0];
    }();
    std::vector<double> sums(cuda::total_scratch(items, 1));
    double total = -1;
    std::uint32_t counter = 0;
    cuda::emulation::run_grid(2, core::kSumBlock, 4096, Residence::one_by_one, [&] {
      cuda::total_items<1>(cuda::ValueTerms<double>{values.data(), 1}, items, sums.data(), &total, &counter);
    });
    EXPECT_EQ(std::memcmp(&total, &expected, sizeof(double)), 0) << items;
  }
}

}  // namespace
}  // namespace kith::test
