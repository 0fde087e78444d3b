// See bench_report.hpp.
#include "report/bench_report.hpp"

#include "readable.hpp"
#include "report/report_page.hpp"
#include "report/shown.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace kith::cli {
namespace {

std::string name_of_case(const BenchCase& one) {
  return fmt::format("{} dims, k {}, {}", one.dims, one.k, name_of(one.dtype));
}

/// How many times as fast as earlier: "1.25x".
Cell faster_cell(double earlier_ms, double ms) {
  Cell cell = number_cell(earlier_ms / ms);
  cell.shown = fmt::format("{:.2f}x", earlier_ms / ms);
  cell.is_marked = earlier_ms / ms > 1.1 || earlier_ms / ms < 0.9;
  return cell;
}

Markup timings_table(const std::string& caption, std::span<const Timing> timings,
                     const std::optional<EarlierBench>& earlier) {
  std::vector<std::string> columns = {"points", "queries", "dims",   "k",        "type",
                                      "engine", "build",   "search", "queries/s"};
  if (earlier) columns.insert(columns.end(), {"build earlier", "faster", "search earlier", "faster"});
  Table table(caption, columns);
  for (const Timing& timing : timings) {
    const BenchCase& one = timing.setting;
    std::vector<Cell> row = {count_cell(one.points),
                             count_cell(one.queries),
                             count_cell(one.dims),
                             count_cell(one.k),
                             cell(name_of(one.dtype)),
                             cell(name_of(timing.engine)),
                             duration_cell(timing.build_ms),
                             duration_cell(timing.query_ms),
                             number_cell(timing.queries_per_second())};
    row.back().shown = shown_count(static_cast<std::uint64_t>(std::llround(timing.queries_per_second())));
    const Timing* then = earlier ? earlier->find(one) : nullptr;
    if (then != nullptr) {
      row.insert(row.end(), {duration_cell(then->build_ms), faster_cell(then->build_ms, timing.build_ms),
                             duration_cell(then->query_ms), faster_cell(then->query_ms, timing.query_ms)});
    } else if (earlier) {
      row.insert(row.end(), 4, no_number());
    }
    table.add(std::move(row));
  }
  return table.markup();
}

/// Bars of now and, below each, of earlier.
template <typename Value>
Markup suite_bars(const std::string& title, const DoneBench& done, const Value& ms_of) {
  std::vector<Bar> bars;
  for (const Timing& timing : done.suite) {
    bars.push_back({name_of_case(timing.setting), ms_of(timing), readable_duration(ms_of(timing))});
    const Timing* then = done.earlier ? done.earlier->find(timing.setting) : nullptr;
    if (then != nullptr) bars.push_back({"earlier", ms_of(*then), readable_duration(ms_of(*then)), true});
  }
  return bar_chart({title, "", ""}, bars);
}

/// Speed against the number of points; `limit` is what memory allows, 0: not known.
template <typename Value>
Markup speed_chart(const ChartWords& words, const DoneBench& done, const Value& speed_of, double limit) {
  std::vector<Series> series = {{"now", {}}};
  const auto point_of = [&](const Timing& timing) {
    const auto points = static_cast<double>(timing.setting.points);
    return ChartPoint{points, speed_of(timing),
                      fmt::format("{} points: {} per second, {}", shown_count(timing.setting.points),
                                  readable_quantity(speed_of(timing)), name_of(timing.engine))};
  };
  Series before{"earlier", {}};
  for (const Timing& timing : done.sizes) {
    series[0].points.push_back(point_of(timing));
    const Timing* then = done.earlier ? done.earlier->find(timing.setting) : nullptr;
    if (then != nullptr) before.points.push_back(point_of(*then));
  }
  if (!before.points.empty()) series.push_back(std::move(before));
  if (limit > 0 && !done.sizes.empty()) {
    Series line{"limit of memory", {}};
    for (const Timing* end : {&done.sizes.front(), &done.sizes.back()}) {
      line.points.push_back(
          {static_cast<double>(end->setting.points), limit, readable_quantity(limit) + " per second"});
    }
    series.push_back(std::move(line));
  }
  return line_chart(words, series, {.may_bend_x = true, .may_bend_y = true, .from_zero = true});
}

}  // namespace

