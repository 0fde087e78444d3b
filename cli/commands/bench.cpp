// kith bench: times a small fixed suite of searches on made-up points.
#include "commands/all_commands.hpp"

#include "commands/bench_cases.hpp"
#include "commands/bench_earlier.hpp"
#include "input_flags.hpp"
#include "output_flags.hpp"
#include "own_files.hpp"
#include "prepared_search.hpp"
#include "profile_flag.hpp"
#include "readable.hpp"
#include "report/bench_report.hpp"
#include "report/report_flag.hpp"
#include "search_flags.hpp"
#include "standard_output.hpp"
#include "terminal_progress.hpp"

#include <kith/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace kith::cli {
namespace {

using nlohmann::ordered_json;

struct BenchFlags {
  BenchRun run;
  std::string compare;  ///< what --json printed earlier; empty: nothing
  std::string report;   ///< a page that shows the result; empty: none
  OutputFlags output;
};

std::string heading(bool compares) {
  return fmt::format("{:>8} {:>8} {:>5} {:>4} {:>6} {:>7} {:>10} {:>10} {:>9} {:>11}{}\n", "points", "queries", "dims",
                     "k", "dtype", "engine", "build ms", "query ms", "ns/pair", "queries/s",
                     compares ? fmt::format(" {:>10} {:>7}", "earlier ms", "faster") : "");
}

/// The earlier time of the search, and how many times as fast it is now.
std::string comparison(const Timing& timing, const EarlierBench& earlier) {
  const Timing* then = earlier.find(timing.setting);
  if (then == nullptr) return fmt::format(" {:>10} {:>7}", "-", "-");
  return fmt::format(" {:>10.1f} {:>6.2f}x", then->query_ms, then->query_ms / timing.query_ms);
}

std::string row_of(const Timing& timing, const std::optional<EarlierBench>& earlier) {
  const BenchCase& setting = timing.setting;
  return fmt::format("{:>8} {:>8} {:>5} {:>4} {:>6} {:>7} {:>10.2f} {:>10.1f} {:>9.3f} {:>11.0f}{}\n", setting.points,
                     setting.queries, setting.dims, setting.k, name_of(setting.dtype), name_of(timing.engine),
                     timing.build_ms, timing.query_ms, timing.nanoseconds_per_pair(), timing.queries_per_second(),
                     earlier ? comparison(timing, *earlier) : "");
}

ordered_json json_of_all(const std::vector<Timing>& timings, const std::optional<EarlierBench>& earlier) {
  ordered_json all = ordered_json::array();
  for (const Timing& timing : timings) {
    ordered_json one = json_of(timing);
    const Timing* then = earlier ? earlier->find(timing.setting) : nullptr;
    if (then != nullptr) {
      one["earlier_build_ms"] = then->build_ms;
      one["earlier_query_ms"] = then->query_ms;
    }
    all.push_back(std::move(one));
  }
  return all;
}

int run_bench(const BenchFlags& flags) {
  require_own_files({{"--report", flags.report}}, {flags.compare});
  std::optional<EarlierBench> earlier;
  if (!flags.compare.empty()) earlier = read_earlier_bench(flags.compare);
  TerminalProgress progress(flags.output.quiet);
  DoneBench done{.run = flags.run, .threads = threads_in_use(flags.run.build.threads), .earlier = earlier};
  if (!flags.output.json) write_to_stdout(heading(earlier.has_value()));
  for (const BenchCase& setting : bench_suite(flags.run.quick)) {
    done.suite.push_back(time_case(setting, flags.run, progress));
    progress.erase();
    if (!flags.output.json) write_to_stdout(row_of(done.suite.back(), earlier));
  }
  if (!flags.report.empty()) {
    for (const BenchCase& setting : growing_cases(flags.run.quick)) {
      done.sizes.push_back(time_case(setting, flags.run, progress));
    }
    progress.erase();
    done.copied_bytes_per_second = copied_bytes_per_second(done.threads);
  }
  if (flags.output.json) {
    ordered_json report = {{"version", KITH_VERSION},
                           {"threads", done.threads},
                           {"quick", flags.run.quick},
                           {"seed", flags.run.seed},
                           {"cases", json_of_all(done.suite, earlier)}};
    if (!flags.report.empty()) {
      report["sizes"] = json_of_all(done.sizes, earlier);
      report["copied_bytes_per_second"] = done.copied_bytes_per_second;
    }
    write_to_stdout(report.dump(2) + "\n");
  }
  flags.output.summary(fmt::format("kith {}, {}, uniform points, best of {} rounds", KITH_VERSION,
                                   counted(static_cast<std::uint64_t>(done.threads), "thread"), flags.run.rounds()));
  if (!flags.report.empty()) write_bench_report(flags.report, done, flags.output);
  return 0;
}

}  // namespace

Command bench_command() {
  const auto flags = std::make_shared<BenchFlags>();
  Command command;
  command.name = "bench";
  command.summary = "time a small fixed suite of searches";
  command.synopsis = "[--quick] [--compare FILE] [--json] [--report FILE] [flags]";
  command.description =
      "Generates uniform points and times building an index and searching it, for a few sizes, dimensions, values of k "
      "and both types. Use it to compare machines, thread counts and versions.";
  command.groups = {
      {"What to run",
       {{"--quick", "", "a smaller suite, about a fortieth of the work", &flags->run.quick},
        engine_flag(flags->run.build.engine),
        device_flag(flags->run.build.device),
        threads_flag([flags](int threads) { flags->run.build.threads = threads; }),
        seed_flag(flags->run.seed, "seed for the points; 1 by default")}},
      {"Result",
       {{"--compare", "FILE", "show beside each time the one in this file, which kith bench --json printed earlier",
         &flags->compare},
        report_flag(flags->report,
                    "write a page for a browser, for which a row of sizes is timed as well, and how fast memory is"),
        json_flag(flags->output, "print JSON instead of a table"),
        quiet_flag(flags->output)}}};
  command.examples = {{"takes a second or two", "kith bench --quick"},
                      {"one thread, as JSON", "kith bench --threads 1 --json > bench.json"},
                      {"compared with that, as a page", "kith bench --compare bench.json --report bench.html"}};
  command.run = [flags] { return run_bench(*flags); };
  add_profile_flag(command, flags->output);
  return command;
}

}  // namespace kith::cli
