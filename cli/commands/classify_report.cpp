// See classify_report.hpp; the JSON is in classify_json.cpp.
#include "commands/classify_report.hpp"

#include "prepared_search.hpp"
#include "readable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kith::cli {
namespace {

constexpr std::size_t kMostClassesShown = 30;
constexpr std::size_t kMostChoicesShown = 60;
constexpr std::size_t kLongestName = 24;

std::string shown_name(const std::string& name) {
  return name.size() <= kLongestName ? name : name.substr(0, kLongestName - 1) + "~";
}

/// How wide a column with the names of all classes is, and a heading of five letters.
std::size_t name_width(const ClassifyInput& input) {
  std::size_t width = 5;
  for (const std::string& name : input.names) width = std::max(width, shown_name(name).size());
  return width;
}

std::string times_text(const ClassifyFlags& flags, const ClassifyInput& input, const ClassifyWork& work) {
  std::string text;
  for (const auto& [stage, ms] : stages_of(flags, input, work)) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", stage, readable_duration(ms));
  }
  return text;
}

std::string how_text(const ClassifyFlags& flags, const ClassifyInput& input, const ClassifyWork& work) {
  const apps::NeighborWork& done = flags.classifies() ? work.neighbors : work.choice->work;
  std::string how = fmt::format("{}, {} weights, {} on {}, {}", flags.neighbors.metric.name(),
                                apps::name_of(flags.neighbors.weights), name_of(done.engine), done.device.name(),
                                counted(static_cast<std::uint64_t>(threads_in_use(flags.neighbors.threads)), "thread"));
  if (flags.neighbors.ties != apps::Ties::nearest)
    how = fmt::format("ties {}, {}", apps::name_of(flags.neighbors.ties), how);
  if (flags.scaling != apps::Scaling::none) how = fmt::format("scale {}, {}", apps::name_of(flags.scaling), how);
  if (!flags.classifies()) {
    return fmt::format("k from {} to {} tried on {} ({})", flags.range->least, flags.range->most,
                       counted(input.points.rows(), "training point"), how);
  }
  const char* mode = flags.is_regression() ? "" : flags.is_sequential() ? "one after the other, " : "independently, ";
  return fmt::format("{} {} by {} each among {} ({}{})", counted(input.queries.rows(), "point"),
                     flags.is_regression() ? "got values" : "labelled", counted(work.k, "neighbour"),
                     counted(input.points.rows(), "training point"), mode, how);
}

std::string choice_text(const ClassifyInput& input, const apps::KChoice& choice) {
  const auto at = [&](std::uint32_t k) {
    const std::size_t i = k - choice.least;
    if (!choice.error.empty()) return fmt::format("error {:.6g}", choice.error[i]);
    return fmt::format("{} of {} right, accuracy {:.4f}", readable_count(choice.right[i]),
                       readable_count(input.points.rows()),
                       static_cast<double>(choice.right[i]) / static_cast<double>(input.points.rows()));
  };
  return fmt::format("best k: {} ({})", choice.best, at(choice.best));
}

std::string class_table(const ClassifyInput& input, const apps::LabelScore& score) {
  const std::size_t width = name_width(input);
  std::string table =
      fmt::format("{:>{}}  {:>9}  {:>9}  {:>6}  {:>6}", "class", width, "members", "precision", "recall", "f1");
  for (std::size_t label = 0; label < score.classes.size(); ++label) {
    const apps::ClassScore& own = score.classes[label];
    table += fmt::format("\n{:>{}}  {:>9}  {:>9.4f}  {:>6.4f}  {:>6.4f}", shown_name(input.names[label]), width,
                         own.members, own.precision(), own.recall(), own.f1());
  }
  return table;
}

/// A row per true class, a column per predicted one.
std::string confusion_table(const ClassifyInput& input, const LabelVerdict& verdict) {
  std::vector<std::vector<std::uint64_t>> counts(input.names.size(), std::vector<std::uint64_t>(input.classes));
  for (const apps::Confusion& pair : verdict.confusion) counts[pair.truth][pair.predicted] = pair.rows;
  std::vector<std::size_t> widths;
  for (std::uint32_t label = 0; label < input.classes; ++label) {
    std::size_t width = shown_name(input.names[label]).size();
    for (const auto& row : counts) width = std::max(width, std::to_string(row[label]).size());
    widths.push_back(width);
  }
  const std::size_t names = name_width(input);
  std::string table = fmt::format("{:>{}}", "truth", names);
  for (std::uint32_t label = 0; label < input.classes; ++label) {
    table += fmt::format("  {:>{}}", shown_name(input.names[label]), widths[label]);
  }
  table += "   predicted";
  for (std::size_t truth = 0; truth < counts.size(); ++truth) {
    table += fmt::format("\n{:>{}}", shown_name(input.names[truth]), names);
    for (std::uint32_t label = 0; label < input.classes; ++label) {
      const std::uint64_t count = counts[truth][label];
      table += fmt::format("  {:>{}}", count == 0 ? "." : std::to_string(count), widths[label]);
    }
  }
  return table;
}