void write_bench_report(const std::string& path, const DoneBench& done, const OutputFlags& output) {
  ReportPage page("kith bench", done.run.quick ? "the quick suite" : "the suite");
  double build_ms = 0, query_ms = 0, gain = 0;
  std::uint64_t compared = 0;
  for (const Timing& timing : done.suite) {
    build_ms += timing.build_ms;
    query_ms += timing.query_ms;
    const Timing* then = done.earlier ? done.earlier->find(timing.setting) : nullptr;
    if (then == nullptr) continue;
    gain += std::log(then->query_ms / timing.query_ms);
    ++compared;
  }
  std::vector<KeyFigure> figures = {
      {"Threads", shown_count(static_cast<std::uint64_t>(done.threads))},
      {"Builds", readable_duration(build_ms), "all of the suite"},
      {"Searches", readable_duration(query_ms), "all of the suite"},
      {"Memory", readable_bytes(done.copied_bytes_per_second) + "/s", "read and written by copying"}};
  if (compared > 0) {
    const double faster = std::exp(gain / static_cast<double>(compared));
    figures.push_back({"Searches against earlier", fmt::format("{:.2f}x as fast", faster),
                       fmt::format("kith {}, {}; geometric mean of {}", done.earlier->version,
                                   shown_count(static_cast<std::uint64_t>(done.earlier->threads), "thread", "threads"),
                                   shown_count(compared, "case", "cases")),
                       faster >= 1 ? KeyFigure::Mood::good : KeyFigure::Mood::bad});
  }
  page.key_figures(figures);
  if (done.earlier && compared == 0)
    page.note("The earlier file has none of these cases; it is of the other suite, with or without --quick.");
  page.section("The suite", side_by_side(suite_bars("Search", done, [](const Timing& t) { return t.query_ms; }) +
                                         suite_bars("Build", done, [](const Timing& t) { return t.build_ms; })) +
                                timings_table(fmt::format("Uniform points, the best of {} rounds", done.run.rounds()),
                                              done.suite, done.earlier));
  const BenchCase& one = done.sizes.front().setting;
  const bool is_cpu = done.sizes.front().device.kind() == Device::Kind::cpu;
  const double bytes_per_query = one.dims * 4.0 + one.k * 8.0, bytes_per_point = 2 * one.dims * 4.0;
  const auto limit = [&](double bytes) { return is_cpu ? done.copied_bytes_per_second / bytes : 0; };
  page.section(
      "Speed against the number of points",
      side_by_side(speed_chart(
                       {"Search", "points", "queries per second",
                        fmt::format("{}. The limit: {:.0f} bytes per query, read and written once.", name_of_case(one),
                                    bytes_per_query)},
                       done, [](const Timing& t) { return t.queries_per_second(); }, limit(bytes_per_query)) +
                   speed_chart(
                       {"Build", "points", "points per second",
                        fmt::format("The limit: {:.0f} bytes per point, read and written once.", bytes_per_point)},
                       done, [](const Timing& t) { return t.points_per_second(); }, limit(bytes_per_point))) +
          timings_table("Each size", done.sizes, done.earlier));
  const std::pair<std::string, Cell> facts[] = {
      {"engine asked for", cell(name_of(done.run.build.engine))},
      {"device asked for", cell(done.run.build.device.name())},
      {"device of the first case", cell(done.suite.front().device.name())},
      {"threads", count_cell(static_cast<std::uint64_t>(done.threads))},
      {"rounds, of which the best counts", count_cell(static_cast<std::uint64_t>(done.run.rounds()))},
      {"seed", count_cell(done.run.seed)}};
  page.section("How it ran", facts_table("Settings", facts));
  write_report(path, page, output);
}

}  // namespace kith::cli
