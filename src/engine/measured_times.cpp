// See measured_times.hpp. The figures are rows of benchmarks/results/*.json: uniform points, L2, the largest jobs that
// were measured; on a GPU with points, queries and answers in its memory. A comment names the file of the rows below
// it. In more than 5 dims the time of a search in a k-d tree depends on the data, so there are no figures.
#include "engine/measured_times.hpp"

#include "core/kd_geometry.hpp"
#include "engine/kd_tree/kd_tree.hpp"

#include <algorithm>
#include <vector>

namespace kith::engine {
namespace {

constexpr Measured kGpu = Measured::gpu, kArm = Measured::aarch64, kX86 = Measured::x86_64;
constexpr Engine kTree = Engine::kd_tree, kBrute = Engine::brute_force;
constexpr DType kF32 = DType::f32, kF64 = DType::f64;

struct BuildFigure {
  Measured on;
  Engine engine;
  DType dtype;
  std::uint32_t dims;
  std::uint64_t points;
  int threads;
  double ms;
};

struct SearchFigure {
  Measured on;
  Engine engine;
  DType dtype;
  std::uint32_t dims;
  bool is_self;
  std::uint32_t k;
  std::uint64_t points;
  std::uint64_t queries;
  int threads;
  double ms;
};

// clang-format off
constexpr BuildFigure kBuilds[] = {
    // kd_tree_gpu_build.json
    {kGpu, kTree, kF32, 3, 100'000'000, 1, 13.8926},
    {kGpu, kTree, kF32, 4, 16'777'216, 1, 2.4507},
    {kGpu, kTree, kF32, 8, 16'777'216, 1, 6.357},
    {kGpu, kTree, kF64, 3, 16'777'216, 1, 3.873},
    // kd_tree_cpu.json
    {kArm, kTree, kF32, 3, 1'000'000, 1, 96.133},
    {kArm, kTree, kF32, 2, 1'000'000, 1, 104.053},
    {kArm, kTree, kF32, 4, 1'000'000, 1, 103.683},
    {kArm, kTree, kF32, 8, 100'000, 1, 12.089},
    // kd_tree_cpu_x86_64.json
    {kX86, kTree, kF32, 3, 1'000'000, 16, 47.254},
    {kX86, kTree, kF32, 2, 1'000'000, 16, 35.054},
    {kX86, kTree, kF32, 4, 1'000'000, 16, 42.064},
    {kX86, kTree, kF32, 8, 100'000, 16, 12.623},
    // brute_force_cpu.json
    {kArm, kBrute, kF32, 3, 100'000, 1, 2.185},
    {kArm, kBrute, kF32, 16, 100'000, 1, 11.478},
    {kArm, kBrute, kF32, 128, 100'000, 1, 91.687},
};

constexpr SearchFigure kSearches[] = {
    // kd_tree_gpu_search.json
    {kGpu, kTree, kF32, 2, true, 8, 10'000'000, 10'000'000, 1, 1.9947},
    {kGpu, kTree, kF32, 3, false, 8, 10'000'000, 10'000'000, 1, 6.0943},
    {kGpu, kTree, kF32, 3, false, 30, 10'000'000, 10'000'000, 1, 11.4319},
    {kGpu, kTree, kF32, 3, true, 1, 10'000'000, 10'000'000, 1, 1.1596},
    {kGpu, kTree, kF32, 3, true, 8, 10'000'000, 10'000'000, 1, 3.5968},
    {kGpu, kTree, kF32, 3, true, 16, 10'000'000, 10'000'000, 1, 5.2772},
    {kGpu, kTree, kF32, 3, true, 30, 10'000'000, 10'000'000, 1, 8.358},
    {kGpu, kTree, kF32, 3, true, 50, 10'000'000, 10'000'000, 1, 14.4097},
    {kGpu, kTree, kF32, 3, true, 100, 10'000'000, 10'000'000, 1, 25.8905},
    {kGpu, kTree, kF32, 4, true, 8, 10'000'000, 10'000'000, 1, 7.7935},
    {kGpu, kTree, kF32, 5, true, 8, 10'000'000, 10'000'000, 1, 21.4254},
    {kGpu, kTree, kF64, 3, true, 8, 10'000'000, 10'000'000, 1, 5.6217},
    {kGpu, kTree, kF64, 3, true, 30, 10'000'000, 10'000'000, 1, 15.2302},
    // brute_force_gpu.json
    {kGpu, kBrute, kF32, 2, false, 8, 1'000'000, 10'000, 1, 2.6411},
    {kGpu, kBrute, kF32, 3, false, 1, 100'000, 100'000, 1, 4.0403},
    {kGpu, kBrute, kF32, 3, false, 16, 100'000, 100'000, 1, 5.1282},
    {kGpu, kBrute, kF32, 3, false, 100, 100'000, 100'000, 1, 9.2733},
    {kGpu, kBrute, kF32, 4, false, 8, 1'000'000, 10'000, 1, 4.1433},
    {kGpu, kBrute, kF32, 6, false, 8, 1'000'000, 10'000, 1, 1.7581},
    {kGpu, kBrute, kF32, 8, false, 10, 1'000'000, 100'000, 1, 12.6629},
    {kGpu, kBrute, kF32, 10, false, 10, 1'000'000, 100'000, 1, 12.6608},
    {kGpu, kBrute, kF32, 12, false, 10, 1'000'000, 100'000, 1, 12.6567},
    {kGpu, kBrute, kF32, 16, false, 10, 1'000'000, 100'000, 1, 12.8878},
    {kGpu, kBrute, kF32, 24, false, 10, 1'000'000, 100'000, 1, 19.1743},
    {kGpu, kBrute, kF32, 32, false, 10, 1'000'000, 100'000, 1, 20.3756},
    {kGpu, kBrute, kF32, 33, false, 10, 1'000'000, 100'000, 1, 37.0861},
    {kGpu, kBrute, kF32, 64, false, 10, 1'000'000, 100'000, 1, 40.5936},
    {kGpu, kBrute, kF32, 128, false, 10, 1'000'000, 100'000, 1, 57.6024},
    {kGpu, kBrute, kF32, 128, false, 100, 1'000'000, 10'000, 1, 8.4923},
    {kGpu, kBrute, kF64, 3, false, 16, 100'000, 100'000, 1, 7.7622},
    // kd_tree_cpu.json
    {kArm, kTree, kF32, 2, true, 1, 1'000'000, 1'000'000, 1, 92.194},
    {kArm, kTree, kF32, 2, true, 8, 1'000'000, 1'000'000, 1, 221.977},
    {kArm, kTree, kF32, 2, true, 16, 1'000'000, 1'000'000, 1, 412.571},
    {kArm, kTree, kF32, 3, true, 1, 1'000'000, 1'000'000, 1, 87.358},
    {kArm, kTree, kF32, 3, true, 8, 1'000'000, 1'000'000, 1, 383.747},
    {kArm, kTree, kF32, 3, true, 16, 1'000'000, 1'000'000, 1, 629.836},
    {kArm, kTree, kF32, 3, true, 50, 1'000'000, 1'000'000, 1, 2687.407},
    {kArm, kTree, kF32, 4, true, 1, 1'000'000, 1'000'000, 1, 111.406},
    {kArm, kTree, kF32, 4, true, 8, 1'000'000, 1'000'000, 1, 765.09},
    {kArm, kTree, kF32, 4, true, 16, 1'000'000, 1'000'000, 1, 1171.163},
    // brute_force_cpu.json
    {kArm, kBrute, kF32, 3, false, 8, 100'000, 10'000, 1, 220.9},
    {kArm, kBrute, kF32, 16, false, 10, 100'000, 4000, 1, 302.842},
    {kArm, kBrute, kF32, 128, false, 10, 100'000, 1000, 1, 430.966},
    {kArm, kBrute, kF32, 128, false, 100, 100'000, 1000, 1, 634.794},
    // kd_tree_cpu_x86_64.json
    {kX86, kTree, kF32, 2, true, 1, 1'000'000, 1'000'000, 16, 12.083},
    {kX86, kTree, kF32, 2, true, 8, 1'000'000, 1'000'000, 16, 63.755},
    {kX86, kTree, kF32, 2, true, 16, 1'000'000, 1'000'000, 16, 122.47},
    {kX86, kTree, kF32, 3, true, 1, 1'000'000, 1'000'000, 16, 13.11},
    {kX86, kTree, kF32, 3, true, 8, 1'000'000, 1'000'000, 16, 91.598},
    {kX86, kTree, kF32, 3, true, 16, 1'000'000, 1'000'000, 16, 169.665},
    {kX86, kTree, kF32, 3, true, 50, 1'000'000, 1'000'000, 16, 673.689},
    {kX86, kTree, kF32, 4, true, 1, 1'000'000, 1'000'000, 16, 14.508},
    {kX86, kTree, kF32, 4, true, 8, 1'000'000, 1'000'000, 16, 104.57},
    {kX86, kTree, kF32, 4, true, 16, 1'000'000, 1'000'000, 16, 184.029},
};
// clang-format on

/// Points times levels of a k-d tree; points for brute force, which copies them.
double build_work(Engine engine, std::uint32_t dims, std::uint64_t points) {
  const double levels = engine == kTree ? core::KdGeometry::of(points, leaf_size_of(0, dims)).levels : 1;
  return static_cast<double>(points) * std::max(levels, 1.0);
}

/// Queries for a k-d tree, pairs for brute force.
double search_work(Engine engine, std::uint64_t points, std::uint64_t queries) {
  return static_cast<double>(queries) * (engine == kTree ? 1.0 : static_cast<double>(points));
}

template <typename Figure>
bool fits(const Figure& figure, const TimedJob& job) {
  return figure.on == job.on && figure.engine == job.engine && figure.dtype == job.dtype && figure.dims == job.dims;
}

/// Per unit of work, on one thread.
double cost_of(const SearchFigure& figure) {
  return figure.ms * figure.threads / search_work(figure.engine, figure.points, figure.queries);
}

/// From the figures of searches of this kind alone.
std::optional<double> search_cost(std::span<const SearchFigure> figures, const TimedJob& job, bool is_self) {
  const SearchFigure *below = nullptr, *above = nullptr;
  for (const SearchFigure& figure : figures) {
    if (!fits(figure, job) || figure.is_self != is_self) continue;
    if (figure.k <= job.k && (below == nullptr || figure.k > below->k)) below = &figure;
    if (figure.k >= job.k && (above == nullptr || figure.k < above->k)) above = &figure;
  }
  if (above == nullptr) return {};
  if (below == nullptr || below == above) return cost_of(*above);
  const double share = static_cast<double>(job.k - below->k) / (above->k - below->k);
  return cost_of(*below) + share * (cost_of(*above) - cost_of(*below));
}

/// At speed 1. Queries that are the points themselves, or others, if such were not measured.
std::optional<double> search_ms(std::span<const SearchFigure> figures, const TimedJob& job) {
  std::optional<double> cost = search_cost(figures, job, job.is_self);
  if (!cost) cost = search_cost(figures, job, !job.is_self);
  if (!cost) return {};
  return *cost * search_work(job.engine, job.points, job.queries);
}

std::optional<double> build_ms(std::span<const BuildFigure> figures, const TimedJob& job) {
  for (const BuildFigure& figure : figures) {
    if (!fits(figure, job)) continue;
    return figure.ms * figure.threads * build_work(job.engine, job.dims, job.points) /
           build_work(figure.engine, figure.dims, figure.points);
  }
  return {};
}

/// As it is on the device with all its threads.
std::optional<double> at_speed(std::optional<double> ms, const TimedJob& job) {
  if (!ms || job.speed == 0) return {};
  return *ms / job.speed;
}

}  // namespace

std::optional<Measured> measured_cpu() {
#if defined(__aarch64__)
  return Measured::aarch64;
#elif defined(__x86_64__)
  return Measured::x86_64;
#else
  return {};
#endif
}

std::optional<double> estimated_build_ms(const TimedJob& job) {
  std::vector<BuildFigure> own;
  for (const TimedRun& run : job.own_times) {
    own.push_back({job.on, run.engine, run.dtype, run.dims, run.points, 1, run.build_ms});
  }
  const std::optional<double> ms = build_ms(own, job);
  return ms ? ms : at_speed(build_ms(kBuilds, job), job);
}

std::optional<double> estimated_search_ms(const TimedJob& job) {
  std::vector<SearchFigure> own;
  for (const TimedRun& run : job.own_times) {
    own.push_back(
        {job.on, run.engine, run.dtype, run.dims, run.is_self, run.k, run.points, run.queries, 1, run.search_ms});
  }
  const std::optional<double> ms = search_ms(own, job);
  return ms ? ms : at_speed(search_ms(kSearches, job), job);
}

}  // namespace kith::engine
