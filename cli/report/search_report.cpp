// See search_report.hpp.
#include "report/search_report.hpp"

#include "readable.hpp"
#include "report/distribution.hpp"
#include "report/shown.hpp"
#include "report/spread_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace kith::cli {
namespace {

using nlohmann::ordered_json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string subject_of(const SearchFlags& flags) {
  return flags.self() ? fmt::format("the points of {} among themselves", input_name(flags.points_path))
                      : fmt::format("{} among {}", input_name(flags.queries_path), input_name(flags.points_path));
}

Cell cell_of(const std::string& key, const ordered_json& value) {
  if (key.ends_with("_bytes")) {
    return {.shown = readable_bytes(value.get<double>()), .copied = value.dump(), .is_number = true};
  }
  if (value.is_boolean()) return cell(value.get<bool>() ? "yes" : "no");
  if (value.is_number_unsigned()) return count_cell(value.get<std::uint64_t>());
  if (value.is_number()) return number_cell(value.get<double>());
  if (value.is_string()) return cell(value.get<std::string>());
  return cell(value.dump());
}

/// What --json says of the search, but for times, which are a chart.
Markup facts_of(const ordered_json& facts) {
  std::vector<std::pair<std::string, Cell>> rows;
  for (const auto& [key, value] : facts.items()) {
    if (key.ends_with("_ms") || key == "gpu") continue;
    std::string name = key;
    std::ranges::replace(name, '_', ' ');
    rows.emplace_back(name, cell_of(key, value));
  }
  return facts_table("What was searched, and how", rows);
}

KeyFigure time_figure(const DoneSearch& done, std::uint64_t queries) {
  const double ms = done.times.search.total_ms;
  return {
      "Search", readable_duration(ms),
      ms > 0 ? fmt::format("{} queries per second", readable_quantity(static_cast<double>(queries) / ms * 1000)) : ""};
}

KeyFigure alone_figure(std::uint64_t alone, std::uint64_t queries) {
  const double share = queries == 0 ? 0 : static_cast<double>(alone) / static_cast<double>(queries);
  return {"Without neighbours", shown_count(alone),
          queries == 0 ? "" : fmt::format("{} of the queries", shown_share(share))};
}

ReportPage page_of(const DoneSearch& done) {
  ReportPage page(done.command, subject_of(done.flags));
  if (!done.skipped.empty()) page.note(done.skipped + ".");
  return page;
}

/// Sections that all searches end with.
void finish(const std::string& path, const DoneSearch& done, ReportPage& page) {
  page.section("How it ran", side_by_side(times_chart(done.times.stages()) + facts_of(done.facts)));
  page.folded("Why this way", explanation_lines(done.explanation));
  write_report(path, page, done.flags.output);
}

/// "squared distance" where that was asked for; of inner products what the result has.
std::string distance_name(const DoneSearch& done) {
  if (done.flags.search.squared) return "squared distance";
  if (done.facts.value("metric", "") == "ip") return "negative inner product";
  return "distance";
}

bool has_whole_distances(const DoneSearch& done) {
  const std::string metric = done.facts.value("metric", "");
  return metric == "hamming" || metric == "edit";
}

/// Whether each point finds itself first, which says nothing.
bool finds_itself(const DoneSearch& done) {
  return done.flags.self() && !done.flags.search.exclude_self && !done.flags.search.earlier_only;
}

constexpr const char* kItself = "Each point is its own nearest neighbour here; --exclude-self leaves it out.";

}  // namespace

