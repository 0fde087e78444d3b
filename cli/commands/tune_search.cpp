// See tune_search.hpp. For each number there are some values and some pieces of work whose time depends on it. Values
// take turns; then the best one and the built-in one take turns again, and it must win clearly.
#include "commands/tune_search.hpp"

#include "interrupt.hpp"
#include "stopwatch.hpp"

#include <kith/apps/generate.hpp>
#include <kith/apps/take_rows.hpp>
#include <kith/index.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

namespace kith::cli {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// A value must take this share of the built-in one's time or less, by the minima of all rounds and in most rounds; in
/// no single piece of work may it take longer by as much. Of the rounds it may lose one in six. At first, when there
/// are few times, only what is much slower somewhere is left out.
constexpr double kClearly = 0.97, kMuch = 0.9;
constexpr std::size_t kFewestRounds = 7, kRoundsPerLoss = 6;
/// A k like many.
constexpr std::uint32_t kNeighbors = 8;

/// Does something and returns the milliseconds that count.
using Work = std::function<double()>;
using Points = std::shared_ptr<const PointSet>;

/// A number, the values to try, and the work whose time depends on it: of cut-offs, work just above the values, where
/// the other path gains least.
struct Trial {
  std::string_view name;
  std::vector<std::uint64_t> values;
  std::vector<Work> work;
};

const TunedValue& value_named(std::string_view name) {
  const auto values = tuned_values();
  return *std::find_if(values.begin(), values.end(), [&](const TunedValue& value) { return value.name == name; });
}

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

/// The points and the pieces of work.
class Bench {
 public:
  /// Makes points and indexes, which takes a moment.
  using Maker = Trial (Bench::*)() const;

  Bench(const PointSet& data, Device device) : data_(data), device_(device) {}

  std::vector<Maker> trials() const;
  /// What `kith plan` estimates by, the most usual jobs first.
  std::vector<TimedRun> runs_to_time() const;
  void time(TimedRun& run) const;

 private:
  Trial presort_points() const;
  Trial tree_points() const;
  Trial scanned_coordinates() const;
  Trial groups_per_task() const;
  Trial scan_block_bytes() const;
  Trial thread_nanoseconds() const;
  Trial split_records() const;
  Trial gpu_points() const;
  Trial gpu_scan_queries() const;
  Trial gpu_packet_queries() const;
  Trial gpu_ordered_queries() const;
  Trial gpu_half_sum_pairs() const;

  /// Of the user's rows, spread evenly, if they have these dims; else uniform. Queries are other rows than points.
  Points points(std::uint64_t count, std::uint32_t dims, std::uint64_t seed = 1, DType dtype = DType::f32) const {
    if (data_.dims() == dims && data_.rows() >= count && data_.dtype() == dtype) {
      std::vector<std::uint32_t> rows(count);
      for (std::uint64_t i = 0; i < count; ++i) {
        rows[i] = static_cast<std::uint32_t>(((2 * i + seed - 1) * data_.rows() / (2 * count)) % data_.rows());
      }
      return std::make_shared<const PointSet>(apps::take_rows(data_.view(), rows));
    }
    apps::GenerateOptions options;
    options.points = count;
    options.dims = dims;
    options.dtype = dtype;
    options.seed = seed;
    return std::make_shared<const PointSet>(apps::generate(options).points);
  }
  Points queries(std::uint64_t count, std::uint32_t dims, DType dtype = DType::f32) const {
    return points(count, dims, 2, dtype);
  }
  /// Dims that a tree takes, and those of a scan: the user's, if they are such.
  std::uint32_t tree_dims() const { return data_.dims() >= 1 && data_.dims() <= 5 ? data_.dims() : 3; }
  std::uint32_t scan_dims() const { return data_.dims() > 5 ? data_.dims() : 16; }

  BuildOptions options(Engine engine, std::uint64_t queries = 0) const {
    BuildOptions build;
    build.engine = engine;
    build.device = device_;
    build.expected_queries = queries;
    return build;
  }
  Work search(Engine engine, const Points& set, const Points& queries, int times = 1) const {
    return [index = Index::build(set->view(), options(engine)), queries, times] {
      return milliseconds_of([&] { index.knn(queries->view(), kNeighbors); }, times);
    };
  }
  Work self_search(const Points& set) const {
    return [index = Index::build(set->view(), options(Engine::kd_tree))] {
      return milliseconds_of([&] { index.knn_self(kNeighbors); });
    };
  }
  Work build(const Points& set, int times = 1) const {
    return [this, set, times] {
      return milliseconds_of([&] { Index::build(set->view(), options(Engine::kd_tree)); }, times);
    };
  }
  /// Builds whatever `auto` takes for so many queries, and searches it.
  Work build_and_search(const Points& set, const Points& queries) const {
    return [this, set, queries] {
      return milliseconds_of([&] {
        Index::build(set->view(), options(Engine::automatic, queries->rows())).knn(queries->view(), kNeighbors);
      });
    };
  }

  const PointSet& data_;
  Device device_;
};

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
      build.device = Device::automatic();
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
  run.build_ms = run.search_ms = kNever;
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

/// Runs trials one after the other, each with what the ones before it found.
class Tuner {
 public:
  Tuner(double seconds, TerminalProgress& progress) : limit_ms_(seconds * 1000), report_(progress.callback()) {}

  /// Takes about `share` of the time that is left.
  Finding run(const Trial& trial, double share);
  const Tuning& found() const { return found_; }
  /// Tells how far it is; throws Interrupted.
  void report() const {
    const auto total = static_cast<std::uint64_t>(limit_ms_);
    report_({"tuning", std::min(static_cast<std::uint64_t>(watch_.milliseconds()), total), total});
    stop_if_interrupted();
  }
  double left_ms() const { return limit_ms_ - watch_.milliseconds(); }

