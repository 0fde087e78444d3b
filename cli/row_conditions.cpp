// See row_conditions.hpp.
#include "row_conditions.hpp"

#include "value_file.hpp"
#include "input_flags.hpp"
#include "number_arguments.hpp"

#include <kith/apps/select_rows.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace kith::cli {
namespace {

/// A whole number with a sign, or nothing for an empty text.
std::optional<std::int64_t> bound_of(const std::string& text, const std::string& range) {
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw UsageError(fmt::format("--range: \"{}\" is not first:end or first:end:step, rows counted from 0", range));
  }
  return value;
}

/// As Python slices: the end is not included, and negative numbers count from the end.
void keep_range(const std::string& range, std::uint64_t rows, std::vector<bool>& kept) {
  const std::vector<std::string> parts = split(range, ':');
  if (parts.size() < 2 || parts.size() > 3) {
    throw UsageError(fmt::format("--range: \"{}\" is not first:end or first:end:step, rows counted from 0", range));
  }
  const auto count = static_cast<std::int64_t>(rows);
  const auto place = [&](const std::string& text, std::int64_t otherwise) {
    const std::int64_t at = bound_of(text, range).value_or(otherwise);
    return std::clamp<std::int64_t>(at < 0 ? at + count : at, 0, count);
  };
  const std::int64_t first = place(parts[0], 0);
  const std::int64_t end = place(parts[1], count);
  const std::int64_t step = parts.size() == 3 ? bound_of(parts[2], range).value_or(1) : 1;
  if (step < 1) throw UsageError(fmt::format("--range: the step {} is too small; the least is 1", step));
  for (std::int64_t row = 0; row < count; ++row) {
    if (row < first || row >= end || (row - first) % step != 0) kept[static_cast<std::size_t>(row)] = false;
  }
}

double end_of_box(const std::string& text, double otherwise, const std::string& box) {
  if (text.empty()) return otherwise;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value != value) {
    throw UsageError(fmt::format("--box: \"{}\" in \"{}\" is not a number", text, box));
  }
  return value;
}

/// "lo:hi" for each coordinate in turn, or "column=lo:hi"; both ends belong to it.
void keep_box(const std::string& box, const io::Table& table, const std::string& file, std::vector<bool>& kept) {
  constexpr double kOpenEnd = std::numeric_limits<double>::infinity();
  std::size_t axis = 0;
  for (const std::string& part : split(box, ',')) {
    const std::size_t equals = part.rfind('=');
    const std::vector<std::string> ends = split(equals == std::string::npos ? part : part.substr(equals + 1), ':');
    if (ends.size() != 2) {
      throw UsageError(fmt::format("--box: \"{}\" is not low:high or column=low:high; an end may be left out", part));
    }
    if (equals == std::string::npos && axis >= table.coordinates.size()) {
      throw UsageError(
          fmt::format("--box: {} has {} coordinates, fewer than there are ranges", file, table.coordinates.size()));
    }
    const std::uint32_t position =
        equals == std::string::npos ? table.coordinates[axis++] : table.require(part.substr(0, equals), file);
    const io::Column& column = table.columns[position];
    if (column.is_text()) throw UsageError(fmt::format("--box: the column {} holds text", column.name()));
    const double low = end_of_box(ends[0], -kOpenEnd, box);
    const double high = end_of_box(ends[1], kOpenEnd, box);
    if (low > high) throw UsageError(fmt::format("--box: {} lies above {} in \"{}\"", low, high, part));
    for (std::uint64_t row = 0; row < table.rows(); ++row) {
      const double value = column.number(row);
      if (!(value >= low && value <= high)) kept[row] = false;
    }
  }
}

void keep_where(const std::string& condition, const io::Table& table, int threads, std::vector<bool>& kept) {
  std::vector<std::uint32_t> rows;
  try {
    rows = apps::rows_where(table, condition, threads);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--where: {}", error.what()));
  }
  std::vector<bool> are_true(kept.size(), false);
  for (const std::uint32_t row : rows) are_true[row] = true;
  for (std::size_t row = 0; row < kept.size(); ++row) kept[row] = kept[row] && are_true[row];
}

}  // namespace

FlagGroup condition_flags(RowConditions& conditions) {
  return {"Which rows",
          {{"--where", "CONDITION", "rows for which this is true, e.g. \"mean_distance < 0.2 and label == 'car'\"",
            &conditions.where},
           {"--box", "LO:HI,…", "rows within a range of each coordinate, ends included, or of a column: z=0:2.5",
            &conditions.box},
           {"--range", "FIRST:END[:STEP]",
            "rows by number from 0, END not included; negative numbers count from the end", &conditions.range},
           {"--mask", "FILE", "rows marked 1 in this file, which holds a 0 or 1 for each row, e.g. a .npy of booleans",
            &conditions.mask_path},
           {"--invert", "", "the rows that --where, --box, --range and --mask do not choose", &conditions.invert},
           whole_flag("--every", "N", "of these rows, the first and every N-th after it", conditions.every, 1),
           whole_flag("--random", "N", "of these rows, N at random, in the order of the file", conditions.random, 0),
           seed_flag(conditions.seed, "for --random; the same seed takes the same rows on every machine")}};
}

std::vector<std::uint32_t> chosen_rows(const io::Table& table, const RowConditions& conditions, const std::string& file,
                                       const OutputFlags& output, const ProgressCallback& progress) {
  std::vector<bool> kept(static_cast<std::size_t>(table.rows()), true);
  if (!conditions.mask_path.empty()) {
    const auto bits = read_row_mask("--mask", conditions.mask_path, table.rows(), output, progress);
    for (std::size_t row = 0; row < kept.size(); ++row) kept[row] = ((bits[row / 64] >> (row % 64)) & 1) != 0;
  }
  if (!conditions.range.empty()) keep_range(conditions.range, table.rows(), kept);
  if (!conditions.box.empty()) keep_box(conditions.box, table, file, kept);
  if (!conditions.where.empty()) keep_where(conditions.where, table, conditions.threads, kept);
  std::vector<std::uint32_t> rows;
  std::uint64_t seen = 0;
  for (std::size_t row = 0; row < kept.size(); ++row) {
    if (kept[row] == conditions.invert) continue;
    if (seen++ % conditions.every == 0) rows.push_back(static_cast<std::uint32_t>(row));
  }
  if (!conditions.random) return rows;
  std::vector<std::uint32_t> some;
  for (const std::uint32_t i : apps::random_rows(rows.size(), *conditions.random, conditions.seed)) {
    some.push_back(rows[i]);
  }
  return some;
}

}  // namespace kith::cli
