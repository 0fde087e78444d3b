// See classify_page.hpp.
#include "report/classify_page.hpp"

#include "prepared_search.hpp"
#include "report/distribution.hpp"
#include "report/report_page.hpp"
#include "report/shown.hpp"

#include <kith/apps/select_rows.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kith::cli {
namespace {

constexpr std::uint64_t kMostShares = 64'000'000;  // half a GB
constexpr std::size_t kMostContested = 20;
constexpr std::size_t kLargestMatrix = 40;  // of a matrix; longer tables have all
constexpr std::size_t kMostPairs = 30;
constexpr std::size_t kMostClassRows = 1000;
constexpr std::size_t kLongestLabel = 40;
constexpr std::uint64_t kMostDots = 1500;

std::string name_of(const ClassifyInput& input, std::uint32_t label) {
  return shortened(class_name(input, label), kLongestLabel);
}

std::string subject_of(const ClassifyFlags& flags) {
  if (flags.is_class_file()) return input_name(flags.file);
  return flags.classifies() ? fmt::format("{} by {}", flags.test, flags.train) : flags.train;
}

double share_of(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

/// Which row of the test file a query is.
std::uint64_t row_of(const ClassifyInput& input, std::uint64_t query) {
  if (input.query_of_row.empty()) return query;
  const auto row = std::ranges::find(input.query_of_row, static_cast<std::uint32_t>(query));
  return static_cast<std::uint64_t>(row - input.query_of_row.begin());
}

Markup confusion_matrix(const ClassifyInput& input, const LabelVerdict& verdict) {
  std::vector<std::vector<std::uint64_t>> counts(input.names.size(), std::vector<std::uint64_t>(input.classes));
  for (const apps::Confusion& pair : verdict.confusion) counts[pair.truth][pair.predicted] = pair.rows;
  std::vector<std::string> columns = {"truth \\ predicted"};
  for (std::uint32_t label = 0; label < input.classes; ++label) columns.push_back(name_of(input, label));
  columns.push_back("members");
  Table table("Confusion matrix", columns);
  for (std::uint32_t truth = 0; truth < counts.size(); ++truth) {
    const std::uint64_t members = verdict.score.classes[truth].members;
    std::vector<Cell> row = {cell(name_of(input, truth))};
    for (std::uint32_t label = 0; label < input.classes; ++label) {
      Cell one = count_cell(counts[truth][label]);
      one.is_marked = label == truth;
      one.is_muted = counts[truth][label] == 0;
      one.shade = static_cast<int>(std::ceil(9 * share_of(counts[truth][label], members)));
      row.push_back(std::move(one));
    }
    row.push_back(count_cell(members));
    table.add(std::move(row));
  }
  return element("p",
                 "A row per true class, a column per predicted one; the darker, the larger the share of its row.") +
         table.markup("matrix");
}

Markup mixed_up_pairs(const ClassifyInput& input, const LabelVerdict& verdict) {
  std::vector<apps::Confusion> wrong;
  for (const apps::Confusion& pair : verdict.confusion) {
    if (pair.truth != pair.predicted) wrong.push_back(pair);
  }
  if (wrong.empty()) return element("p", "No class is taken for another.");
  std::ranges::stable_sort(wrong, std::ranges::greater(), &apps::Confusion::rows);
  Table table("Most often mixed up", {"truth", "predicted", "rows", "of the true class"});
  for (std::size_t i = 0; i < std::min(wrong.size(), kMostPairs); ++i) {
    const apps::Confusion& pair = wrong[i];
    table.add({cell(name_of(input, pair.truth)), cell(name_of(input, pair.predicted)), count_cell(pair.rows),
               share_cell(share_of(pair.rows, verdict.score.classes[pair.truth].members))});
  }
  return table.markup();
}

Markup class_section(const ClassifyInput& input, const LabelVerdict& verdict, ReportPage& page) {
  const std::vector<apps::ClassScore>& classes = verdict.score.classes;
  Table table("Each class", {"class", "members", "predicted", "right", "precision", "recall", "F1"});
  std::vector<Bar> bars;
  for (std::uint32_t label = 0; label < std::min(classes.size(), kMostClassRows); ++label) {
    const apps::ClassScore& own = classes[label];
    table.add({cell(name_of(input, label)), count_cell(own.members), count_cell(own.predicted), count_cell(own.right),
               share_cell(own.precision()), share_cell(own.recall()), share_cell(own.f1())});
    if (classes.size() <= kLargestMatrix) bars.push_back({name_of(input, label), own.f1(), shown_share(own.f1())});
  }
  if (classes.size() > kMostClassRows) {
    page.note(fmt::format("The table of classes has the first {} of {}; --json has all.", shown_count(kMostClassRows),
                          shown_count(classes.size())));
  }
  return table.markup() + (bars.empty() ? Markup() : side_by_side(bar_chart({"F1 per class", "", ""}, bars, 1)));
}

Markup choice_section(const ClassifyInput& input, const apps::KChoice& choice) {
  const bool is_labels = choice.error.empty();
  const std::size_t tried = is_labels ? choice.right.size() : choice.error.size();
  Series series{is_labels ? "accuracy" : "error", {}};
  Table table("Each k",
              is_labels ? std::vector<std::string>{"k", "right", "accuracy"} : std::vector<std::string>{"k", "RMSE"});
  for (std::size_t i = 0; i < tried; ++i) {
    const double k = choice.least + static_cast<double>(i);
    Cell number = count_cell(choice.least + i);
    number.is_marked = choice.least + i == choice.best;
    if (is_labels) {
      const double accuracy = share_of(choice.right[i], input.points.rows());
      series.points.push_back({k, 100 * accuracy, fmt::format("k {}: {}", choice.least + i, shown_share(accuracy))});
      table.add({number, count_cell(choice.right[i]), share_cell(accuracy)});
    } else {
      series.points.push_back({k, choice.error[i], fmt::format("k {}: {}", choice.least + i, shown(choice.error[i]))});
      table.add({number, number_cell(choice.error[i])});
    }
  }
  const ChartWords words{is_labels ? "Accuracy per k" : "Error per k", "k",
                         is_labels ? "accuracy, %" : "root mean squared error",
                         fmt::format("Best: k = {}, the smallest of those that do as well.", choice.best)};
  return side_by_side(line_chart(words, {&series, 1}, {.may_bend_x = true, .has_whole_x = true})) +
         element("details", element("summary", "Numbers") + table.markup());
}

Markup labels_given(const ClassifyInput& input, const LabelVotes& votes) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t label = 0; label < votes.labelled.size(); ++label) order.push_back(label);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::uint32_t label) { return votes.labelled[label]; });
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < std::min(order.size(), kLargestMatrix); ++i) {
    bars.push_back({name_of(input, order[i]), static_cast<double>(votes.labelled[order[i]]),
                    shown_count(votes.labelled[order[i]])});
  }
  const std::string note = order.size() > bars.size() ? fmt::format("The {} most frequent of {}.", bars.size(),
                                                                    shown_count(order.size(), "class", "classes"))
                                                      : "";
  return bar_chart({"Labels given", "", "", note}, bars);
}

