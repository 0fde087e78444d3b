// kith bench: times a small fixed suite of searches on made-up points.
#include "commands/all_commands.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "output_flags.hpp"
#include "prepared_search.hpp"
#include "profile_flag.hpp"
#include "readable.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/generate.hpp>
#include <kith/index.hpp>
#include <kith/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

namespace kith::cli {
namespace {

using nlohmann::ordered_json;

/// One search of the suite: uniform points and as many queries of the same kind.
struct Case {
  std::uint64_t points;
  std::uint64_t queries;
  std::uint32_t dims;
  std::uint32_t k;
  DType dtype;
};

struct Timing {
  Case setting{};
  Engine engine = Engine::automatic;
  Device device;
  double build_ms = 0;
  double query_ms = 0;

  double pairs() const { return static_cast<double>(setting.points) * static_cast<double>(setting.queries); }
  double nanoseconds_per_pair() const { return query_ms * 1e6 / pairs(); }
  double queries_per_second() const { return static_cast<double>(setting.queries) / (query_ms / 1e3); }
};

struct BenchFlags {
  bool quick = false;
  std::uint64_t seed = 1;
  BuildOptions build;
  OutputFlags output;
};

/// The axes: few and many dims, small and large k, both types. A second or two each on two cores.
std::vector<Case> suite(bool quick) {
  std::vector<Case> cases = {{100000, 10000, 2, 1, DType::f32}, {100000, 10000, 3, 8, DType::f32},
                             {100000, 10000, 3, 8, DType::f64}, {100000, 2000, 3, 100, DType::f32},
                             {100000, 4000, 16, 8, DType::f32}, {20000, 4000, 128, 8, DType::f32},
                             {20000, 2000, 128, 8, DType::f64}, {10000, 1000, 784, 1, DType::f32}};
  if (quick) {
    for (Case& one : cases) {
      one.points /= 10;
      one.queries /= 4;
    }
  }
  return cases;
}

PointSet made_up_points(const Case& setting, std::uint64_t rows, std::uint64_t seed, int threads) {
  apps::GenerateOptions options;
  options.points = rows;
  options.dims = setting.dims;
  options.dtype = setting.dtype;
  options.seed = seed;
  options.threads = threads;
  return apps::generate(options).points;
}

Timing time_case(const Case& setting, const BenchFlags& flags, TerminalProgress& progress) {
  const PointSet points = made_up_points(setting, setting.points, flags.seed, flags.build.threads);
  const PointSet queries = made_up_points(setting, setting.queries, flags.seed + 1, flags.build.threads);
  BuildOptions build = flags.build;
  build.progress = progress.callback();
  SearchOptions search;
  search.threads = flags.build.threads;
  search.progress = progress.callback();

  Timing best;
  best.setting = setting;
  best.build_ms = best.query_ms = std::numeric_limits<double>::infinity();
  const int rounds = flags.quick ? 2 : 3;  // the best of them: other work on the machine only ever adds time
  for (int round = 0; round < rounds; ++round) {
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

ordered_json json_of(const Timing& timing) {
  const Case& setting = timing.setting;
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

std::string heading() {
  return fmt::format("{:>8} {:>8} {:>5} {:>4} {:>6} {:>7} {:>10} {:>10} {:>9} {:>11}\n", "points", "queries", "dims",
                     "k", "dtype", "engine", "build ms", "query ms", "ns/pair", "queries/s");
}

std::string row_of(const Timing& timing) {
  const Case& setting = timing.setting;
  return fmt::format("{:>8} {:>8} {:>5} {:>4} {:>6} {:>7} {:>10.2f} {:>10.1f} {:>9.3f} {:>11.0f}\n", setting.points,
                     setting.queries, setting.dims, setting.k, name_of(setting.dtype), name_of(timing.engine),
                     timing.build_ms, timing.query_ms, timing.nanoseconds_per_pair(), timing.queries_per_second());
}

int run_bench(const BenchFlags& flags) {
  TerminalProgress progress(flags.output.quiet);
  ordered_json cases = ordered_json::array();
  if (!flags.output.json) write_to_stdout(heading());
  for (const Case& setting : suite(flags.quick)) {
    const Timing timing = time_case(setting, flags, progress);
    progress.erase();
    cases.push_back(json_of(timing));
    if (!flags.output.json) write_to_stdout(row_of(timing));
  }
  const int threads = threads_in_use(flags.build.threads);
  if (flags.output.json) {
    const ordered_json report = {{"version", KITH_VERSION},
                                 {"threads", threads},
                                 {"quick", flags.quick},
                                 {"seed", flags.seed},
                                 {"cases", cases}};
    write_to_stdout(report.dump(2) + "\n");
  }
  flags.output.summary(fmt::format("kith {}, {}, uniform points, best of {} rounds", KITH_VERSION,
                                   counted(static_cast<std::uint64_t>(threads), "thread"), flags.quick ? 2 : 3));
  return 0;
}

}  // namespace

Command bench_command() {
  const auto flags = std::make_shared<BenchFlags>();
  Command command;
  command.name = "bench";
  command.summary = "time a small fixed suite of searches";
  command.synopsis = "[--quick] [--json] [flags]";
  command.description =
      "Generates uniform points and times building an index and searching it, for a few sizes, dimensions, values of k "
      "and both types. Use it to compare machines, thread counts and versions.";
  command.groups = {{"What to run",
                     {{"--quick", "", "a smaller suite, about a fortieth of the work", &flags->quick},
                      engine_flag(flags->build.engine),
                      device_flag(flags->build.device),
                      threads_flag([flags](int threads) { flags->build.threads = threads; }),
                      seed_flag(flags->seed, "seed for the points; 1 by default")}},
                    {"Result", {json_flag(flags->output, "print JSON instead of a table"), quiet_flag(flags->output)}}};
  command.examples = {{"takes a second or two", "kith bench --quick"},
                      {"one thread, as JSON", "kith bench --threads 1 --json > bench.json"}};
  command.run = [flags] { return run_bench(*flags); };
  add_profile_flag(command, flags->output);
  return command;
}

}  // namespace kith::cli
