// See register_report.hpp.
#include "report/register_report.hpp"

#include "prepared_search.hpp"
#include "readable.hpp"
#include "report/held_directions.hpp"
#include "report/plot_frame.hpp"
#include "report/pose_words.hpp"
#include "report/shown.hpp"
#include "report/two_clouds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace kith::cli {
namespace {

using Facts = std::vector<std::pair<std::string, Cell>>;

std::string counted_points(std::uint64_t count) { return shown_count(count, "point", "points"); }

std::vector<KeyFigure> key_figures(const DoneRegistration& done) {
  const apps::Registration& result = done.result;
  const PoseParts parts = parts_of(result.transformation, done.source_points.dims());
  const std::string iterations = shown_count(result.iterations.size(), "iteration", "iterations");
  using enum KeyFigure::Mood;
  return {
      {"Result", result.converged() ? "Converged" : "Not converged",
       result.converged() ? "after " + iterations : fmt::format("after {}: {}", iterations, apps::explain(result.end)),
       result.converged() ? good : bad},
      {"Fitness", shown_share(result.fitness),
       fmt::format("{} of {} have a match", shown_count(result.inliers), counted_points(done.source_points.rows()))},
      {"Inlier RMSE", shown(result.inlier_rmse), "distance of matches"},
      {"Turn", fmt::format("{}°", shown(std::abs(parts.degrees)))},
      {"Shift of the middle", shown(length_of(motion_to(result.transformation, result.centre)))}};
}

Markup pose_section(const DoneRegistration& done) {
  const apps::Pose& pose = done.result.transformation;
  Table matrix("The matrix that moves the source onto the target", {});
  for (std::uint32_t i = 0; i < 4; ++i) {
    std::vector<Cell> row;
    for (std::uint32_t j = 0; j < 4; ++j) {
      row.push_back({.shown = fmt::format("{:.9g}", pose(i, j)), .copied = exact_text(pose(i, j)), .is_number = true});
    }
    matrix.add(std::move(row));
  }
  return sentences(pose_sentences(pose, done.source_points.dims(), done.result.centre)) + matrix.markup("matrix");
}

/// A series for each stage, over all iterations in turn.
template <typename Value>
std::vector<Series> per_stage(const apps::Registration& result, const Value& value) {
  std::map<std::uint32_t, Series> stages;
  for (std::size_t i = 0; i < result.iterations.size(); ++i) {
    const apps::RegistrationIteration& iteration = result.iterations[i];
    Series& series = stages[iteration.stage];
    series.name = fmt::format("stage {}", iteration.stage + 1);
    series.points.push_back({static_cast<double>(i + 1), value(iteration),
                             fmt::format("iteration {}: {}", i + 1, shown(value(iteration)))});
  }
  std::vector<Series> all;
  for (auto& [stage, series] : stages) all.push_back(std::move(series));
  return all;
}

Markup iteration_charts(const apps::Registration& result) {
  const ChartScales bent{.may_bend_y = true, .from_zero = true, .has_whole_x = true};
  Markup charts = line_chart({"Error that is minimised", "iteration", "root of the mean squared error"},
                             per_stage(result, [](const auto& it) { return it.error; }), bent);
  charts += line_chart({"RMSE of matches", "iteration", "distance"},
                       per_stage(result, [](const auto& it) { return it.inlier_rmse; }), bent);
  charts += line_chart({"Fitness", "iteration", "share of points with a match, %"},
                       per_stage(result, [](const auto& it) { return 100 * it.fitness; }),
                       {.from_zero = true, .has_whole_x = true});
  return charts;
}

Markup iteration_table(const apps::Registration& result) {
  Table table("Before the step of each iteration",
              {"iteration", "stage", "pairs", "fitness", "RMSE", "error", "turned, °", "shifted", "pairs within"});
  for (std::size_t i = 0; i < result.iterations.size(); ++i) {
    const apps::RegistrationIteration& it = result.iterations[i];
    table.add({count_cell(i + 1), count_cell(it.stage + 1), count_cell(it.pairs), share_cell(it.fitness),
               number_cell(it.inlier_rmse), number_cell(it.error), number_cell(it.turned * 180 / std::numbers::pi),
               number_cell(it.shifted), number_cell(it.max_distance)});
  }
  return table.empty() ? Markup() : table.markup();
}

/// The distance of the points of a pair after the motion.
double residual(const DoneRegistration& done, const apps::RegisteredPair& pair) {
  const apps::Pose& pose = done.result.transformation;
  const std::uint32_t dims = done.source_points.dims();
  double squares = 0;
  for (std::uint32_t i = 0; i < dims; ++i) {
    double moved = pose(i, 3);
    for (std::uint32_t j = 0; j < dims; ++j) moved += pose(i, j) * done.source_points.at(pair.source, j);
    const double step = moved - done.target_points.at(pair.target, i);
    squares += step * step;
  }
  return std::sqrt(squares);
}

Markup residual_histogram(const DoneRegistration& done, const RegistrationFlags& flags) {
  const ChartWords words{"Distances of matches", "distance after the motion", "pairs"};
  if (!flags.options.voxels.empty() && flags.options.voxels.back() > 0) {
    ChartWords other = words;
    other.note =
        "The last stage matched means of voxels, whose distances are not kept; end --voxel with 0 to see those of "
        "points.";
    return chart_figure(other, Markup());
  }
  const std::vector<apps::RegisteredPair>& pairs = done.result.pairs;
  return histogram(words, distribution_of(pairs.size(), [&](std::uint64_t i) { return residual(done, pairs[i]); }));
}

Markup information_section(const apps::Registration& result, const FreeUnknowns& free) {
  constexpr const char* kUnknowns[] = {"turn x", "turn y", "turn z", "shift x", "shift y", "shift z"};
  double largest = 0;
  for (const double x : result.information) largest = std::max(largest, std::abs(x));
  Table matrix("Information matrix",
               {"", kUnknowns[0], kUnknowns[1], kUnknowns[2], kUnknowns[3], kUnknowns[4], kUnknowns[5]});
  for (std::size_t i = 0; i < 6; ++i) {
    std::vector<Cell> row = {cell(kUnknowns[i])};
    for (std::size_t j = 0; j < 6; ++j) {
      Cell entry = number_cell(result.information[i * 6 + j]);
      entry.shown = fmt::format("{:.4g}", result.information[i * 6 + j]);
      entry.shade =
          largest > 0 ? static_cast<int>(std::lround(6 * std::abs(result.information[i * 6 + j]) / largest)) : 0;
      row.push_back(std::move(entry));
    }
    matrix.add(std::move(row));
  }
  Markup inside;
  const HeldDirections held = held_directions(result.information, free);
  if (held.directions.empty()) {
    inside += element("p", "No pairs: nothing says how firmly the pose is held.");
  } else {
    inside +=
        element("p", fmt::format("Held best: {}. Held least: {}, {} as firmly. Turns count by the shift that they "
                                 "cause {} from the centre {}.",
                                 held.directions.front().text(), held.directions.back().text(),
                                 shown_share(held.directions.back().relative), shown(held.distance),
                                 fmt::format("({}, {}, {})", shown(result.centre[0]), shown(result.centre[1]),
                                             shown(result.centre[2]))));
    Table table("Directions, held best first", {"direction", "eigenvalue", "of the largest"});
    for (const HeldDirection& direction : held.directions) {
      table.add({cell(direction.text()), number_cell(direction.eigenvalue), share_cell(direction.relative)});
    }
    inside += table.markup();
  }
  const std::vector<std::string> weak = weak_texts(result);
  inside += weak.empty() ? element("p", "No direction is weak.")
                         : element("p", {{"class", "marked"}}, "Weak directions:") + sentences(weak);
  return inside + matrix.markup("matrix");
}

Markup global_section(const apps::Registration& result) {
  if (!result.global) return {};
  const apps::GlobalStart& start = *result.global;
  const Facts facts = {{"found", cell(start.found ? "yes" : "no: the means were put together instead")},
                       {"side of voxels", number_cell(start.voxel)},
                       {"means of voxels, source", count_cell(start.source_points)},
                       {"means of voxels, target", count_cell(start.target_points)},
                       {"matches", count_cell(start.matches)},
                       {"of these consistent", count_cell(start.consistent)},
                       {"overlap", share_cell(start.overlap)},
                       {"overlap of the next best pose", share_cell(start.runner_up)},
                       {"time", duration_cell(start.milliseconds)}};
  Markup inside = facts_table("What the features said", facts);
  if (start.found && start.runner_up > 0.8 * start.overlap) {
    inside = element("p", "The next best pose overlaps nearly as much: either may be right.") + inside;
  }
  return inside;
}

std::string voxels_text(const std::vector<double>& voxels) {
  return voxels.empty() ? "all points" : fmt::format("{}", fmt::join(voxels, ", "));
}

}  // namespace

