// See shown_clouds.hpp.
#include "shown_clouds.hpp"

#include "table_input.hpp"

#include <kith/apps/cloud_distance.hpp>
#include <kith/apps/normals.hpp>
#include <kith/apps/select_rows.hpp>
#include <kith/apps/take_rows.hpp>
#include <kith/apps/transform.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/io/neighbors_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace kith::cli {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// The columns that --columns names; else x, y, z, if at least two of them are there; else all that the format takes
/// for coordinates, if they are not more than three.
std::vector<std::uint32_t> coordinates_of(const io::Table& table, const std::string& path, const ShownFlags& flags) {
  std::vector<std::uint32_t> found;
  for (const std::string& name : flags.read.columns) found.push_back(table.require(name, path));
  if (!found.empty()) return found;
  for (const std::string_view wanted : {"x", "y", "z"}) {
    const auto column = std::ranges::find_if(table.columns, [wanted](const io::Column& candidate) {
      return !candidate.is_text() && same_name(candidate.name(), wanted);
    });
    if (column != table.columns.end()) found.push_back(static_cast<std::uint32_t>(column - table.columns.begin()));
  }
  if (found.size() >= 2) return found;
  found = table.coordinates;
  if (found.empty()) throw UsageError(fmt::format("{} holds no numbers, so there is nothing to show", path));
  if (found.size() > 3) {
    throw UsageError(
        fmt::format("{} has {} columns of numbers and none is called x; name the coordinates: --columns 1,2,3", path,
                    found.size()));
  }
  return found;
}

PointSet points_of(const io::Table& table, const std::vector<std::uint32_t>& coordinates) {
  const bool is_f32 = std::ranges::all_of(coordinates, [&table](std::uint32_t i) {
    const io::ColumnType type = table.columns[i].type();
    return type == io::ColumnType::f32 || (!io::is_float(type) && io::size_of(type) <= 2);
  });
  const std::size_t dims = coordinates.size();
  PointSet points(is_f32 ? DType::f32 : DType::f64, table.rows(), static_cast<std::uint32_t>(dims));
  const auto fill = [&]<typename T>(T) {
    const std::span<T> values = points.values<T>();
    for (std::size_t d = 0; d < dims; ++d) {
      const io::Column& column = table.columns[coordinates[d]];
      for (std::uint64_t i = 0; i < table.rows(); ++i) values[i * dims + d] = static_cast<T>(column.number(i));
    }
  };
  is_f32 ? fill(float{}) : fill(double{});
  return points;
}

void require_numbers(const io::Table& table, const std::vector<std::uint32_t>& coordinates, const std::string& path) {
  for (const std::uint32_t i : coordinates) {
    if (!table.columns[i].is_text()) continue;
    throw UsageError(
        fmt::format("{}: column \"{}\" holds text, so it cannot be a coordinate", path, table.columns[i].name()));
  }
}

bool has_column(const std::vector<ShownCloud>& clouds, std::string_view name) {
  return std::ranges::any_of(clouds, [name](const ShownCloud& cloud) {
    return std::ranges::any_of(cloud.columns,
                               [name](const io::Column& column) { return same_name(column.name(), name); });
  });
}

void add_normals(ShownCloud& cloud, const ShownFlags& flags, TerminalProgress& progress) {
  apps::NormalsOptions options;
  options.skip_nonfinite = true;
  options.device = flags.device;
  options.threads = flags.threads;
  options.progress = progress.callback();
  const apps::Normals found = apps::normals(cloud.points.view(), options);
  const std::uint32_t dims = found.normals.dims();
  for (std::uint32_t d = 0; d < dims; ++d) {
    io::Column column(std::string("n") + "xyz"[d], io::ColumnType::f32, found.normals.rows());
    for (std::uint64_t i = 0; i < found.normals.rows(); ++i) {
      column.values<float>()[i] = static_cast<float>(found.normals.view().at(i, d));
    }
    cloud.columns.push_back(std::move(column));
  }
  io::Column curvature("curvature", io::ColumnType::f32, found.curvature.rows());
  for (std::uint64_t i = 0; i < found.curvature.rows(); ++i) {
    curvature.values<float>()[i] = static_cast<float>(found.curvature.view().at(i, 0));
  }
  cloud.columns.push_back(std::move(curvature));
}

/// Where the points belong, in f64.
PointSet placed_points(const ShownCloud& cloud, const ShownFlags& flags) {
  PointSet wide(DType::f64, cloud.points.rows(), cloud.points.dims());
  const std::span<double> values = wide.values<double>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = cloud.points.view().at(i / cloud.points.dims(), static_cast<std::uint32_t>(i % cloud.points.dims()));
  }
  if (!cloud.pose) return wide;
  apps::TransformOptions options;
  options.skip_nonfinite = true;
  options.threads = flags.threads;
  return apps::transform(wide.view(), *cloud.pose, options);
}

io::Column distance_column(const std::vector<double>& distances) {
  io::Column column("distance", std::span<const double>(distances));
  for (double& distance : column.values<double>()) {
    if (std::isinf(distance)) distance = std::numeric_limits<double>::quiet_NaN();
  }
  return column;
}

