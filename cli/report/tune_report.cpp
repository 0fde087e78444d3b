// See tune_report.hpp.
#include "report/tune_report.hpp"

#include "readable.hpp"
#include "report/report_page.hpp"
#include "report/shown.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kith::cli {
namespace {

double gain_of(const Finding& finding) { return 1 - finding.after_ms / finding.before_ms; }
bool is_changed(const Finding& finding) { return finding.tuned != finding.built_in(); }

Markup values_section(const std::vector<Finding>& findings) {
  Table table("Values", {"value", "built in", "tuned", "before", "after", "gain", "meaning"});
  std::vector<Bar> bars;
  for (const Finding& finding : findings) {
    Cell tuned = count_cell(finding.tuned);
    tuned.is_marked = is_changed(finding);
    const bool is_measured = finding.is_measured();
    table.add({cell(finding.value->name), count_cell(finding.built_in()), tuned,
               is_measured ? duration_cell(finding.before_ms) : no_number(),
               is_measured ? duration_cell(finding.after_ms) : no_number(),
               is_measured ? share_cell(gain_of(finding)) : no_number(), cell(finding.value->meaning)});
    if (is_measured) {
      bars.push_back({std::string(finding.value->name), gain_of(finding), shown_share(gain_of(finding))});
    }
  }
  return side_by_side(bar_chart({"Time saved in the work that each value was measured with", "", ""}, bars)) +
         table.markup();
}

Markup times_section(const std::vector<TimedRun>& times) {
  if (times.empty()) return {};
  Table table("Uniform points, all threads",
              {"engine", "type", "dims", "points", "queries", "k", "build", "search", "queries/s"});
  std::vector<Bar> bars;
  for (const TimedRun& run : times) {
    const double per_second = static_cast<double>(run.queries) / (run.search_ms / 1000);
    table.add({cell(name_of(run.engine)),
               cell(name_of(run.dtype)),
               count_cell(run.dims),
               count_cell(run.points),
               count_cell(run.queries),
               count_cell(run.k),
               duration_cell(run.build_ms),
               duration_cell(run.search_ms),
               {.shown = readable_quantity(per_second), .copied = exact_text(per_second), .is_number = true}});
    bars.push_back(
        {fmt::format("{} {}d k {}", name_of(run.engine), run.dims, run.k), per_second, readable_quantity(per_second)});
  }
  return side_by_side(bar_chart({"Queries per second", "", ""}, bars)) + table.markup();
}

}  // namespace

void write_tune_report(const std::string& path, const Tuned& tuned, const std::string& profile,
                       const OutputFlags& output) {
  const auto changed = static_cast<std::uint64_t>(std::ranges::count_if(tuned.findings, is_changed));
  const auto measured = static_cast<std::uint64_t>(
      std::ranges::count_if(tuned.findings, [](const Finding& finding) { return finding.is_measured(); }));
  double best = 0;
  for (const Finding& finding : tuned.findings) {
    if (finding.is_measured()) best = std::max(best, gain_of(finding));
  }
  ReportPage page("kith tune", tuned.profile.name);
  const KeyFigure figures[] = {
      {"Values changed", shown_count(changed), fmt::format("of {}", tuned.findings.size())},
      {"Measured", shown_count(measured), measured < tuned.findings.size() ? "there was no time for the others" : ""},
      {"Largest gain", shown_share(best), "of the work of one value"},
      {"Device", tuned.profile.is_gpu ? "GPU" : "CPU",
       tuned.profile.is_gpu ? ""
                            : shown_count(static_cast<std::uint64_t>(tuned.profile.threads), "thread", "threads")}};
  page.key_figures(figures);
  page.section("What each value gains", values_section(tuned.findings));
  page.section("What kith plan estimates by", times_section(tuned.profile.times));
  const std::pair<std::string, Cell> facts[] = {{"profile written", cell(profile)},
                                                {"device", cell(tuned.profile.name)},
                                                {"version", cell("kith " + tuned.profile.version)}};
  page.section("Where it is kept", facts_table("Profile", facts));
  write_report(path, page, output);
}

}  // namespace kith::cli