Markup votes_section(const ClassifyInput& input, const LabelVotes& votes) {
  Markup charts = labels_given(input, votes);
  if (votes.winner_shares.empty()) return side_by_side(charts);
  const Distribution shares =
      distribution_of(votes.winner_shares.size(), [&](std::uint64_t i) { return 100 * votes.winner_shares[i]; });
  charts += histogram({"How clear votes were", "share of the winner, %", "points"}, shares);
  const bool knows_truth = !input.truth.empty();
  std::vector<std::string> columns = {"row", "label", "share", "second", "its share"};
  if (knows_truth) columns.push_back("truth");
  Table table("Nearly lost votes, by their lead; rows are numbered from 0", columns);
  for (const ContestedVote& vote : votes.contested) {
    std::vector<Cell> row = {count_cell(row_of(input, vote.query)), cell(name_of(input, vote.winner)),
                             share_cell(vote.share), cell(name_of(input, vote.second)), share_cell(vote.second_share)};
    if (knows_truth) {
      const std::uint32_t truth = input.truth[vote.query];
      Cell told = cell(truth == kNoTruth ? "–" : name_of(input, truth));
      told.is_marked = truth != kNoTruth && truth != vote.winner;
      row.push_back(std::move(told));
    }
    table.add(std::move(row));
  }
  return side_by_side(charts) + (table.empty() ? element("p", "Every vote was unanimous.") : table.markup());
}

