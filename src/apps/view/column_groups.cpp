// See column_groups.hpp.
#include "apps/view/column_groups.hpp"

#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>

namespace kith::apps {
namespace {

/// Columns of whole numbers with one of these names are classes, not amounts.
constexpr std::string_view kLabelNames[] = {"label",    "labels", "class",    "classes", "classification", "cluster",
                                            "category", "kind",   "instance", "segment", "object"};

struct GroupNames {
  std::string_view name;
  ColumnKind kind;
  std::array<std::string_view, 3> parts;
};
constexpr GroupNames kGroups[] = {
    {"rgb", ColumnKind::color, {"red", "green", "blue"}},
    {"rgb", ColumnKind::color, {"r", "g", "b"}},
    {"normal", ColumnKind::direction, {"nx", "ny", "nz"}},
    {"normal", ColumnKind::direction, {"normal_x", "normal_y", "normal_z"}},
};

const io::Column* find_numbers(std::span<const io::Column> columns, std::string_view name) {
  const auto found = std::ranges::find_if(
      columns, [name](const io::Column& column) { return !column.is_text() && same_name(column.name(), name); });
  return found == columns.end() ? nullptr : &*found;
}

/// The parts of a group, if all are there.
std::vector<const io::Column*> parts_of(const GroupNames& names, std::span<const io::Column> columns,
                                        std::uint32_t dims) {
  const std::size_t needed = names.kind == ColumnKind::color ? 3 : dims;
  std::vector<const io::Column*> parts;
  for (std::size_t i = 0; i < needed; ++i) {
    const io::Column* part = find_numbers(columns, names.parts[i]);
    if (part == nullptr) return {};
    parts.push_back(part);
  }
  return parts;
}

bool is_label(const io::Column& column) {
  if (column.is_text()) return true;
  if (io::is_float(column.type())) return false;
  return std::ranges::any_of(kLabelNames, [&](std::string_view name) { return same_name(column.name(), name); });
}

/// Blue in the lowest byte; PCD declares these bytes as a float.
std::uint32_t packed_color(const io::Column& column, std::uint64_t row) {
  if (column.type() == io::ColumnType::f32) return std::bit_cast<std::uint32_t>(column.values<float>()[row]);
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(column.number(row)));
}

bool is_packed_color(const io::Column& column) {
  const io::ColumnType type = column.type();
  const bool has_four_bytes = type == io::ColumnType::f32 || type == io::ColumnType::u32 || type == io::ColumnType::i32;
  return has_four_bytes && (same_name(column.name(), "rgb") || same_name(column.name(), "rgba"));
}

/// What values are multiplied by: those above 255 have 16 bits, fractions reach to 1.
double color_scale(const std::vector<const io::Column*>& parts) {
  double most = 0;
  bool are_floats = false;
  for (const io::Column* part : parts) {
    are_floats = are_floats || io::is_float(part->type());
    for (std::uint64_t row = 0; row < part->rows(); ++row) {
      const double value = part->number(row);
      if (std::isfinite(value)) most = std::max(most, value);
    }
  }
  if (are_floats && most <= 1) return 255;
  return most > 255 ? 255.0 / 65535 : 1;
}

/// Whole numbers by size, else by their bytes.
std::vector<std::string> sorted_words(const std::unordered_map<std::string, std::uint32_t>& seen) {
  std::vector<std::string> words;
  for (const auto& [word, code] : seen) words.push_back(word);
  const auto is_negative = [](std::string_view word) { return word.starts_with('-'); };
  const bool are_whole = std::ranges::all_of(words, [](std::string_view word) {
    if (word.starts_with('-')) word.remove_prefix(1);
    return !word.empty() && word.size() < 20 && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  });
  std::ranges::sort(words, [&](const std::string& a, const std::string& b) {
    if (!are_whole) return a < b;
    if (is_negative(a) != is_negative(b)) return is_negative(a);
    const bool is_before = a.size() != b.size() ? a.size() < b.size() : a < b;
    return is_negative(a) ? (a != b && !is_before) : is_before;
  });
  return words;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::vector<ColumnGroup> grouped_columns(std::span<const io::Column> columns, std::uint32_t dims) {
  std::vector<ColumnGroup> wholes;
  std::set<const io::Column*> taken;
  for (const GroupNames& names : kGroups) {
    if (std::ranges::any_of(wholes, [&](const ColumnGroup& group) { return group.kind == names.kind; })) continue;
    std::vector<const io::Column*> parts = parts_of(names, columns, dims);
    if (parts.empty()) continue;
    taken.insert(parts.begin(), parts.end());
    wholes.push_back({std::string(names.name), names.kind, std::move(parts)});
  }
  std::vector<ColumnGroup> groups;
  for (const io::Column& column : columns) {
    if (is_packed_color(column)) {
      groups.push_back({column.name(), ColumnKind::color, {&column}});
      continue;
    }
    if (!taken.contains(&column)) {
      groups.push_back({column.name(), is_label(column) ? ColumnKind::label : ColumnKind::number, {&column}});
      continue;
    }
    for (const ColumnGroup& whole : wholes) {
      if (std::ranges::min(whole.parts) == &column) groups.push_back(whole);
    }
  }
  return groups;
}

Labels labels_of(const io::Column& column, std::span<const std::uint32_t> rows) {
  Labels labels;
  std::unordered_map<std::string, std::uint32_t> seen;
  labels.codes.resize(rows.size());
  std::string word;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    word.clear();
    column.print(rows[i], word);
    labels.codes[i] = seen.try_emplace(word, static_cast<std::uint32_t>(seen.size())).first->second;
    if (seen.size() > kMostLabels) return {};
    if (i % 65536 == 0) runtime::look_for_stop();
  }
  labels.words = sorted_words(seen);
  std::vector<std::uint32_t> places(seen.size());
  for (std::uint32_t place = 0; place < labels.words.size(); ++place) places[seen.at(labels.words[place])] = place;
  for (std::uint32_t& code : labels.codes) code = places[code];
  return labels;
}

std::vector<double> color_values(const ColumnGroup& color, std::size_t part, std::span<const std::uint32_t> rows) {
  std::vector<double> values(rows.size());
  if (color.parts.size() == 1) {
    const int shift = 16 - 8 * static_cast<int>(part);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      values[i] = static_cast<double>(packed_color(*color.parts[0], rows[i]) >> shift & 255);
    }
    return values;
  }
  const double scale = color_scale(color.parts);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double value = std::floor(color.parts[part]->number(rows[i]) * scale + 0.5);
    values[i] = std::isnan(value) ? 0 : std::clamp(value, 0.0, 255.0);
  }
  return values;
}

}  // namespace kith::apps
