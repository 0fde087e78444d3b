// See tune_bench.hpp.
#include "commands/tune_bench.hpp"

#include "stopwatch.hpp"

#include <kith/apps/generate.hpp>
#include <kith/apps/take_rows.hpp>

#include <algorithm>
#include <limits>

namespace kith::cli {
namespace {

/// A k like many.
constexpr std::uint32_t kNeighbors = 8;

double milliseconds_of(const std::function<void()>& work, int times = 1) {
  const Stopwatch watch;
  for (int i = 0; i < times; ++i) work();
  return watch.milliseconds() / times;
}

/// Powers of two times `middle`, from middle / 2^steps to middle * 2^steps.
std::vector<std::uint64_t> around(std::uint64_t middle, int steps) {
  std::vector<std::uint64_t> values;
  for (int step = -steps; step <= steps; ++step) values.push_back(step < 0 ? middle >> -step : middle << step);
  return values;
}

}  // namespace

Bench::Points Bench::points(std::uint64_t count, std::uint32_t dims, std::uint64_t seed, DType dtype) const {
  const std::uint64_t half = data_.rows() / 2;
  if (data_.dims() == dims && half >= count && data_.dtype() == dtype) {
    std::vector<std::uint32_t> rows(count);
    for (std::uint64_t i = 0; i < count; ++i) rows[i] = static_cast<std::uint32_t>(2 * (i * half / count) + seed - 1);
    return std::make_shared<const PointSet>(apps::take_rows(data_.view(), rows));
  }
  apps::GenerateOptions options;
  options.points = count;
  options.dims = dims;
  options.dtype = dtype;
  options.seed = seed;
  return std::make_shared<const PointSet>(apps::generate(options).points);
}

BuildOptions Bench::options(Engine engine, std::uint64_t queries) const {
  BuildOptions build;
  build.engine = engine;
  build.device = device_;
  build.expected_queries = queries;
  return build;
}

Work Bench::search(Engine engine, const Points& set, const Points& queries, int times) const {
  return [index = Index::build(set->view(), options(engine)), queries, times] {
    return milliseconds_of([&] { index.knn(queries->view(), kNeighbors); }, times);
  };
}

Work Bench::self_search(const Points& set) const {
  return [index = Index::build(set->view(), options(Engine::kd_tree))] {
    return milliseconds_of([&] { index.knn_self(kNeighbors); });
  };
}

Work Bench::build(const Points& set, int times) const {
  return [this, set, times] {
    return milliseconds_of([&] { Index::build(set->view(), options(Engine::kd_tree)); }, times);
  };
}

Work Bench::build_and_search(const Points& set, const Points& queries) const {
  return [this, set, queries] {
    return milliseconds_of([&] {
      Index::build(set->view(), options(Engine::automatic, queries->rows())).knn(queries->view(), kNeighbors);
    });
  };
}

Trial Bench::presort_points() const {
  Trial trial{"presort_points", {0, 2000, 20000, 200000}, {}};
  for (const std::uint64_t count : {1500, 15000, 150000}) {
    trial.work.push_back(build(points(count, 2), static_cast<int>(150000 / count)));
  }
  return trial;
}

Trial Bench::tree_points() const {
  Trial trial{"tree_points", around(1000, 4), {}};
  for (const std::uint64_t count : {65, 130, 260, 520, 1050, 2100, 4200}) {
    trial.work.push_back(build_and_search(points(count, tree_dims()), queries(6000, tree_dims())));
  }
  return trial;
}

Trial Bench::scanned_coordinates() const {
  Trial trial{"scanned_coordinates", around(6000, 3), {}};
  const Points small = points(20000, tree_dims()), large = points(200000, tree_dims());
  for (const std::uint64_t coordinates : {800, 1600, 3200, 6400, 13000}) {
    const Points some = queries(coordinates / tree_dims(), tree_dims());
    trial.work.push_back(build_and_search(small, some));
    if (coordinates <= 3200) trial.work.push_back(build_and_search(large, some));
  }
  return trial;
}

Trial Bench::groups_per_task() const {
  const Points set = points(100000, tree_dims());
  return {"groups_per_task",
          around(32, 3),
          {search(Engine::kd_tree, set, queries(2000, tree_dims()), 3),
           search(Engine::kd_tree, set, queries(20000, tree_dims())), self_search(set)}};
}

Trial Bench::scan_block_bytes() const {
  return {"scan_block_bytes",
          around(256 << 10, 3),
          {search(Engine::brute_force, points(10000, scan_dims()), queries(1000, scan_dims())),
           search(Engine::brute_force, points(4000, 128), queries(1000, 128)),
           search(Engine::brute_force, points(2000, 128, 1, DType::f64), queries(500, 128, DType::f64))}};
}

Trial Bench::thread_nanoseconds() const {
  Trial trial{"thread_nanoseconds", around(100'000, 3), {}};
  const Points set = points(20000, tree_dims());
  for (const std::uint64_t count : {100, 300, 1000, 3000}) {
    const int times = static_cast<int>(9000 / count);
    trial.work.push_back(search(Engine::kd_tree, set, queries(count, tree_dims()), times));
  }
  trial.work.push_back(search(Engine::brute_force, points(2000, 16), queries(100, 16), 10));
  trial.work.push_back(build(points(4000, tree_dims()), 10));
  return trial;
}

Trial Bench::split_records() const {
  const std::uint32_t dims = tree_dims();
  return {"split_records",
          around(1 << 17, 3),
          {build(points(50000, dims), 3), build(points(100000, dims)), build(points(300000, dims))}};
}

Trial Bench::gpu_points() const {
  // What a process pays that uses the GPU for the first time: a cut-off below the built-in one must pay for that, too.
  WorkTimes first;
  BuildOptions starting = options(Engine::brute_force);
  starting.times = &first;
  Index::build(points(64, tree_dims())->view(), starting);
  Trial trial{"gpu_points", {62'500, 125'000, 250'000, 500'000, 1'000'000, 2'000'000}, {}};
  for (const std::uint64_t count : {65'000, 130'000, 260'000, 520'000, 1'050'000}) {
    trial.work.push_back([this, start_ms = first.start_ms, set = points(count, tree_dims())] {
      BuildOptions build = options(Engine::automatic, set->rows());
      build.device = set->rows() >= tuning().gpu_points ? device_ : Device::cpu();  // the GPU that is tuned
      bool is_new = false;
      const double ms = milliseconds_of([&] {
        const Index index = Index::build(set->view(), build);
        index.knn_self(kNeighbors);
        is_new = index.device() != Device::cpu() && set->rows() < Tuning{}.gpu_points;
      });
      return is_new ? ms + start_ms : ms;
    });
  }
  return trial;
}

Trial Bench::gpu_scan_queries() const {
  Trial trial{"gpu_scan_queries", around(128, 3), {}};
  const Points small = points(100'000, tree_dims()), large = points(1'000'000, tree_dims());
  for (const std::uint64_t per_dim : {17, 34, 66, 130, 260, 520}) {
    const Points some = queries(per_dim * tree_dims(), tree_dims());
    for (const Points& set : {small, large}) trial.work.push_back(build_and_search(set, some));
  }
  return trial;
}

Trial Bench::gpu_packet_queries() const {
  Trial trial{"gpu_packet_queries", around(2048, 3), {}};
  const Points set = points(2000, tree_dims());  // there must be a query for 8 points
  for (const std::uint64_t count : {260, 520, 1050, 2100, 4200, 8400}) {
    trial.work.push_back(search(Engine::kd_tree, set, queries(count, tree_dims()), 5));
  }
  return trial;
}

Trial Bench::gpu_ordered_queries() const {
  Trial trial{"gpu_ordered_queries", around(4096, 3), {}};
  const Points set = points(1'000'000, tree_dims());
  for (const std::uint64_t count : {520, 1050, 2100, 4200, 8400, 17000}) {
    trial.work.push_back(search(Engine::kd_tree, set, queries(count, tree_dims()), 5));
  }
  return trial;
}

Trial Bench::gpu_half_sum_pairs() const {
  Trial trial{"gpu_half_sum_pairs", around(1 << 29, 3), {}};
  const Points set = points(100'000, scan_dims());
  for (const std::uint64_t pairs : around(280'000'000, 2)) {
    trial.work.push_back(search(Engine::brute_force, set, queries(pairs / 100'000, scan_dims())));
  }
  return trial;
}

std::vector<Bench::Maker> Bench::trials() const {
  if (device_.kind() == Device::Kind::cuda) {
    return {&Bench::gpu_points, &Bench::gpu_scan_queries, &Bench::gpu_packet_queries, &Bench::gpu_ordered_queries,
            &Bench::gpu_half_sum_pairs};
  }
  std::vector<Maker> makers = {&Bench::presort_points, &Bench::tree_points, &Bench::scanned_coordinates,
                               &Bench::groups_per_task, &Bench::scan_block_bytes};
  if (available_devices().front().threads == 1) return makers;
  makers.insert(makers.end(), {&Bench::thread_nanoseconds, &Bench::split_records});
  return makers;
}

std::vector<TimedRun> Bench::runs_to_time() const {
  const bool is_gpu = device_.kind() == Device::Kind::cuda;
  const std::uint64_t tree = is_gpu ? 1'000'000 : 100'000, scanned = is_gpu ? 100'000 : 20'000;
  std::vector<TimedRun> runs;
  for (const std::uint32_t k : {8, 1, 16, 50}) {
    for (const std::uint32_t dims : {3, 2, 4, 5}) {
      if (k == 50 && dims != 3) continue;
      runs.push_back({Engine::kd_tree, DType::f32, dims, tree, tree, k, true, 0, 0});
    }
  }
  for (const std::uint32_t k : {10, 100}) {
    for (const std::uint32_t dims : {3, 16, 128}) {
      runs.push_back({Engine::brute_force, DType::f32, dims, scanned, scanned / 20, k, false, 0, 0});
    }
  }
  return runs;
}

/// The best of two, without copies to and from a GPU.
void Bench::time(TimedRun& run) const {
  run.build_ms = run.search_ms = std::numeric_limits<double>::infinity();
  apps::GenerateOptions uniform;
  uniform.points = run.points;
  uniform.dims = run.dims;
  const PointSet set = apps::generate(uniform).points;
  uniform.points = run.queries;
  uniform.seed = 2;
  const PointSet others = run.is_self ? PointSet() : apps::generate(uniform).points;
  const auto without_copies = [](const WorkTimes& times) {
    return times.total_ms - times.start_ms - times.copy_in_ms - times.copy_out_ms;
  };
  for (int round = 0; round < 2; ++round) {
    WorkTimes building, searching;
    BuildOptions build = options(run.engine);
    build.times = &building;
    SearchOptions search;
    search.times = &searching;
    const Index index = Index::build(set.view(), build);
    if (run.is_self) {
      index.knn_self(run.k, search);
    } else {
      index.knn(others.view(), run.k, search);
    }
    run.build_ms = std::min(run.build_ms, without_copies(building));
    run.search_ms = std::min(run.search_ms, without_copies(searching));
  }
}

}  // namespace kith::cli