void write_search_report(const std::string& path, const DoneSearch& done, const Neighbors& found) {
  const std::uint64_t queries = found.queries();
  const std::uint32_t k = found.k();
  const Distances& distances = found.distances();
  const auto ranked = [&](std::uint32_t rank) {
    return [&found, rank](std::uint64_t query) {
      return found.index(query, rank) == found.missing() ? kInfinity : found.distance(query, rank);
    };
  };
  const bool is_whole = has_whole_distances(done);
  const auto spread = [&](std::uint32_t rank) { return distribution_of(k == 0 ? 0 : queries, ranked(rank), is_whole); };
  const Distribution nearest = spread(0), farthest = spread(k == 0 ? 0 : k - 1);
  const Distribution all = distribution_of(
      distances.size(),
      [&](std::uint64_t i) { return found.indices()[i] == found.missing() ? kInfinity : distances.at(i); }, is_whole);

  ReportPage page = page_of(done);
  const std::string kth = ordinal(k);
  std::vector<KeyFigure> figures = {{"Queries", shown_count(queries)},
                                    {"Points", shown_count(done.facts.at("points").get<std::uint64_t>())},
                                    {"Neighbours of each", shown_count(k)},
                                    {"Median of the nearest", shown(nearest.percentiles[3])},
                                    alone_figure(k == 0 ? queries : nearest.infinite, queries),
                                    time_figure(done, queries)};
  if (done.facts.contains("certified")) {
    const auto certified = done.facts.at("certified").get<std::uint64_t>();
    figures.push_back({"Certified exact", shown_count(certified),
                       fmt::format("of {}, approximate", shown_count(queries, "answer", "answers"))});
  }
  page.key_figures(figures);
  if (finds_itself(done) && k > 0 && queries > 0) page.note(kItself);

  const std::string name = distance_name(done);
  Markup charts = histogram({"To the nearest neighbour", name, "queries"}, nearest, is_whole);
  std::vector<NamedSpread> spreads = {{"nearest", nearest}};
  if (k > 1) {
    charts += histogram({fmt::format("To the {} neighbour", kth), name, "queries"}, farthest, is_whole);
    charts += histogram({"To all neighbours", name, "neighbours"}, all, is_whole);
    spreads.push_back({kth, farthest});
    spreads.push_back({"all", all});
  }
  if (k > 2 && queries > 0) {
    Series means{"mean", {}};
    const std::uint32_t step = std::max(1u, k / 100);
    for (std::uint32_t rank = 0; rank < k; rank += step) {
      double sum = 0;
      std::uint64_t there = 0;
      for (std::uint64_t query = 0; query < queries; ++query) {
        const double distance = ranked(rank)(query);
        if (std::isinf(distance)) continue;
        sum += distance;
        ++there;
      }
      if (there == 0) break;
      const double mean = sum / static_cast<double>(there);
      means.points.push_back({rank + 1.0, mean, fmt::format("neighbour {}: {}", rank + 1, shown(mean))});
    }
    charts += line_chart({"Mean distance by rank", "rank of the neighbour", "mean " + name}, {&means, 1},
                         {.from_zero = true, .has_whole_x = true});
  }
  page.section("How far neighbours are", side_by_side(charts) + spread_table("Percentiles", spreads));
  finish(path, done, page);
}

void write_search_report(const std::string& path, const DoneSearch& done, const NeighborLists& found) {
  const std::uint64_t queries = found.queries();
  const bool is_whole = has_whole_distances(done);
  const Distribution counts = distribution_of(
      queries, [&](std::uint64_t query) { return static_cast<double>(found.count(query)); }, true);
  const auto has_none = [&](std::uint64_t query) { return found.count(query) == 0; };
  const Distribution nearest = distribution_of(
      queries, [&](std::uint64_t query) { return has_none(query) ? kInfinity : found.distance(query, 0); }, is_whole);
  const Distances& distances = found.distances();
  const Distribution all = distribution_of(
      distances.size(), [&](std::uint64_t i) { return distances.at(i); }, is_whole);

  ReportPage page = page_of(done);
  const KeyFigure figures[] = {
      {"Queries", shown_count(queries)},
      {"Points", shown_count(found.points())},
      {"Neighbours", shown_count(found.indices().size()), fmt::format("{} per query", shown(counts.mean))},
      {"Most of one query", shown(counts.most)},
      alone_figure(nearest.infinite, queries),
      time_figure(done, queries)};
  page.key_figures(figures);
  if (finds_itself(done) && queries > 0) page.note(kItself);
  const std::string name = distance_name(done);
  const NamedSpread spreads[] = {{"neighbours of a query", counts}, {"nearest", nearest}, {"all distances", all}};
  page.section("How many there are, and how far",
               side_by_side(histogram({"Neighbours of a query", "neighbours", "queries"}, counts, true) +
                            histogram({"To all neighbours", name, "neighbours"}, all, is_whole) +
                            histogram({"To the nearest neighbour", name, "queries"}, nearest, is_whole)) +
                   spread_table("Percentiles", spreads));
  finish(path, done, page);
}

void write_search_report(const std::string& path, const DoneSearch& done, const std::vector<std::uint32_t>& found) {
  const Distribution counts = distribution_of(
      found.size(), [&](std::uint64_t query) { return static_cast<double>(found[query]); }, true);
  const auto alone = static_cast<std::uint64_t>(std::ranges::count(found, 0u));
  ReportPage page = page_of(done);
  const KeyFigure figures[] = {{"Queries", shown_count(found.size())},
                               {"Points", shown_count(done.facts.at("points").get<std::uint64_t>())},
                               {"Neighbours", shown_count(done.facts.at("neighbors").get<std::uint64_t>()),
                                fmt::format("{} per query", shown(counts.mean))},
                               {"Most of one query", shown(counts.most)},
                               alone_figure(alone, found.size()),
                               time_figure(done, found.size())};
  page.key_figures(figures);
  if (finds_itself(done) && !found.empty()) page.note("Each point counts itself; --exclude-self leaves it out.");
  const NamedSpread spreads[] = {{"neighbours of a query", counts}};
  page.section("How many there are",
               side_by_side(histogram({"Neighbours of a query", "neighbours", "queries"}, counts, true) +
                            spread_table("Percentiles", spreads)));
  finish(path, done, page);
}

}  // namespace kith::cli