Markup values_section(const ClassifyInput& input, const ClassifyWork& work) {
  std::vector<std::uint32_t> known;
  for (std::uint32_t i = 0; i < input.true_values.size(); ++i) {
    if (std::isfinite(input.true_values[i])) known.push_back(i);
  }
  const Distribution predicted =
      distribution_of(work.predictions.size(), [&](std::uint64_t i) { return work.predictions[i]; });
  Markup charts = histogram({"Values predicted", "value", "points"}, predicted);
  if (known.empty()) return side_by_side(charts);
  charts += histogram({"Errors", "predicted - true", "points"}, distribution_of(known.size(), [&](std::uint64_t i) {
                        return work.predictions[known[i]] - input.true_values[known[i]];
                      }));
  Series dots{"prediction", {}, false}, exact{"no error", {}};
  double least = input.true_values[known[0]], most = least;
  for (const std::uint32_t place : apps::random_rows(known.size(), kMostDots, 1)) {
    const double truth = input.true_values[known[place]];
    dots.points.push_back({truth, work.predictions[known[place]]});
    least = std::min(least, truth);
    most = std::max(most, truth);
  }
  exact.points = {{least, least}, {most, most}};
  const Series both[] = {dots, exact};
  const std::string note = known.size() > kMostDots ? fmt::format("{} of {}, drawn at random.", shown_count(kMostDots),
                                                                  shown_count(known.size(), "point", "points"))
                                                    : "";
  charts += line_chart({"Predicted against true", "true value", "predicted", note}, both);
  return side_by_side(charts);
}

std::vector<KeyFigure> key_figures(const ClassifyFlags& flags, const ClassifyInput& input, const ClassifyWork& work) {
  std::vector<KeyFigure> figures;
  if (work.labels) {
    const apps::LabelScore& score = work.labels->score;
    figures.push_back({"Accuracy", shown_share(score.accuracy()),
                       fmt::format("{} of {} right", shown_count(score.right), shown_count(score.rows))});
  }
  if (work.values) {
    figures.push_back(
        {"R²", shown(work.values->r_squared), shown_count(work.values->rows, "value compared", "values compared")});
    figures.push_back({"Mean absolute error", shown(work.values->mean_absolute_error)});
    figures.push_back({"Root mean squared error", shown(work.values->root_mean_squared_error)});
    figures.push_back({"Largest error", shown(work.values->largest_error)});
  }
  if (work.choice)
    figures.push_back(
        {"Best k", shown_count(work.choice->best), fmt::format("of {} to {}", flags.range->least, flags.range->most)});
  if (!work.choice) figures.push_back({"k", shown_count(work.k), "neighbours vote"});
  figures.push_back({"Points known", shown_count(input.points.rows()),
                     flags.is_regression() ? "" : shown_count(input.classes, "class", "classes")});
  if (flags.classifies())
    figures.push_back({flags.is_regression() ? "Values given" : "Labels given", shown_count(input.queries.rows())});
  return figures;
}

Markup facts_of(const ClassifyFlags& flags, const ClassifyInput& input, const ClassifyWork& work) {
  const apps::NeighborWork& done = flags.classifies() ? work.neighbors : work.choice->work;
  std::vector<std::pair<std::string, Cell>> facts = {
      {"dimensions", count_cell(input.points.dims())},
      {"type", cell(kith::name_of(input.points.dtype()))},
      {"metric", cell(flags.neighbors.metric.name())},
      {"weights", cell(apps::name_of(flags.neighbors.weights))},
      {"scale", cell(apps::name_of(flags.scaling))},
      {"engine", cell(kith::name_of(done.engine))},
      {"device", cell(done.device.name())},
      {"threads", count_cell(static_cast<std::uint64_t>(threads_in_use(flags.neighbors.threads)))}};
  if (!flags.is_regression()) facts.insert(facts.begin() + 4, {"ties", cell(apps::name_of(flags.neighbors.ties))});
  if (flags.classifies() && !flags.is_regression()) {
    facts.insert(facts.begin(), {"mode", cell(flags.is_sequential() ? "sequential" : "independent")});
  }
  if (flags.folds) facts.emplace_back("parts of the cross-validation", count_cell(*flags.folds));
  if (flags.classifies() && flags.is_sequential()) {
    facts.emplace_back("longest chain of new points", count_cell(work.depth));
    facts.emplace_back("rounds", count_cell(work.rounds));
  }
  if (flags.check) facts.emplace_back("checked by the plain loop", cell("the same"));
  return facts_table("What was done, and how", facts);
}