Markup registration_options(const RegistrationFlags& flags) {
  const apps::RegistrationOptions& options = flags.options;
  Facts facts = {
      {"method", cell(apps::name_of(options.method))},
      {"start", cell(flags.initial_path.empty() ? std::string(apps::name_of(options.initial)) : flags.initial_path)},
      {"pairs within", options.max_distance > 0 ? number_cell(options.max_distance) : cell("adapts")},
      {"share of pairs kept", share_cell(options.keep)},
      {"reciprocal pairs only", cell(options.reciprocal ? "yes" : "no")},
      {"kernel", cell(options.kernel == apps::RobustKernel::none
                          ? std::string("none")
                          : fmt::format("{} at {}", apps::name_of(options.kernel), options.kernel_scale))},
      {"stages by voxels", cell(voxels_text(options.voxels))},
      {"degrees of freedom", cell(fmt::format("{}{}", options.degrees_of_freedom, options.scale ? " and scale" : ""))},
      {"iterations per stage", count_cell(options.max_iterations)},
      {"rotation tolerance, radians", number_cell(options.rotation_tolerance)},
      {"translation tolerance", options.translation_tolerance > 0 ? number_cell(options.translation_tolerance)
                                                                  : cell("1e-6 of the target's diagonal")},
      {"neighbours of a plane", count_cell(options.neighbors)},
      {"device", cell(options.device.name())},
      {"threads", count_cell(static_cast<std::uint64_t>(threads_in_use(options.threads)))}};
  return facts_table("Options", facts);
}

void write_register_report(const std::string& path, const DoneRegistration& done, const RegistrationFlags& flags) {
  const apps::Registration& result = done.result;
  ReportPage page("kith register", fmt::format("{} onto {}", input_name(done.source), input_name(done.target)));
  page.key_figures(key_figures(done));
  for (const std::string& weak : weak_texts(result)) page.note(weak);
  if (result.global && !result.global->found) page.note(global_start_text(*result.global));
  if (result.skipped_source + result.skipped_target > 0) {
    page.note(fmt::format("{} of the source and {} of the target with NaN or infinity were left out.",
                          counted_points(result.skipped_source), shown_count(result.skipped_target)));
  }
  page.section("Before and after", two_clouds(done, flags.options.threads, page));
  page.section("The pose", pose_section(done));
  page.section("How good it is", side_by_side(residual_histogram(done, flags) + iteration_charts(result)));
  page.folded("Each iteration", iteration_table(result));
  page.section("How firmly it is held",
               information_section(result, free_unknowns(flags.options.degrees_of_freedom, done.source_points.dims())));
  page.section("The global start", global_section(result));
  page.section("How it ran", side_by_side(registration_options(flags) + times_chart(done.times)));
  write_report(path, page, flags.output);
}

}  // namespace kith::cli
