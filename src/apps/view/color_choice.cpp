// See color_choice.hpp.
#include "apps/view/color_choice.hpp"

#include "apps/view/column_groups.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::apps {
namespace {

using Json = nlohmann::ordered_json;

Json by_cloud() { return Json{{"by", "cloud"}}; }
Json by_axis(std::uint32_t axis) { return Json{{"by", "axis"}, {"axis", axis}}; }
Json by_column(const Json& column) { return Json{{"by", "column"}, {"name", column["name"]}}; }

/// The first column of any cloud with this property.
std::optional<Json> find_column(const Json& clouds, const std::function<bool(const Json&)>& is_meant) {
  for (const Json& cloud : clouds) {
    for (const Json& column : cloud["columns"]) {
      if (is_meant(column)) return by_column(column);
    }
  }
  return {};
}

std::optional<Json> find_kind(const Json& clouds, std::string_view kind) {
  return find_column(clouds, [kind](const Json& column) { return column["kind"] == kind; });
}

std::optional<Json> find_name(const Json& clouds, std::string_view name) {
  const auto exact = find_column(clouds, [name](const Json& column) { return column["name"] == name; });
  if (exact) return exact;
  return find_column(
      clouds, [name](const Json& column) { return same_name(column["name"].get_ref<const std::string&>(), name); });
}

std::uint32_t most_dims(const Json& clouds) {
  std::uint32_t dims = 1;
  for (const Json& cloud : clouds) dims = std::max(dims, cloud["dims"].get<std::uint32_t>());
  return dims;
}

Json usual_choice(const Json& clouds) {
  if (auto color = find_kind(clouds, "color")) return *color;
  for (const std::string_view name : {"distance", "intensity"}) {
    if (auto column = find_name(clouds, name)) return *column;
  }
  if (auto label = find_kind(clouds, "label")) return *label;
  if (clouds.size() > 1) return by_cloud();
  return by_axis(most_dims(clouds) - 1);
}

/// Names of kinds, where no column is called so.
std::optional<Json> find_word(const Json& clouds, std::string_view word) {
  if (word == "cloud") return by_cloud();
  for (std::uint32_t axis = 0; axis < most_dims(clouds); ++axis) {
    if (word.size() == 1 && word[0] == "xyz"[axis]) return by_axis(axis);
  }
  static constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"rgb", "color"}, {"color", "color"}, {"normal", "direction"}, {"normals", "direction"}, {"label", "label"}};
  for (const auto& [name, kind] : kKinds) {
    if (name == word) return find_kind(clouds, kind);
  }
  return {};
}

}  // namespace

Json color_choice(const std::string& wanted, const Json& clouds) {
  if (wanted.empty()) return usual_choice(clouds);
  if (auto column = find_name(clouds, wanted)) return *column;
  if (auto word = find_word(clouds, wanted)) return *word;
  std::vector<std::string> there = {"cloud"};
  for (std::uint32_t axis = 0; axis < most_dims(clouds); ++axis) there.emplace_back(1, "xyz"[axis]);
  for (const Json& cloud : clouds) {
    for (const Json& column : cloud["columns"]) {
      const auto& name = column["name"].get_ref<const std::string&>();
      if (std::ranges::find(there, name) == there.end()) there.push_back(name);
    }
  }
  throw UsageError(fmt::format("color: no column \"{}\"; there are {}", wanted, fmt::join(there, ", ")));
}

}  // namespace kith::apps