 private:
  using Times = std::vector<double>;  ///< of each piece of work

  /// Lowers `best` to what each piece of work takes now, and returns the sum; without limit when the trial's time is
  /// over.
  double measure(const Trial& trial, const TunedValue& value, std::uint64_t number, Times& best) const;
  static double sum(const Times& times) {
    double all = 0;
    for (const double ms : times) all += ms;
    return all;
  }
  static bool is_slower_anywhere(const Times& times, const Times& than, double share) {
    for (std::size_t w = 0; w < times.size(); ++w) {
      if (times[w] * share > than[w]) return true;
    }
    return false;
  }
  bool wins(const Trial& trial, const TunedValue& value, std::uint64_t number, double until_ms, Finding& finding);

  bool is_over() const { return watch_.milliseconds() >= end_ms_; }

  double limit_ms_;
  double end_ms_ = 0;  ///< of the trial that runs, at the latest
  Stopwatch watch_;
  ProgressCallback report_;
  Tuning found_;
};

double Tuner::measure(const Trial& trial, const TunedValue& value, std::uint64_t number, Times& best) const {
  Tuning values = found_;
  values.*value.member = number;
  use_tuning(values);
  double all = 0;
  for (std::size_t w = 0; w < trial.work.size(); ++w) {
    if (is_over()) return kNever;
    const double ms = trial.work[w]();
    best[w] = std::min(best[w], ms);
    all += ms;
    report();
  }
  return all;
}

/// Against the built-in number, by fresh times.
bool Tuner::wins(const Trial& trial, const TunedValue& value, std::uint64_t number, double until_ms, Finding& finding) {
  Times built_in(trial.work.size(), kNever), other = built_in;
  std::vector<double> ratios;
  while (ratios.size() < kFewestRounds || watch_.milliseconds() < until_ms) {
    const double before = measure(trial, value, finding.built_in(), built_in);
    const double after = measure(trial, value, number, other);
    if (is_over()) break;
    ratios.push_back(after / before);
  }
  if (ratios.size() < kFewestRounds) return false;
  std::sort(ratios.begin(), ratios.end());
  finding.before_ms = finding.after_ms = sum(built_in);
  if (is_slower_anywhere(other, built_in, kClearly) || sum(other) > kClearly * sum(built_in)) return false;
  if (ratios[ratios.size() / 2] > kClearly || ratios[ratios.size() - 1 - ratios.size() / kRoundsPerLoss] >= 1)
    return false;
  finding.after_ms = sum(other);
  return true;
}

Finding Tuner::run(const Trial& trial, double share) {
  const TunedValue& value = value_named(trial.name);
  Finding finding{&value, Tuning{}.*value.member, 0, 0};
  const double start_ms = watch_.milliseconds(), share_ms = left_ms() * share;
  end_ms_ = start_ms + std::min(2 * share_ms, left_ms());  // rounds that have begun may take some of the next share
  std::vector<Times> times(trial.values.size(), Times(trial.work.size(), kNever));
  do {
    for (std::size_t v = 0; v < trial.values.size(); ++v) measure(trial, value, trial.values[v], times[v]);
  } while (watch_.milliseconds() - start_ms < share_ms / 2 && !is_over());
  if (is_over()) return finding;

  const auto built_in = std::find(trial.values.begin(), trial.values.end(), finding.tuned) - trial.values.begin();
  // The least product of all times: each piece of work counts alike.
  const auto score = [&](const Times& all) {
    if (is_slower_anywhere(all, times[built_in], kMuch)) return kNever;
    double logarithms = 0;
    for (const double ms : all) logarithms += std::log(ms);
    return logarithms;
  };
  const auto best =
      std::min_element(times.begin(), times.end(), [&](const Times& a, const Times& b) { return score(a) < score(b); });
  finding.before_ms = finding.after_ms = sum(times[built_in]);
  const std::uint64_t candidate = trial.values[best - times.begin()];
  if (candidate != finding.tuned && wins(trial, value, candidate, start_ms + share_ms, finding)) {
    finding.tuned = candidate;
    found_.*value.member = candidate;
  }
  return finding;
}

/// Built-in numbers again, whatever happens.
struct BuiltInAfterwards {
  ~BuiltInAfterwards() { use_profile("none"); }
};

std::string name_of_gpu(Device device) {
  for (const DeviceInfo& info : available_devices()) {
    if (info.device == device) return info.name;
  }
  return {};
}

}  // namespace

Tuned tune(const TuneRequest& request, TerminalProgress& progress) {
  use_profile("none");
  const BuiltInAfterwards afterwards;
  Tuner tuner(request.seconds, progress);
  const Bench bench(request.data, request.device);
  Tuned tuned{profile_of_cpu(), {}};
  const std::vector<Bench::Maker> trials = bench.trials();
  const double turns = static_cast<double>(trials.size()) + 1;  // the last one is for the times
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const double share = 1 / (turns - static_cast<double>(t));
    tuned.findings.push_back(tuner.run((bench.*trials[t])(), share));
  }
  use_tuning(tuner.found());
  for (TimedRun& run : bench.runs_to_time()) {
    if (tuner.left_ms() <= 0) break;
    bench.time(run);
    tuned.profile.times.push_back(run);
    tuner.report();
  }
  tuned.profile.values = tuner.found();
  if (request.device.kind() == Device::Kind::cuda) {
    tuned.profile.is_gpu = true;
    tuned.profile.name = name_of_gpu(request.device);
    tuned.profile.threads = 0;
  }
  return tuned;
}

}  // namespace kith::cli
