// See classify_input.hpp.
#include "commands/classify_input.hpp"

#include "geographic_note.hpp"
#include "input_flags.hpp"
#include "interrupt.hpp"
#include "readable.hpp"
#include "stopwatch.hpp"

#include <kith/apps/scale.hpp>
#include <kith/apps/take_rows.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
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

/// The names in order, without that of rows that have none: by value if all are numbers, else by their bytes.
std::vector<std::string> in_order(std::vector<std::string> names) {
  std::erase(names, "");
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
      if (!numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size())).second) continue;
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
  if (unlabelled != input.codes.end() && !flags.skip_nonfinite) {
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
std::vector<double> values_of(const ClassifyFlags& flags, const std::string& path, const io::PointFile& file) {
  std::vector<double> values;
  values.reserve(file.extras.rows());
  for (std::uint64_t row = 0; row < file.extras.rows(); ++row) {
    values.push_back(file.extras.view().at(row, 0));
    if (std::isfinite(values.back()) || flags.skip_nonfinite) continue;
    throw BadData(fmt::format("{}: row {}, column {}: {} is not a value to learn from or to compare with", path, row,
                              flags.regress, values.back()));
  }
  return values;
}

/// The rows with finite coordinates that `also` approves of.
std::vector<std::uint32_t> good_rows(PointView points, const auto& also) {
  std::vector<std::uint32_t> rows;
  for (std::uint64_t row = 0; row < points.rows(); ++row) {
    bool is_good = also(row);
    for (std::uint32_t d = 0; d < points.dims(); ++d) is_good = is_good && std::isfinite(points.at(row, d));
    if (is_good) rows.push_back(static_cast<std::uint32_t>(row));
  }
  return rows;
}

template <typename T>
void keep(const std::vector<std::uint32_t>& rows, std::vector<T>& column) {
  if (column.empty()) return;
  for (std::size_t i = 0; i < rows.size(); ++i) column[i] = column[rows[i]];
  column.resize(rows.size());
}

void leave_out_bad_rows(const ClassifyFlags& flags, ClassifyInput& input) {
  const std::vector<std::uint32_t> points = good_rows(input.points, [&](std::uint64_t row) {
    return flags.is_regression() ? std::isfinite(input.values[row]) : input.codes[row] != kNoTruth;
  });
  input.points_left_out = input.points.rows() - points.size();
  input.own_points = apps::take_rows(input.points, points, flags.read.threads);
  input.points = input.own_points.view();
  keep(points, input.codes);
  keep(points, input.values);

  const std::vector<std::uint32_t> queries = good_rows(input.queries, [](std::uint64_t) { return true; });
  input.queries_left_out = input.queries.rows() - queries.size();
  input.query_of_row.assign(input.queries.rows(), kLeftOut);
  for (std::size_t i = 0; i < queries.size(); ++i) input.query_of_row[queries[i]] = static_cast<std::uint32_t>(i);
  input.own_queries = apps::take_rows(input.queries, queries, flags.read.threads);
  input.queries = input.own_queries.view();
  keep(queries, input.truth);
  keep(queries, input.true_values);
}

void read_tables(const ClassifyFlags& flags, TerminalProgress& progress, ClassifyInput& input) {
  io::ReadOptions options = flags.read;
  if (flags.is_regression()) options.extras = {flags.regress};
  io::PointFile train = read_input(flags.train, options, flags.output, progress.callback());
  note_on_degrees(train.columns, flags.neighbors.metric, flags.output);
  if (!flags.test.empty()) input.test = read_test_file(flags, train, progress.callback());
  if (flags.is_regression()) {
    input.values = values_of(flags, flags.train, train);
    if (input.test.has_target) input.true_values = values_of(flags, flags.test, input.test.content);
  } else {
    take_labels(flags, *train.labels, input);
  }
  input.own_points = std::move(train.points);
  input.points = input.own_points.view();
  input.queries = input.test.content.view();
  if (flags.skip_nonfinite) leave_out_bad_rows(flags, input);
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
    PointSet queries = scale.apply(input.queries, flags.neighbors.threads);
    input.own_queries = std::move(queries);
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
