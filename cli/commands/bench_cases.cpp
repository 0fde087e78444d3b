// See bench_cases.hpp.
#include "commands/bench_cases.hpp"

#include "interrupt.hpp"
#include "stopwatch.hpp"

#include <kith/apps/generate.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>

namespace kith::cli {
namespace {

constexpr std::size_t kCopiedBytes = std::size_t{32} << 20;  // by each thread: more than its caches hold
constexpr int kCopies = 4;

PointSet made_up_points(const BenchCase& setting, std::uint64_t rows, std::uint64_t seed, int threads) {
  apps::GenerateOptions options;
  options.points = rows;
  options.dims = setting.dims;
  options.dtype = setting.dtype;
  options.seed = seed;
  options.threads = threads;
  return apps::generate(options).points;
}

}  // namespace

std::vector<BenchCase> bench_suite(bool quick) {
  std::vector<BenchCase> cases = {{100000, 10000, 2, 1, DType::f32}, {100000, 10000, 3, 8, DType::f32},
                                  {100000, 10000, 3, 8, DType::f64}, {100000, 2000, 3, 100, DType::f32},
                                  {100000, 4000, 16, 8, DType::f32}, {20000, 4000, 128, 8, DType::f32},
                                  {20000, 2000, 128, 8, DType::f64}, {10000, 1000, 784, 1, DType::f32}};
  if (quick) {
    for (BenchCase& one : cases) {
      one.points /= 10;
      one.queries /= 4;
    }
  }
  return cases;
}

std::vector<BenchCase> growing_cases(bool quick) {
  std::vector<BenchCase> cases;
  const std::uint64_t most = quick ? 100000 : 1000000, queries = quick ? 2500 : 10000;
  for (std::uint64_t points = 1000; points <= most; points *= 10) {
    cases.push_back({points, queries, 3, 8, DType::f32});
    if (points < most) cases.push_back({points * 3, queries, 3, 8, DType::f32});
  }
  return cases;
}

Timing time_case(const BenchCase& setting, const BenchRun& run, TerminalProgress& progress) {
  const PointSet points = made_up_points(setting, setting.points, run.seed, run.build.threads);
  const PointSet queries = made_up_points(setting, setting.queries, run.seed + 1, run.build.threads);
  BuildOptions build = run.build;
  build.progress = progress.callback();
  SearchOptions search;
  search.threads = run.build.threads;
  search.progress = progress.callback();

  Timing best;
  best.setting = setting;
  best.build_ms = best.query_ms = std::numeric_limits<double>::infinity();
  for (int round = 0; round < run.rounds(); ++round) {
    const Stopwatch build_watch;
    const Index index = Index::build(points.view(), build);
    best.build_ms = std::min(best.build_ms, build_watch.milliseconds());
    best.engine = index.engine();
    best.device = index.device();
    const Stopwatch query_watch;
    const Neighbors found = index.knn(queries.view(), setting.k, search);
    best.query_ms = std::min(best.query_ms, query_watch.milliseconds());
    stop_if_interrupted();
  }
  return best;
}

double copied_bytes_per_second(int threads) {
  const auto count = static_cast<std::size_t>(std::max(1, threads));
  std::vector<char> from(count * kCopiedBytes, 1), to(from.size());
  double best_ms = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kCopies; ++round) {
    const Stopwatch watch;
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < count; ++i) {
      workers.emplace_back([&, i] { std::memcpy(&to[i * kCopiedBytes], &from[i * kCopiedBytes], kCopiedBytes); });
    }
    workers.clear();  // waits for them
    best_ms = std::min(best_ms, watch.milliseconds());
    stop_if_interrupted();
  }
  return 2 * static_cast<double>(from.size()) / best_ms * 1000;
}

nlohmann::ordered_json json_of(const Timing& timing) {
  const BenchCase& setting = timing.setting;
  return {{"points", setting.points},
          {"queries", setting.queries},
          {"dims", setting.dims},
          {"k", setting.k},
          {"dtype", name_of(setting.dtype)},
          {"engine", name_of(timing.engine)},
          {"device", timing.device.name()},
          {"build_ms", timing.build_ms},
          {"query_ms", timing.query_ms},
          {"ns_per_pair", timing.nanoseconds_per_pair()},
          {"queries_per_second", timing.queries_per_second()}};
}

}  // namespace kith::cli
