// See geographic_note.hpp.
#include "geographic_note.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>

namespace kith::cli {
namespace {

/// The first column that has one of these names, in any case; empty if there is none.
std::string column_called(const std::vector<std::string>& columns, std::initializer_list<std::string_view> names) {
  for (const std::string& column : columns) {
    std::string lower = column;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::ranges::find(names, std::string_view(lower)) != names.end()) return column;
  }
  return {};
}

}  // namespace

void note_on_degrees(const std::vector<std::string>& columns, Metric metric, const OutputFlags& output) {
  if (metric.is_of_directions() || !metric.info().has_distances) return;
  const std::string longitude = column_called(columns, {"lon", "lng", "long", "longitude"});
  const std::string latitude = column_called(columns, {"lat", "latitude"});
  if (longitude.empty() || latitude.empty()) return;
  output.note(
      fmt::format("{0} and {1} are compared by {2} as in a plane: distances are in degrees, and the nearest on the "
                  "globe may be another; "
                  "for that search unit vectors, x = cos({1}) cos({0}), y = cos({1}) sin({0}), z = sin({1})",
                  longitude, latitude, metric.name()));
}

}  // namespace kith::cli
