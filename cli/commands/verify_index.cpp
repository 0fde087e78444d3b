// See verify_index.hpp.
#include "commands/verify_index.hpp"

#include "commands/verify_objects.hpp"
#include "input_flags.hpp"
#include "interrupt.hpp"
#include "readable.hpp"
#include "standard_output.hpp"
#include "stopwatch.hpp"
#include "terminal_progress.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/index_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace kith::cli {
namespace {

bool is_finite_row(PointView points, std::uint64_t row) {
  for (std::uint32_t d = 0; d < points.dims(); ++d) {
    if (!std::isfinite(points.at(row, d))) return false;
  }
  return true;
}

/// Says where the two differ first, or nothing. Rows that the index left out must be rows that cannot be searched.
std::string first_difference(PointView held, PointView given) {
  for (std::uint64_t row = 0; row < given.rows(); ++row) {
    if (!is_finite_row(held, row)) {
      if (is_finite_row(given, row)) return fmt::format("row {} is left out of the index, but it is finite", row);
      continue;
    }
    for (std::uint32_t d = 0; d < given.dims(); ++d) {
      const double x = held.at(row, d), y = given.at(row, d);
      if (x == y && std::signbit(x) == std::signbit(y)) continue;
      return fmt::format("row {}, column {} is {} in the index, but {} in the file", row, d, x, y);
    }
  }
  return {};
}

/// An index that does not hold the points holds what became of them: building it again is the way to compare.
bool is_index_of(const Index& index, PointView points, int threads) {
  BuildOptions options;
  options.engine = index.engine();
  options.metric = index.metric();
  options.metric_params = index.metric_params();
  options.skip_nonfinite = true;
  options.threads = threads;
  const Index built = Index::build(points, options);
  const PointSet held = index.points(threads), expected = built.points(threads);
  return built.skipped() == index.skipped() && first_difference(held.view(), expected.view()).empty() &&
         first_difference(expected.view(), held.view()).empty();
}

void compare(const IndexCheck& check, const Index& index, TerminalProgress& progress) {
  io::ReadOptions read = check.read;
  if (!read.dtype) read.dtype = index.dtype();
  read.missing_as_nan = read.missing_as_nan || index.skipped() > 0;
  const io::PointFile file = read_input(check.points_path, read, check.output, progress.callback());
  const PointView given = file.view();
  const std::string who = fmt::format("{} is not the index of {}", check.index_path, check.points_path);
  if (given.rows() != index.size() || (given.rows() > 0 && given.dims() != index.dims()) ||
      given.dtype() != index.dtype()) {
    throw BadData(fmt::format("{}: it has {} of {}, {}, but the file has {} of {}, {}", who,
                              counted(index.size(), "point"), counted(index.dims(), "dimension"),
                              name_of(index.dtype()), counted(given.rows(), "point"),
                              counted(given.dims(), "dimension"), name_of(given.dtype())));
  }
  if (!index.holds_points()) {
    if (!is_index_of(index, given, check.threads)) {
      throw BadData(fmt::format("{}: the rows made of the points differ", who));
    }
    return;
  }
  const PointSet held = index.points(check.threads);
  const std::string difference = first_difference(held.view(), given);
  if (!difference.empty()) throw BadData(fmt::format("{}: {}", who, difference));
}

}  // namespace

int verify_index(const IndexCheck& check) {
  const IndexFileInfo info = describe_index_file(check.index_path);
  if (info.content != IndexContent::points) return verify_objects(check, info);
  refuse_sequence_flags(check.sequences, "points");
  if (check.points_path.empty()) refuse_reading_flags(check.index_path, check.read);
  TerminalProgress progress(check.output.quiet);
  const Stopwatch watch;
  LoadOptions options;
  options.device = check.device;
  options.threads = check.threads;
  options.progress = progress.callback();
  const Index index = Index::load(check.index_path, options);
  const std::string violation = index.first_violation();
  if (!violation.empty()) throw CorruptFile(fmt::format("{}: {}", check.index_path, violation));
  const double load_ms = watch.milliseconds();
  stop_if_interrupted();
  const Stopwatch compare_watch;
  if (!check.points_path.empty()) compare(check, index, progress);
  const double compare_ms = check.points_path.empty() ? 0 : compare_watch.milliseconds();
  stop_if_interrupted();
  progress.erase();
  check.output.explanation(index.explain());

  if (check.output.json) {
    nlohmann::ordered_json report;
    report["points"] = index.size();
    report["skipped_points"] = index.skipped();
    report["dims"] = index.dims();
    report["dtype"] = name_of(index.dtype());
    report["metric"] = index.metric().name();
    report["engine"] = name_of(index.engine());
    report["device"] = index.device().name();
    report["compared"] = !check.points_path.empty();
    report["check_ms"] = load_ms;
    report["compare_ms"] = compare_ms;
    write_to_stdout(report.dump(2) + "\n");
  } else if (!check.output.quiet) {
    write_to_stdout(fmt::format("right: index of {} of {}, {}, {}, {}{}\n", counted(index.size(), "point"),
                                counted(index.dims(), "dimension"), name_of(index.dtype()), index.metric().name(),
                                name_of(index.engine()),
                                check.points_path.empty() ? "" : fmt::format(", equal to {}", check.points_path)));
  }
  check.output.summary(
      fmt::format("check {}{}", readable_duration(load_ms),
                  check.points_path.empty() ? "" : fmt::format(", compare {}", readable_duration(compare_ms))));
  return 0;
}

}  // namespace kith::cli
