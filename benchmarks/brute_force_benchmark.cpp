// Brute force on the CPU over points, dims, k, type and distribution; build and search apart.
#include <kith/apps/generate.hpp>
#include <kith/index.hpp>

#include <benchmark/benchmark.h>

#include <string>

namespace {

using kith::apps::Shape;

constexpr std::uint64_t kQueries = 1000;

kith::PointSet points_of(const benchmark::State& state, std::uint64_t rows, std::uint64_t seed) {
  const auto shape = static_cast<Shape>(state.range(3));
  return kith::apps::generate({.shape = shape,
                               .points = rows,
                               .dims = static_cast<std::uint32_t>(state.range(1)),
                               .seed = seed,
                               .dtype = state.range(4) == 32 ? kith::DType::f32 : kith::DType::f64})
      .points;
}

void label(benchmark::State& state) {
  state.SetLabel(std::string(kith::apps::name_of(static_cast<Shape>(state.range(3)))));
}

void build(benchmark::State& state) {
  const kith::PointSet points = points_of(state, static_cast<std::uint64_t>(state.range(0)), 1);
  for (auto _ : state)
    benchmark::DoNotOptimize(kith::Index::build(
        points.view(), {.engine = kith::Engine::brute_force, .device = kith::Device::cpu(), .threads = 1}));
  state.SetBytesProcessed(static_cast<std::int64_t>(points.bytes()) * state.iterations());
  label(state);
}

void knn(benchmark::State& state) {
  const kith::PointSet points = points_of(state, static_cast<std::uint64_t>(state.range(0)), 1);
  const kith::PointSet queries = points_of(state, kQueries, 2);
  const kith::Index index =
      kith::Index::build(points.view(), {.engine = kith::Engine::brute_force, .device = kith::Device::cpu()});
  const auto k = static_cast<std::uint32_t>(state.range(2));
  for (auto _ : state) benchmark::DoNotOptimize(index.knn(queries.view(), k, {.threads = 1}));
  state.counters["pair_dims"] = benchmark::Counter(static_cast<double>(points.rows() * kQueries * points.dims()),
                                                   benchmark::Counter::kIsIterationInvariantRate);
  label(state);
}

void shapes_and_sizes(benchmark::internal::Benchmark* suite) {
  const auto uniform = static_cast<std::int64_t>(Shape::uniform);
  const auto clusters = static_cast<std::int64_t>(Shape::clusters);
  suite->ArgNames({"n", "d", "k", "shape", "bits"})->Unit(benchmark::kMillisecond);
  for (const std::int64_t dims : {2, 3, 8, 16, 128}) suite->Args({100000, dims, 10, uniform, 32});
  for (const std::int64_t k : {1, 100, 1000}) suite->Args({100000, 16, k, uniform, 32});
  for (const std::int64_t n : {1000, 10000}) suite->Args({n, 16, 10, uniform, 32});
  suite->Args({100000, 3, 10, clusters, 32});
  suite->Args({100000, 16, 10, uniform, 64});
}

BENCHMARK(build)->Apply(shapes_and_sizes);
BENCHMARK(knn)->Apply(shapes_and_sizes);

}  // namespace

BENCHMARK_MAIN();
