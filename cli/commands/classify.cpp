// kith classify: labels or values of points by their neighbours.
#include "commands/all_commands.hpp"

#include "commands/classify_report.hpp"
#include "commands/classify_flags.hpp"
#include "commands/classify_input.hpp"
#include "input_flags.hpp"
#include "interrupt.hpp"
#include "named_rows.hpp"
#include "physical_memory.hpp"
#include "profile_flag.hpp"
#include "readable.hpp"
#include "report/classify_page.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/classify.hpp>
#include <kith/apps/regress.hpp>
#include <kith/error.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace kith::cli {
namespace {

constexpr std::uint32_t kUsualK = 5;

/// Options of the library with what the flags say.
template <typename Options>
Options options_of(const ClassifyFlags& flags, std::uint32_t k, TerminalProgress& progress) {
  Options options;
  static_cast<apps::NeighborOptions&>(options) = flags.neighbors;
  options.k = k;
  options.progress = progress.callback();
  return options;
}

void choose_k(const ClassifyFlags& flags, const ClassifyInput& input, TerminalProgress& progress, ClassifyWork& work) {
  const Stopwatch watch;
  auto options = options_of<apps::ChooseKOptions>(flags, 0, progress);
  options.least = flags.range->least;
  options.most = flags.range->most;
  options.folds = flags.folds.value_or(0);
  work.choice = flags.is_regression() ? apps::choose_k(input.points, input.values, options)
                                      : apps::choose_k(input.points, input.labels(), options);
  work.k = work.choice->best;
  work.choose_ms = watch.milliseconds();
  flags.output.explanation(work.choice->work.explanation);
  flags.output.explanation(fmt::format(
      "every k from {} to {} tried with one search, each point labelled by {}", options.least, options.most,
      flags.folds ? fmt::format("the other {} of {} parts", *flags.folds - 1, *flags.folds) : "all others"));
  stop_if_interrupted();
}

void check_again(const ClassifyFlags& flags, const ClassifyInput& input, TerminalProgress& progress, ClassifyWork& work,
                 const auto& check) {
  if (!flags.check) return;
  progress.erase();
  flags.output.note(
      fmt::format("checking {} one after the other, which is slow", counted(input.queries.rows(), "point")));
  const Stopwatch watch;
  check(progress.callback());
  work.check_ms = watch.milliseconds();
}

void label(const ClassifyFlags& flags, const ClassifyInput& input, TerminalProgress& progress, ClassifyWork& work) {
  auto options = options_of<apps::ClassifyOptions>(flags, work.k, progress);
  if (flags.proba) {
    require_memory("the shares of classes", input.queries.rows(), input.classes, sizeof(double),
                   "leave --proba out or classify fewer points at a time");
  }
  const bool for_report = !flags.report.empty() && can_keep_shares(input.queries.rows(), input.classes);
  options.want_shares = flags.proba || for_report;
  apps::Classified found = flags.is_sequential()
                               ? apps::classify_sequential(input.points, input.labels(), input.queries, options)
                               : apps::classify(input.points, input.labels(), input.queries, options);
  work.neighbors = found.work;
  work.depth = found.depth;
  work.rounds = found.rounds;
  stop_if_interrupted();
  flags.output.explanation(found.work.explanation);
  if (flags.is_sequential()) {
    flags.output.explanation(fmt::format("longest chain of new points that vote on each other: {}; labels took {}",
                                         readable_count(found.depth), counted(found.rounds, "round")));
  }
  check_again(flags, input, progress, work,
              [&](const ProgressCallback& callback) { check_labels(flags, input, found.labels, work.k, callback); });
  if (!input.truth.empty()) work.labels = judge_labels(input, found.labels);
  if (!flags.report.empty()) work.votes = votes_of(found, input.classes);
  if (!flags.proba) found.shares.clear();
  const Stopwatch watch;
  write_labels(flags, input, found, progress.callback());
  work.write_ms = watch.milliseconds();
}

void predict(const ClassifyFlags& flags, const ClassifyInput& input, TerminalProgress& progress, ClassifyWork& work) {
  const auto options = options_of<apps::NeighborOptions>(flags, work.k, progress);
  apps::Regressed found = apps::regress(input.points, input.values, input.queries, options);
  work.neighbors = found.work;
  stop_if_interrupted();
  flags.output.explanation(found.work.explanation);
  check_again(flags, input, progress, work,
              [&](const ProgressCallback& callback) { check_values(flags, input, found.values, work.k, callback); });
  if (!input.true_values.empty()) work.values = judge_values(input, found.values);
  const Stopwatch watch;
  write_values(flags, input, found.values, progress.callback());
  work.write_ms = watch.milliseconds();
  if (!flags.report.empty()) work.predictions = std::move(found.values);
}

int run_classify(const ClassifyFlags& flags) {
  check_classify_flags(flags);
  TerminalProgress progress(flags.output.quiet);
  const ClassifyInput input = read_classify_input(flags, progress);
  const MemoryLimit held(0, bytes_of(input.points) + bytes_of(input.queries));
  ClassifyWork work;
  work.k = flags.k.value_or(kUsualK);
  if (flags.range) choose_k(flags, input, progress, work);
  if (flags.classifies() && flags.is_regression()) predict(flags, input, progress, work);
  if (flags.classifies() && !flags.is_regression()) label(flags, input, progress, work);
  progress.erase();
  if (flags.output.json) {
    write_to_stdout(json_of_work(flags, input, work));
  } else if (!flags.classifies()) {
    write_to_stdout(choice_table(*work.choice, input.points.rows()));
  }
  summarize_work(flags, input, work);
  if (!flags.report.empty()) write_classify_report(flags.report, flags, input, work);
  return 0;
}

}  // namespace

Command classify_command() {
  const auto flags = std::make_shared<ClassifyFlags>();
  Command command;
  command.name = "classify";
  command.summary = "label points by the votes of their neighbours";
  command.synopsis =
      "FILE [-k K] [--mode M] [--out FILE] [flags] | --train FILE --test FILE --label COLUMN [-k K] [--out FILE] "
      "[flags]";
  command.description =
      "Gives each point the most common label among its K nearest labelled points; a tie goes to the label whose "
      "nearest point comes first, unless --ties. FILE holds points with and without a class; each new point, once "
      "labelled, is a "
      "neighbour for those after it, unless --mode independent. --train and --test are tables: every row of the second "
      "is written with a column \"predicted\" and, if it has labels, compared with them. --regress predicts the mean "
      "of a column instead. The result depends only on K, weights, ties, metric and scale.";
  command.arguments = classify_arguments(*flags);
  command.groups = classify_flags(*flags);
  command.examples = {
      {"classify the new points of a class file, one after the other",
       "kith classify points.csv -k 5 --out classified.csv"},
      {"label one table by another and report the accuracy",
       "kith classify --train train.csv --test test.csv --label species --scale standard --out labelled.csv"},
      {"find the best k for the training points", "kith classify --train train.csv --label species --choose-k 1..50"},
      {"a page that shows which classes are mixed up",
       "kith classify --train train.csv --test test.csv --label species --out labelled.csv --report report.html"},
      {"predict prices by distance",
       "kith classify --train sold.csv --test asked.csv --regress price --weights distance"}};
  command.run = [flags] {
    return run_naming_rows({{"points", flags->train, &flags->read}, {"queries", flags->test, &flags->read}},
                           [flags] { return run_classify(*flags); });
  };
  add_profile_flag(command, flags->output);
  return command;
}

}  // namespace kith::cli
