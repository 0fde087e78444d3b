// See pairs_report.hpp.
#include "report/pairs_report.hpp"

#include "readable.hpp"
#include "report/pose_words.hpp"
#include "report/register_report.hpp"
#include "report/shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kith::cli {
namespace {

/// Longer tables make a page slow; --out and --json have all rows.
constexpr std::size_t kMostPairRows = 2000;

bool has_converged(const RegisteredClouds& pair) { return pair.result && pair.result->converged(); }

/// Matrices do not tell how many dims the clouds have; a plane's turn is one about z.
std::string turn_text(const apps::Pose& pose) { return shown(parts_of(pose, 3).degrees); }

std::vector<Cell> row_of(std::size_t number, const RegisteredClouds& pair) {
  std::vector<Cell> row = {count_cell(number), cell(pair.pair.source), cell(pair.pair.target)};
  if (!pair.result) {
    row.push_back({.shown = "failed", .is_marked = true});
    row.insert(row.end(), 7, no_number());
    row.push_back(cell(pair.problem));
    return row;
  }
  const apps::Registration& result = *pair.result;
  row.push_back({.shown = result.converged() ? "yes" : "no", .is_marked = !result.converged()});
  row.insert(row.end(), {count_cell(result.iterations.size()), count_cell(result.inliers), share_cell(result.fitness),
                         number_cell(result.inlier_rmse)});
  const PoseParts parts = parts_of(result.transformation, 3);
  row.push_back({.shown = turn_text(result.transformation), .copied = exact_text(parts.degrees), .is_number = true});
  row.push_back(number_cell(length_of(motion_to(result.transformation, result.centre))));
  row.push_back(count_cell(result.weak.size()));
  row.push_back(cell(apps::explain(result.end)));
  return row;
}

template <typename Value>
Distribution spread_of(std::span<const RegisteredClouds> pairs, const Value& value) {
  std::vector<double> values;
  for (const RegisteredClouds& pair : pairs) {
    if (pair.result) values.push_back(value(*pair.result));
  }
  return distribution_of(values.size(), [&](std::uint64_t i) { return values[i]; });
}

}  // namespace

void write_pairs_report(const std::string& path, const std::string& list, std::span<const RegisteredClouds> pairs,
                        double register_ms, const RegistrationFlags& flags) {
  ReportPage page("kith register --pairs", input_name(list));
  const auto converged = static_cast<std::uint64_t>(std::ranges::count_if(pairs, has_converged));
  const auto failed =
      static_cast<std::uint64_t>(std::ranges::count_if(pairs, [](const auto& pair) { return !pair.result; }));
  const Distribution fitness = spread_of(pairs, [](const auto& result) { return 100 * result.fitness; });
  const Distribution rmse = spread_of(pairs, [](const auto& result) { return result.inlier_rmse; });
  using enum KeyFigure::Mood;
  const KeyFigure figures[] = {
      {"Pairs", shown_count(pairs.size())},
      {"Converged", shown_count(converged), "", converged == pairs.size() ? good : bad},
      {"Failed", shown_count(failed), failed > 0 ? "no pose: see the table" : "", failed > 0 ? bad : plain},
      {"Mean fitness", shown_share(fitness.mean / 100)},
      {"Mean inlier RMSE", shown(rmse.mean)},
      {"Time", readable_duration(register_ms), "read and registered"}};
  page.key_figures(figures);

  Table table("Each pair", {"row", "source", "target", "converged", "iterations", "pairs", "fitness", "RMSE", "turn, °",
                            "shift", "weak", "reason"});
  for (std::size_t i = 0; i < std::min(pairs.size(), kMostPairRows); ++i) table.add(row_of(i + 1, pairs[i]));
  if (pairs.size() > kMostPairRows) {
    page.note(fmt::format("The table has the first {} of {}; --out and --json have all.", shown_count(kMostPairRows),
                          shown_count(pairs.size(), "pair", "pairs")));
  }
  page.section("How good they are",
               side_by_side(histogram({"Fitness", "share of points with a match, %", "pairs"}, fitness) +
                            histogram({"Inlier RMSE", "distance", "pairs"}, rmse)));
  page.section("Pairs", table.empty() ? element("p", "The list has no pairs.") : table.markup());
  std::vector<std::string> weak;
  for (std::size_t i = 0; i < std::min(pairs.size(), kMostPairRows); ++i) {
    if (!pairs[i].result) continue;
    for (const std::string& words : weak_texts(*pairs[i].result))
      weak.push_back(fmt::format("row {}: {}", i + 1, words));
  }
  page.folded("Weak directions", sentences(weak));
  page.section("How it ran", registration_options(flags));
  write_report(path, page, flags.output);
}

}  // namespace kith::cli