void add_notes(const ClassifyInput& input, const ClassifyWork& work, ReportPage& page) {
  if (input.points_left_out + input.queries_left_out > 0) {
    page.note(fmt::format("{} known and {} to be labelled with NaN, infinity or missing values were left out.",
                          shown_count(input.points_left_out, "point", "points"), shown_count(input.queries_left_out)));
  }
  if (!work.labels) return;
  if (work.labels->of_no_known_class > 0) {
    page.note(fmt::format("{} of classes that no training point has; they count as wrong.",
                          shown_count(work.labels->of_no_known_class, "row is", "rows are")));
  }
  const std::uint64_t without = input.truth.size() - work.labels->score.rows;
  if (without > 0)
    page.note(fmt::format("{} no label and not compared.", shown_count(without, "row has", "rows have")));
}

}  // namespace

bool can_keep_shares(std::uint64_t queries, std::uint32_t classes) {
  return classes > 0 && queries <= kMostShares / classes;
}

LabelVotes votes_of(const apps::Classified& found, std::uint32_t classes) {
  LabelVotes votes;
  votes.labelled.resize(classes);
  for (const std::uint32_t label : found.labels) ++votes.labelled[label];
  if (found.shares.empty()) return votes;
  const auto lead = [](const ContestedVote& vote) { return vote.share - vote.second_share; };
  for (std::uint64_t query = 0; query < found.labels.size(); ++query) {
    ContestedVote vote{.query = query, .winner = found.labels[query]};
    for (std::uint32_t label = 0; label < classes; ++label) {
      const double share = found.shares[query * classes + label];
      if (label == vote.winner) {
        vote.share = share;
      } else if (share > vote.second_share) {
        vote.second_share = share;
        vote.second = label;
      }
    }
    votes.winner_shares.push_back(vote.share);
    if (vote.second_share == 0) continue;
    const auto place = std::ranges::upper_bound(votes.contested, lead(vote), {}, lead);
    if (place == votes.contested.end() && votes.contested.size() == kMostContested) continue;
    votes.contested.insert(place, vote);
    if (votes.contested.size() > kMostContested) votes.contested.pop_back();
  }
  return votes;
}

void write_classify_report(const std::string& path, const ClassifyFlags& flags, const ClassifyInput& input,
                           const ClassifyWork& work) {
  ReportPage page("kith classify", subject_of(flags));
  page.key_figures(key_figures(flags, input, work));
  add_notes(input, work, page);
  if (work.labels) {
    const bool is_small = input.names.size() <= kLargestMatrix;
    page.section("Which classes are mixed up",
                 (is_small ? confusion_matrix(input, *work.labels) : Markup()) + mixed_up_pairs(input, *work.labels));
    page.section("How well each class is found", class_section(input, *work.labels, page));
  }
  if (work.choice) page.section("Which k does best", choice_section(input, *work.choice));
  if (flags.classifies()) {
    if (flags.is_regression()) {
      page.section("Values", values_section(input, work));
    } else {
      page.section("Votes", votes_section(input, work.votes));
    }
  }
  page.section("How it ran", side_by_side(times_chart(stages_of(flags, input, work)) + facts_of(flags, input, work)));
  page.folded("Why this way", explanation_lines((flags.classifies() ? work.neighbors : work.choice->work).explanation));
  write_report(path, page, flags.output);
}

}  // namespace kith::cli
