// See classify_flags.hpp.
#include "commands/classify_flags.hpp"

#include "input_flags.hpp"
#include "number_arguments.hpp"
#include "own_files.hpp"
#include "report/report_flag.hpp"
#include "search_flags.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace kith::cli {
namespace {

constexpr const char* kModes = "sequential|independent";
constexpr const char* kWeights = "uniform|distance";
constexpr const char* kTies = "nearest|lowest|highest";
constexpr const char* kScalings = "none|standard|minmax";
constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();

std::uint32_t number_of_neighbors(const std::string& flag, const std::string& text) {
  return static_cast<std::uint32_t>(parse_whole(flag, text, 1, kMost));
}

/// "3..20", or "20" for 1..20.
KRange range_of(const std::string& text) {
  const std::size_t dots = text.find("..");
  KRange range;
  if (dots == std::string::npos) {
    range.most = number_of_neighbors("--choose-k", text);
  } else {
    range.least = number_of_neighbors("--choose-k", text.substr(0, dots));
    range.most = number_of_neighbors("--choose-k", text.substr(dots + 2));
  }
  if (range.least > range.most) {
    throw UsageError(fmt::format("--choose-k: {} starts above its end; write {}..{}", text, range.most, range.least));
  }
  return range;
}

/// Rows are written as text, whatever was read.
void check_rows_path(const std::string& path) {
  check_output_path(path);
  if (path.ends_with(".gz")) check_points_path(path);  // says what to do
  const io::Format format = path == "-" ? io::Format::text : io::format_of_extension(path);
  if (format == io::Format::text || format == io::Format::automatic) return;
  throw UsageError(fmt::format("--out: {}: rows and their labels are written as text; choose .csv", path));
}

std::string column_of(const std::string& flag, const std::string& value) {
  if (value.empty()) throw UsageError(fmt::format("{}: the name of the column is empty", flag));
  return value;
}

FlagGroup data_flags(ClassifyFlags& flags) {
  return {
      "What to classify",
      {{"--train", "FILE", "labelled points, in any format that kith reads; needs --label or --regress", &flags.train},
       {"--test", "FILE", "points to label; if it has the column of --label too, predictions are compared with it",
        &flags.test},
       {"--regress", "COLUMN", "predict this numeric column instead of labels",
        [&flags](const std::string& value) { flags.regress = column_of("--regress", value); }},
       choice_flag(
           "--scale", kScalings,
           "scale every column to mean 0 and standard deviation 1, or to the range 0 to 1, fitted on the training "
           "points; none by default",
           flags.scaling, apps::parse_scaling),
       {"--skip-nonfinite", "",
        "tables: do not learn from rows with NaN, infinity or missing values, and give such rows no label",
        [&flags](const std::string&) { flags.skip_nonfinite = flags.read.missing_as_nan = true; }}}};
}

FlagGroup vote_flags(ClassifyFlags& flags) {
  return {"How neighbours vote",
          {{"-k", "K", "number of neighbours that vote; 5 by default",
            [&flags](const std::string& value) { flags.k = number_of_neighbors("-k", value); }},
           choice_flag(
               "--mode", kModes,
               "sequential: each point, once labelled, votes on those after it (default for FILE); independent: only "
               "training points vote (default for --test)",
               flags.sequential, [](const std::string& value) { return value == "sequential"; }),
           choice_flag("--weights", kWeights,
                       "every neighbour counts the same, or nearer ones count more; uniform by default",
                       flags.neighbors.weights, apps::parse_weights),
           choice_flag("--ties", kTies,
                       "which of several classes with equal votes wins: that of the nearest neighbour among them "
                       "(default), or the first or last one in sorted order",
                       flags.neighbors.ties, apps::parse_ties),
           {"--choose-k", "A..B",
            "try every k from A (default 1) to B on the training points, report how well each does and use the best",
            [&flags](const std::string& value) { flags.range = range_of(value); }},
           whole_flag("--folds", "F", "with --choose-k: use F-fold cross-validation; by default leave-one-out",
                      flags.folds, 2)}};
}

FlagGroup search_flag_group(ClassifyFlags& flags) {
  return {"Searching",
          {engine_flag(flags.neighbors.engine), device_flag(flags.neighbors.device),
           threads_flag([&flags](int threads) { flags.neighbors.threads = flags.read.threads = threads; }),
           memory_flag(), metric_flag(flags.neighbors.metric), metric_params_flag(flags.neighbors.metric_params)}};
}

FlagGroup result_flag_group(ClassifyFlags& flags) {
  return {"Result",
          {{"-o,--out", "FILE", "output file for the rows with their labels, as text; by default standard output",
            Take(&flags.out, check_rows_path)},
           report_flag(flags.report,
                       "write a page for a browser: accuracy, which classes are mixed up, and how well each k does"),
           {"--proba", "", "also write the share of each class in the vote", &flags.proba},
           {"--check", "", "repeat the work one point at a time, which is slow, and compare", &flags.check},
           json_flag(flags.output, "print a report as JSON; rows are then written only with --out"),
           quiet_flag(flags.output),
           explain_flag(flags.output, "print to standard error what was read, which engine was chosen and why")}};
}

void check_sources(const ClassifyFlags& flags) {
  if (flags.is_class_file()) {
    const std::pair<bool, const char*> given[] = {
        {!flags.train.empty(), "--train"},          {!flags.test.empty(), "--test"},
        {!flags.read.label.empty(), "--label"},     {flags.is_regression(), "--regress"},
        {!flags.read.columns.empty(), "--columns"}, {flags.read.delimiter != 0, "--delimiter"},
        {flags.read.decimal != 0, "--decimal"},     {flags.read.header.has_value(), "--header"},
        {!flags.read.array.empty(), "--array"},     {flags.read.format != io::Format::automatic, "--format"},
        {flags.skip_nonfinite, "--skip-nonfinite"}};
    for (const auto& [is_given, flag] : given) {
      if (!is_given) continue;
      throw UsageError(fmt::format(
          "FILE is a class file, which says what its columns are; leave {} out, or name a table with --train", flag));
    }
    return;
  }
  if (flags.train.empty()) {
    throw UsageError(
        "classify: nothing to learn from; usage: kith classify FILE or kith classify --train A.csv --test B.csv "
        "--label COLUMN");
  }
  if (flags.target().empty()) {
    throw UsageError("--train needs --label COLUMN, the column with the labels, or --regress COLUMN");
  }
  if (flags.is_regression() && !flags.read.label.empty()) {
    throw UsageError("--label and --regress both say what to predict; leave one of them out");
  }
  if (flags.test.empty() && !flags.range) {
    throw UsageError("--train needs --test, the points to be labelled, or --choose-k");
  }
  if (flags.train == "-" || flags.test == "-") {
    throw UsageError("--train and --test cannot be standard input; put the points into a file");
  }
}

void check_predictions(const ClassifyFlags& flags) {
  if (flags.is_regression() && flags.sequential.value_or(false)) {
    throw UsageError("--mode sequential is for labels; --regress has the mode independent only");
  }
  if (flags.is_regression() && flags.proba) throw UsageError("--proba is for labels; leave it out with --regress");
  if (flags.is_regression() && flags.neighbors.ties != apps::Ties::nearest) {
    throw UsageError("--ties is for labels; leave it out with --regress");
  }
  if (flags.k && flags.range) throw UsageError("-k and --choose-k both say how many neighbours vote; leave one out");
  if (flags.folds && !flags.range) throw UsageError("--folds goes with --choose-k");
  if (flags.neighbors.weights == apps::Weights::distance && !flags.neighbors.metric.info().has_distances) {
    throw UsageError(fmt::format("--weights distance is not for --metric {}, which has no distances",
                                 flags.neighbors.metric.name()));
  }
  if (!flags.classifies()) {
    const std::pair<bool, const char*> given[] = {{!flags.out.empty(), "--out"},
                                                  {flags.proba, "--proba"},
                                                  {flags.check, "--check"},
                                                  {flags.sequential.has_value(), "--mode"}};
    for (const auto& [is_given, flag] : given) {
      if (!is_given) continue;
      throw UsageError(fmt::format("{} is for what is labelled, but only k is chosen; give {} or leave it out", flag,
                                   flags.is_class_file() ? "--out" : "--test"));
    }
  }
}

}  // namespace

std::vector<Argument> classify_arguments(ClassifyFlags& flags) {
  return {{"FILE", "FILE", "a class file: a line N,M,C,D, N rows with a class, M rows to classify", &flags.file}};
}

std::vector<FlagGroup> classify_flags(ClassifyFlags& flags) {
  return {data_flags(flags), vote_flags(flags), search_flag_group(flags), result_flag_group(flags),
          input_flags(flags.read)};
}

void check_classify_flags(const ClassifyFlags& flags) {
  check_sources(flags);
  check_predictions(flags);
  if (flags.output.json && flags.out == "-") {
    throw UsageError("--json and --out - would both write to standard output; give --out a file");
  }
  require_own_files({{"--out", flags.out}, {"--report", flags.report}}, {flags.file, flags.train, flags.test});
}

}  // namespace kith::cli
