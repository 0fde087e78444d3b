// See classify_input.hpp.
#include "commands/classify_input.hpp"

#include "input_flags.hpp"
#include "interrupt.hpp"
#include "readable.hpp"
#include "stopwatch.hpp"

#include <kith/apps/scale.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace kith::cli {
namespace {

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || std::isnan(value)) return std::nullopt;
  return value;
}

/// The names in order: by value if all are numbers, else by their bytes.
std::vector<std::string> in_order(std::vector<std::string> names) {
  const bool numbers = std::ranges::all_of(names, [](const std::string& name) { return number_of(name).has_value(); });
  std::ranges::sort(names, [&](const std::string& a, const std::string& b) {
    const double left = numbers ? *number_of(a) : 0;
    const double right = numbers ? *number_of(b) : 0;
    return left != right ? left < right : a < b;
  });
  return names;
}

/// Numbers of classes by their names, one set for both files.
class ClassNumbers {
 public:
  explicit ClassNumbers(std::vector<std::string>& names) : names_(names) {}

  void add(const std::vector<std::string>& names) {
    for (const std::string& name : in_order(names)) {
      if (name.empty() || !numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size())).second) continue;
      names_.push_back(name);
    }
  }
  std::vector<std::uint32_t> numbers_of(const io::Labels& labels) const {
    std::vector<std::uint32_t> by_code;
    for (const std::string& name : labels.names) {
      by_code.push_back(name.empty() ? kNoTruth : numbers_.at(name));
    }
    std::vector<std::uint32_t> numbers;
    numbers.reserve(labels.codes.size());
    for (const std::uint32_t code : labels.codes) numbers.push_back(by_code[code]);
    return numbers;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

void take_labels(const ClassifyFlags& flags, const io::Labels& train, ClassifyInput& input) {
  ClassNumbers numbers(input.names);
  numbers.add(train.names);
  input.classes = static_cast<std::uint32_t>(input.names.size());
  input.codes = numbers.numbers_of(train);
  const auto unlabelled = std::ranges::find(input.codes, kNoTruth);
  if (unlabelled != input.codes.end()) {
    throw BadData(fmt::format("{}: row {} has no label in column {}; fill it in, or leave the row out", flags.train,
                              unlabelled - input.codes.begin(), flags.read.label));
  }
  if (!input.test.has_target) return;
  const io::Labels& truth = *input.test.content.labels;
  numbers.add(truth.names);
  input.truth = numbers.numbers_of(truth);
  if (std::ranges::all_of(input.truth, [](std::uint32_t code) { return code == kNoTruth; })) input.truth.clear();
}

/// The one extra column of a file.
std::vector<double> values_of(const std::string& path, const std::string& column, const io::PointFile& file) {
  std::vector<double> values;
  values.reserve(file.extras.rows());
  for (std::uint64_t row = 0; row < file.extras.rows(); ++row) {
    values.push_back(file.extras.view().at(row, 0));
    if (std::isfinite(values.back())) continue;
    throw BadData(fmt::format("{}: row {}, column {}: {} is no value to learn from or to compare with", path, row,
                              column, values.back()));
  }
  return values;
}

void read_tables(const ClassifyFlags& flags, TerminalProgress& progress, ClassifyInput& input) {
  io::ReadOptions options = flags.read;
  if (flags.is_regression()) options.extras = {flags.regress};
  io::PointFile train = read_input(flags.train, options, flags.output, progress.callback());
  if (!flags.test.empty()) input.test = read_test_file(flags, train, progress.callback());
  if (flags.is_regression()) {
    input.values = values_of(flags.train, flags.regress, train);
    if (input.test.has_target) input.true_values = values_of(flags.test, flags.regress, input.test.content);
  } else {
    take_labels(flags, *train.labels, input);
  }
  input.own_points = std::move(train.points);
  input.points = input.own_points.view();
  input.queries = input.test.content.view();
}

void read_class_file(const ClassifyFlags& flags, TerminalProgress& progress, ClassifyInput& input) {
  input.class_file = io::read_class_file(flags.file, flags.read.dtype, flags.read.threads, progress.callback());
  const io::ClassFile& file = input.class_file;
  flags.output.explanation(fmt::format(
      "read {}: class file, {} of {} and {} new, {}, {}", flags.file == "-" ? "standard input" : flags.file,
      counted(file.train.rows(), "point"), counted(file.classes, "class", "classes"), readable_count(file.fresh.rows()),
      counted(file.train.dims(), "dimension"), name_of(file.train.dtype())));
  input.codes = file.labels;
  input.classes = file.classes;
  input.points = file.train.view();
  input.queries = file.fresh.view();
}

void scale(const ClassifyFlags& flags, ClassifyInput& input) {
  if (flags.scaling == apps::Scaling::none) return;
  const Stopwatch watch;
  const apps::Scale scale = apps::fit_scale(input.points, flags.scaling, flags.neighbors.threads);
  PointSet points = scale.apply(input.points, flags.neighbors.threads);
  if (input.queries.rows() > 0) {
    input.own_queries = scale.apply(input.queries, flags.neighbors.threads);
    input.queries = input.own_queries.view();
  }
  input.own_points = std::move(points);
  input.points = input.own_points.view();
  flags.output.explanation(fmt::format("columns scaled ({}), as {} say", apps::name_of(flags.scaling),
                                       counted(input.points.rows(), "training point")));
  input.scale_ms = watch.milliseconds();
}

}  // namespace

ClassifyInput read_classify_input(const ClassifyFlags& flags, TerminalProgress& progress) {
  ClassifyInput input;
  const Stopwatch watch;
  if (flags.is_class_file()) {
    read_class_file(flags, progress, input);
  } else {
    read_tables(flags, progress, input);
  }
  // A file without rows says nothing about its dims.
  if (input.queries.rows() == 0) {
    input.queries = PointView(nullptr, input.points.dtype(), 0, input.points.dims(), input.points.dims());
  }
  input.read_ms = watch.milliseconds();
  stop_if_interrupted();
  scale(flags, input);
  stop_if_interrupted();
  return input;
}

}  // namespace kith::cli