/// Of the first cloud from the second, of every other one from the first.
void add_distances(std::vector<ShownCloud>& clouds, const ShownFlags& flags, TerminalProgress& progress) {
  if (clouds.size() < 2) {
    throw UsageError("--color distance: there is no such column; it is computed between two clouds");
  }
  std::vector<PointSet> placed;
  for (const ShownCloud& cloud : clouds) placed.push_back(placed_points(cloud, flags));
  apps::CloudDistanceOptions options;
  options.skip_nonfinite = true;
  options.device = flags.device;
  options.threads = flags.threads;
  options.progress = progress.callback();
  for (std::size_t i = 0; i < clouds.size(); ++i) {
    const PointSet& other = placed[i == 0 ? 1 : 0];
    clouds[i].columns.push_back(
        distance_column(apps::cloud_distance(placed[i].view(), other.view(), options).forward.distances));
  }
}

void find_neighbors(ShownCloud& cloud, const ShownFlags& flags, TerminalProgress& progress) {
  BuildOptions build;
  build.device = flags.device;
  build.expected_queries = cloud.points.rows();
  build.skip_nonfinite = true;
  build.threads = flags.threads;
  build.progress = progress.callback();
  SearchOptions search;
  search.exclude_self = true;
  search.skip_nonfinite = true;
  search.threads = flags.threads;
  search.progress = progress.callback();
  cloud.neighbors = Index::build(cloud.points.view(), build).knn_self(flags.neighbors, search);
}

}  // namespace

ShownCloud read_shown_cloud(const std::string& path, const ShownFlags& flags, TerminalProgress& progress) {
  io::ReadOptions read = flags.read;
  read.columns.clear();  // all are read: what is no coordinate is shown, too
  read.missing_as_nan = true;
  io::Table table = read_table_input(path, read, flags.output, progress.callback());
  ShownCloud cloud;
  cloud.name = path == "-" ? "standard input" : path.substr(path.find_last_of('/') + 1);
  if (flags.sample > 0 && table.rows() > flags.sample) {
    cloud.row_numbers = apps::random_rows(table.rows(), flags.sample, flags.seed);
    flags.output.note(fmt::format("{}: {} of {} points, drawn at random", path, flags.sample, table.rows()));
    table = io::take_rows(table, cloud.row_numbers);
  }
  const std::vector<std::uint32_t> coordinates = coordinates_of(table, path, flags);
  require_numbers(table, coordinates, path);
  cloud.points = points_of(table, coordinates);
  std::vector<bool> is_left_out(table.columns.size(), flags.drop == std::vector<std::string>{"all"});
  for (const std::uint32_t i : coordinates) is_left_out[i] = true;
  for (const std::string& name : flags.drop) {
    if (name != "all") is_left_out[table.require(name, path)] = true;
  }
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!is_left_out[i]) cloud.columns.push_back(std::move(table.columns[i]));
  }
  return cloud;
}

Neighbors read_shown_neighbors(const std::string& path) {
  auto found = io::read_neighbors(path);
  if (Neighbors* neighbors = std::get_if<Neighbors>(&found)) return std::move(*neighbors);
  throw UsageError(fmt::format("--neighbors: {} holds lists of a radius; give a result of kith knn", path));
}

void add_computed(std::vector<ShownCloud>& clouds, const std::string& color, const ShownFlags& flags,
                  TerminalProgress& progress) {
  const bool is_normal = color == "normal" || color == "normals";
  const bool needs_normals = (is_normal && !has_column(clouds, "nx") && !has_column(clouds, "normal_x")) ||
                             (color == "curvature" && !has_column(clouds, color));
  if (needs_normals) {
    flags.output.explanation("normals and curvature by the 16 nearest points");
    for (ShownCloud& cloud : clouds) add_normals(cloud, flags, progress);
  }
  if (color == "distance" && !has_column(clouds, color)) {
    flags.output.explanation(
        "distances of the first cloud from the second, of others from the first, where poses move them");
    add_distances(clouds, flags, progress);
  }
  if (flags.neighbors > 0) {
    flags.output.explanation(fmt::format("the {} nearest others of every point", flags.neighbors));
    for (ShownCloud& cloud : clouds) find_neighbors(cloud, flags, progress);
  }
}

std::vector<apps::ViewedCloud> viewed_clouds(const std::vector<ShownCloud>& clouds) {
  std::vector<apps::ViewedCloud> viewed;
  for (std::uint32_t i = 0; i < clouds.size(); ++i) {
    const ShownCloud& cloud = clouds[i];
    viewed.push_back({.name = cloud.name,
                      .points = cloud.points.view(),
                      .columns = cloud.columns,
                      .row_numbers = cloud.row_numbers,
                      .pose = cloud.pose,
                      .neighbors = cloud.neighbors ? &*cloud.neighbors : nullptr,
                      .neighbors_of = i});
  }
  return viewed;
}

}  // namespace kith::cli