void tell_verdict(const ClassifyFlags& flags, const ClassifyInput& input, const LabelVerdict& verdict) {
  const apps::LabelScore& score = verdict.score;
  flags.output.summary(fmt::format("accuracy {:.4f}: {} of {} right", score.accuracy(), readable_count(score.right),
                                   readable_count(score.rows)));
  if (input.names.size() <= kMostClassesShown) {
    flags.output.summary(class_table(input, score));
    flags.output.summary(confusion_table(input, verdict));
  } else {
    flags.output.summary(fmt::format("--json reports each of the {} classes", readable_count(input.names.size())));
  }
  const std::uint64_t strangers = verdict.of_no_known_class;
  if (strangers > 0) {
    flags.output.note(fmt::format("{} of {} {} a class that no training point has, and {} wrong",
                                  counted(strangers, "row"), flags.test, strangers == 1 ? "has" : "have",
                                  strangers == 1 ? "counts as" : "count as"));
  }
  const std::uint64_t without = input.truth.size() - score.rows;
  if (without > 0) {
    flags.output.note(fmt::format("{} of {} {} no label and {} not compared", counted(without, "row"), flags.test,
                                  without == 1 ? "has" : "have", without == 1 ? "is" : "are"));
  }
}

}  // namespace

std::string class_name(const ClassifyInput& input, std::uint32_t label) {
  return label < input.names.size() ? input.names[label] : std::to_string(label);
}

std::vector<std::pair<std::string, double>> stages_of(const ClassifyFlags& flags, const ClassifyInput& input,
                                                      const ClassifyWork& work) {
  std::vector<std::pair<std::string, double>> stages = {{"read", input.read_ms}};
  const auto add = [&](bool happened, const char* what, double ms) {
    if (happened) stages.emplace_back(what, ms);
  };
  add(flags.scaling != apps::Scaling::none, "scale", input.scale_ms);
  add(work.choice.has_value(), "choose k", work.choose_ms);
  add(flags.classifies(), "build", work.neighbors.build_ms);
  add(flags.classifies(), "search", work.neighbors.search_ms);
  add(flags.classifies(), flags.is_regression() ? "means" : "votes", work.neighbors.vote_ms);
  add(flags.check, "check", work.check_ms);
  add(flags.classifies() && !flags.result_path().empty(), "write", work.write_ms);
  return stages;
}

LabelVerdict judge_labels(const ClassifyInput& input, const std::vector<std::uint32_t>& found) {
  std::vector<std::uint32_t> truth;
  std::vector<std::uint32_t> predicted;
  LabelVerdict verdict;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::uint32_t own = input.truth[i];
    if (own == kNoTruth) continue;
    truth.push_back(own);
    predicted.push_back(found[i]);
    verdict.of_no_known_class += own >= input.classes ? 1 : 0;
  }
  const apps::LabelView view{truth, static_cast<std::uint32_t>(input.names.size())};
  verdict.score = apps::score_labels(view, predicted);
  verdict.confusion = apps::confusion_of(view, predicted);
  return verdict;
}

apps::ValueScore judge_values(const ClassifyInput& input, const std::vector<double>& found) {
  std::vector<double> truth;
  std::vector<double> predicted;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!std::isfinite(input.true_values[i])) continue;
    truth.push_back(input.true_values[i]);
    predicted.push_back(found[i]);
  }
  return apps::score_values(truth, predicted);
}

std::string choice_table(const apps::KChoice& choice, std::uint64_t points) {
  std::string table = choice.error.empty() ? "k,right,accuracy\n" : "k,error\n";
  for (std::size_t i = 0; i < choice.right.size(); ++i) {
    table += fmt::format("{},{},{}\n", choice.least + i, choice.right[i],
                         static_cast<double>(choice.right[i]) / static_cast<double>(points));
  }
  for (std::size_t i = 0; i < choice.error.size(); ++i) {
    table += fmt::format("{},{}\n", choice.least + i, choice.error[i]);
  }
  return table;
}

void summarize_work(const ClassifyFlags& flags, const ClassifyInput& input, const ClassifyWork& work) {
  flags.output.summary(how_text(flags, input, work));
  const std::string times = times_text(flags, input, work);
  flags.output.summary(times);
  if (flags.output.quiet || flags.output.json) flags.output.explanation(times);
  if (work.choice) {
    const std::size_t tried = std::max(work.choice->right.size(), work.choice->error.size());
    if (flags.classifies() && tried <= kMostChoicesShown) {
      std::string table = choice_table(*work.choice, input.points.rows());
      table.pop_back();
      flags.output.summary(table);
    }
    flags.output.summary(choice_text(input, *work.choice));
  }
  if (input.points_left_out + input.queries_left_out > 0) {
    flags.output.note(fmt::format("{} and {} to be labelled with NaN, infinity or missing values were left out",
                                  counted(input.points_left_out, "training point"),
                                  counted(input.queries_left_out, "point")));
  }
  if (flags.check) flags.output.summary("checked: the plain loop gives the same");
  if (work.labels) tell_verdict(flags, input, *work.labels);
  if (work.values) {
    flags.output.summary(
        fmt::format("{} compared: mean absolute error {:.6g}, root mean squared error {:.6g}, largest error {:.6g}, "
                    "R² {:.6g}",
                    counted(work.values->rows, "value"), work.values->mean_absolute_error,
                    work.values->root_mean_squared_error, work.values->largest_error, work.values->r_squared));
  }
  if (flags.classifies() && flags.result_path() != "-" && !flags.result_path().empty()) {
    flags.output.summary(fmt::format("rows in {}", flags.result_path()));
  }
}

}  // namespace kith::cli
