// See pose_file.hpp: finds rows of numbers in text, arrays or JSON, and makes a pose of them.
#include "io/results/pose_read.hpp"

#include "io/numpy/npy_header.hpp"
#include "io/text/text_number.hpp"

#include <kith/error.hpp>
#include <kith/io/pose_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kMostPoseBytes = 1 << 20;
constexpr std::string_view kShapesOfPoses =
    "a pose is 4 rows of 4 numbers, 3 of 4, in a plane 3 of 3 or 2 of 3, or 16 or 12 numbers in one row";

using PoseRows = std::vector<std::vector<double>>;

[[noreturn]] void refuse_pose(const std::string& name, std::string_view why) {
  throw BadData(fmt::format("{}: {}; {}", name, why, kShapesOfPoses));
}

std::string shape_text(const PoseRows& rows) {
  if (rows.empty()) return "it holds no numbers";
  for (const auto& row : rows) {
    if (row.size() != rows[0].size()) {
      return fmt::format("the first row has {} numbers, another one {}", rows[0].size(), row.size());
    }
  }
  const std::string several =
      rows.size() > 4 && rows[0].size() == 12 ? ", which look like several poses: keep one" : "";
  return fmt::format("it holds {} rows of {} numbers{}", rows.size(), rows[0].size(), several);
}

/// All numbers of one line as rows of 4.
PoseRows folded(const std::vector<double>& line) {
  PoseRows rows;
  for (std::size_t i = 0; i < line.size(); i += 4) rows.emplace_back(line.begin() + i, line.begin() + i + 4);
  return rows;
}

apps::Pose pose_of(PoseRows rows, const std::string& name) {
  if (rows.size() == 1 && (rows[0].size() == 16 || rows[0].size() == 12)) rows = folded(rows[0]);
  const std::size_t columns = rows.empty() ? 0 : rows[0].size();
  for (const auto& row : rows) {
    if (row.size() != columns) refuse_pose(name, shape_text(rows));
  }
  const bool is_space = columns == 4 && (rows.size() == 4 || rows.size() == 3);
  const bool is_plane = columns == 3 && (rows.size() == 3 || rows.size() == 2);
  if (!is_space && !is_plane) refuse_pose(name, shape_text(rows));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      if (std::isfinite(rows[i][j])) continue;
      throw BadData(fmt::format("{}: row {}, number {} of the pose is {}, but must be finite", name, i + 1, j + 1,
                                std::isnan(rows[i][j]) ? "NaN" : "infinity or too large"));
    }
  }
  if (rows.size() == columns) {
    std::vector<double> last(columns, 0.0);
    last.back() = 1;
    if (rows.back() != last) {
      throw BadData(fmt::format("{}: the last row of the pose is {}, but must be {}; is the matrix transposed?", name,
                                fmt::join(rows.back(), " "), fmt::join(last, " ")));
    }
    rows.pop_back();
  }
  apps::Pose pose;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    for (std::uint32_t j = 0; j < columns; ++j) pose(i, is_plane && j == 2 ? 3 : j) = rows[i][j];
  }
  return pose;
}

PoseRows rows_of_text(std::string_view text, const std::string& name) {
  constexpr std::string_view kBetween = " \t\r,;";
  PoseRows rows;
  std::uint64_t number_of_line = 0;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty()) {
    ++number_of_line;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    std::vector<double> row;
    for (;;) {
      line.remove_prefix(std::min(line.find_first_not_of(kBetween), line.size()));
      if (line.empty()) break;
      const std::string_view word = line.substr(0, line.find_first_of(kBetween));
      double value = 0;
      if (parse_number(word.data(), word.data() + word.size(), value) != word.data() + word.size()) {
        throw BadData(fmt::format("{}: line {}: \"{}\" is not a number; {}", name, number_of_line, word.substr(0, 40),
                                  kShapesOfPoses));
      }
      row.push_back(value);
      line.remove_prefix(word.size());
    }
    if (!row.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<double> row_of_json(const nlohmann::json& list, const std::string& name) {
  std::vector<double> row;
  for (const nlohmann::json& value : list) {
    if (!value.is_number()) refuse_pose(name, fmt::format("a {} stands where a number should be", value.type_name()));
    row.push_back(value.get<double>());
  }
  return row;
}

PoseRows rows_of_json(std::string_view text, const std::string& name) {
  const nlohmann::json all = nlohmann::json::parse(text, nullptr, false);
  if (all.is_discarded()) throw BadData(fmt::format("{}: it begins as JSON does, but is none", name));
  const nlohmann::json* list = &all;
  if (all.is_object()) {
    const auto found = all.find("transformation");
    if (found == all.end()) refuse_pose(name, "the JSON object has no \"transformation\"");
    list = &*found;
  }
  if (!list->is_array())
    refuse_pose(name, fmt::format("a {} stands where a list of rows should be", list->type_name()));
  PoseRows rows;
  if (!list->empty() && !list->front().is_array()) return {row_of_json(*list, name)};
  for (const nlohmann::json& row : *list) {
    if (!row.is_array()) refuse_pose(name, fmt::format("a {} stands where a row should be", row.type_name()));
    rows.push_back(row_of_json(row, name));
  }
  return rows;
}

PoseRows rows_of_array(const runtime::InputFile& file) {
  ReadOptions options;
  options.dtype = DType::f64;
  options.threads = 1;
  const PointFile read = read_npy_points(file, 0, file.size(), file.name(), options, Format::npy);
  PoseRows rows;
  const bool is_line = read.points.dims() == 1;  // an array of one dimension
  if (is_line) rows.emplace_back();
  for (std::uint64_t i = 0; i < read.points.rows(); ++i) {
    if (!is_line) rows.emplace_back();
    for (std::uint32_t d = 0; d < read.points.dims(); ++d) rows.back().push_back(read.view().at(i, d));
  }
  return rows;
}

}  // namespace

apps::Pose read_pose_file(const runtime::InputFile& file) {
  if (file.size() > kMostPoseBytes) {
    refuse_pose(file.name(), fmt::format("the file has {} bytes, too many for a pose", file.size()));
  }
  const std::string text = file.head(kMostPoseBytes);
  if (text.starts_with("\x93NUMPY")) return pose_of(rows_of_array(file), file.name());
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const bool is_json = start != std::string::npos && (text[start] == '{' || text[start] == '[');
  return pose_of(is_json ? rows_of_json(text, file.name()) : rows_of_text(text, file.name()), file.name());
}

apps::Pose read_pose(const std::string& path) { return read_pose_file(runtime::InputFile(path)); }

}  // namespace kith::io::inline v0
