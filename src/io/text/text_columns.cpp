// Turns the columns and the label that a caller asked for into a plan for the fields of a row. See text_layout.hpp.
#include "io/text/text_field.hpp"
#include "io/text/text_layout.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <system_error>

namespace kith::io::inline v0 {
namespace {

constexpr std::size_t kMaxDims = 4096;

/// Nothing in it that --columns or a shell would take for something else.
bool is_plain_word(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == ':' || c >= 0x80;
  });
}

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

/// As --columns takes it: the name, or the position where the name is empty, not unique or has a comma.
std::string argument_for(const TextLayout& layout, std::size_t field) {
  if (layout.names.empty()) return fmt::format("{}", field + 1);
  const std::string& name = layout.names[field];
  const bool is_usable = std::ranges::count(layout.names, name) == 1 && name.size() <= 40 && is_plain_word(name);
  return is_usable ? name : fmt::format("{}", field + 1);
}

/// Coordinates were asked for, but these columns hold text: names all of them, and the flag that leaves them out.
[[noreturn]] void fail_on_text(const TextLayout& layout, const std::vector<std::size_t>& chosen,
                               const std::string& file_name) {
  constexpr std::size_t kMostShown = 8;
  constexpr std::size_t kMostNamed = 64;
  // Text may only stand in another column than it should.
  if (layout.ragged) {
    throw BadData(
        fmt::format("{}: line {}: {}", file_name, layout.ragged->line, ragged_message(layout, layout.ragged->fields)));
  }
  std::vector<std::size_t> texts;
  std::string others;
  std::size_t numeric = 0;
  for (const std::size_t field : chosen) {
    if (!layout.text_examples[field].empty()) {
      texts.push_back(field);
    } else if (numeric++ < kMostNamed) {
      others += (others.empty() ? "" : ",") + argument_for(layout, field);
    }
  }
  std::string columns;
  std::string examples;
  for (std::size_t i = 0; i < std::min(texts.size(), kMostShown); ++i) {
    columns += (i == 0 ? "" : ", ") + column_name(layout, texts[i]);
    examples += (i == 0 ? "" : ", ") + shown(layout.text_examples[texts[i]]);
  }
  if (texts.size() > kMostShown) columns += fmt::format(" and {} more", texts.size() - kMostShown);
  std::string advice = fmt::format("take the others (`columns={}`)", others);
  if (numeric == 0) advice = "strings are searched with `metric=edit`";
  if (numeric > kMostNamed) advice = "choose columns of numbers (`columns=`)";
  if (texts.size() == 1 && numeric > 0) {
    advice = fmt::format("read it as the label (`label={}`) or {}", argument_for(layout, texts[0]), advice);
  }
  throw BadData(fmt::format("{}: line {}, {} {} text ({}), not numbers; {}", file_name, layout.first_line, columns,
                            texts.size() == 1 ? "holds" : "hold", examples, advice));
}

}  // namespace

std::size_t find_column(const TextLayout& layout, const std::string& wanted, const std::string& file_name) {
  std::uint64_t position = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), position);
  const bool is_position =
      error == std::errc() && end == wanted.data() + wanted.size() && position >= 1 && position <= layout.fields;
  const auto named = std::ranges::find(layout.names, wanted);
  if (named != layout.names.end()) {
    if (std::find(named + 1, layout.names.end(), wanted) != layout.names.end()) {
      if (is_position) return position - 1;
      throw UsageError(fmt::format("{}: several columns are called {}; give the position instead (1 is the first)",
                                   file_name, shown(wanted)));
    }
    return static_cast<std::size_t>(named - layout.names.begin());
  }
  if (wanted == "last") return layout.fields - 1;
  if (is_position) return position - 1;
  throw UsageError(fmt::format("{}: there is no column {}; {}", file_name, shown(wanted), known_columns(layout)));
}

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
    throw BadData(fmt::format("{}: no column of coordinates is left besides the label and extra columns", file_name));
  }
  if (chosen.size() > kMaxDims) {
    throw BadData(fmt::format("{}: has {} columns of coordinates, kith takes 1 to {}; choose some (`columns=`)",
                              file_name, chosen.size(), kMaxDims));
  }

  const auto holds_text = [&](std::size_t field) { return !layout.text_examples[field].empty(); };
  if (std::ranges::any_of(chosen, holds_text)) fail_on_text(layout, chosen, file_name);
  for (const std::size_t field : chosen) {
    std::int32_t& target = plan.target_of_field[field];
    if (target != ColumnPlan::kSkip) {
      throw UsageError(fmt::format("{}: {} is asked for {}", file_name, column_name(layout, field),
                                   target == ColumnPlan::kLabel ? "as label and as coordinate" : "twice"));
    }
    target = static_cast<std::int32_t>(plan.dims++);
    if (!layout.names.empty()) plan.names.push_back(layout.names[field]);
  }
  return plan;
}

}  // namespace kith::io::inline v0
