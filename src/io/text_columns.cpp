// Turns the columns and the label that a caller asked for into a plan for the fields of a row. See text_layout.hpp.
#include "io/text_field.hpp"
#include "io/text_layout.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace kith::io {
namespace {

constexpr std::size_t kMaxDims = 4096;

std::string known_columns(const TextLayout& layout) {
  constexpr std::size_t kShownNames = 20;
  if (layout.names.empty()) {
    return fmt::format("it has no header and {} columns, which are called 1 to {}", layout.fields, layout.fields);
  }
  std::string names;
  for (std::size_t i = 0; i < std::min(layout.names.size(), kShownNames); ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", layout.names[i]);
  }
  return fmt::format("it has {} columns: {}{}", layout.fields, names, layout.names.size() > kShownNames ? ", ..." : "");
}

/// By name, else by position from 1, else "last".
std::size_t find_column(const TextLayout& layout, const std::string& wanted, const std::string& file_name) {
  const auto named = std::ranges::find(layout.names, wanted);
  if (named != layout.names.end()) {
    if (std::find(named + 1, layout.names.end(), wanted) != layout.names.end()) {
      throw UsageError(fmt::format("{}: several columns are called {}; give the position instead (1 is the first)",
                                   file_name, shown(wanted)));
    }
    return static_cast<std::size_t>(named - layout.names.begin());
  }
  if (wanted == "last") return layout.fields - 1;
  std::uint64_t position = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), position);
  if (error == std::errc() && end == wanted.data() + wanted.size() && position >= 1 && position <= layout.fields) {
    return position - 1;
  }
  throw UsageError(fmt::format("{}: there is no column {}; {}", file_name, shown(wanted), known_columns(layout)));
}

}  // namespace

ColumnPlan plan_columns(const TextLayout& layout, const ReadOptions& options, const std::string& file_name) {
  ColumnPlan plan;
  plan.target_of_field.assign(layout.fields, ColumnPlan::kSkip);
  if (!options.label.empty()) {
    plan.target_of_field[find_column(layout, options.label, file_name)] = ColumnPlan::kLabel;
    plan.has_label = true;
  }

  std::vector<std::size_t> chosen;
  if (!options.columns.empty()) {
    for (const std::string& wanted : options.columns) chosen.push_back(find_column(layout, wanted, file_name));
  } else if (layout.is_molecule) {
    chosen = {1, 2, 3};
  } else {
    std::vector<bool> is_other(layout.fields, false);
    for (const std::string& wanted : options.extras) is_other[find_column(layout, wanted, file_name)] = true;
    for (std::size_t field = 0; field < layout.fields; ++field) {
      if (!is_other[field] && plan.target_of_field[field] != ColumnPlan::kLabel) chosen.push_back(field);
    }
  }
  if (chosen.empty()) {
    throw BadData(fmt::format("{}: no column of coordinates is left beside the label and extra columns", file_name));
  }
  if (chosen.size() > kMaxDims) {
    throw BadData(fmt::format("{}: has {} columns of coordinates, kith takes 1 to {}; choose some (--columns)",
                              file_name, chosen.size(), kMaxDims));
  }

  for (const std::size_t field : chosen) {
    std::int32_t& target = plan.target_of_field[field];
    if (target != ColumnPlan::kSkip) {
      throw UsageError(fmt::format("{}: {} is asked for {}", file_name, column_name(layout, field),
                                   target == ColumnPlan::kLabel ? "as label and as coordinate" : "twice"));
    }
    if (!layout.text_examples[field].empty()) {
      throw BadData(fmt::format(
          "{}: line {}, {} holds text ({}), not numbers; read it as the label (--label {}) or choose other columns "
          "(--columns)",
          file_name, layout.first_line, column_name(layout, field), shown(layout.text_examples[field]), field + 1));
    }
    target = static_cast<std::int32_t>(plan.dims++);
    if (!layout.names.empty()) plan.names.push_back(layout.names[field]);
  }
  return plan;
}

}  // namespace kith::io
