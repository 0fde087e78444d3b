// The clouds of kith view: read with all their columns, thinned out, and what is computed to colour them.
#pragma once

#include "output_flags.hpp"
#include "terminal_progress.hpp"

#include <kith/apps/view.hpp>
#include <kith/device.hpp>
#include <kith/io/read_points.hpp>
#include <kith/io/table.hpp>
#include <kith/neighbors.hpp>
#include <kith/point_set.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

struct ShownFlags {
  io::ReadOptions read;
  std::vector<std::string> drop;  ///< columns that are left out; "all": every one
  std::uint64_t sample = 0;       ///< at most so many points of each cloud; 0: all
  std::uint64_t seed = 0;
  std::uint32_t neighbors = 0;  ///< to be found for every point; 0: none
  Device device = Device::automatic();
  int threads = 0;
  OutputFlags output;

  void set_threads(int count) { threads = read.threads = count; }
};

struct ShownCloud {
  std::string name;
  PointSet points;
  std::vector<io::Column> columns;
  std::vector<std::uint32_t> row_numbers;  ///< of a sample, in the file; empty: all rows are there
  std::optional<apps::Pose> pose = {};
  std::optional<Neighbors> neighbors = {};
};

/// Throws as `io::read_table`, and UsageError if the coordinates are not clear.
ShownCloud read_shown_cloud(const std::string& path, const ShownFlags& flags, TerminalProgress& progress);

/// Throws UsageError if these are lists of a radius, else as `io::read_neighbors`.
Neighbors read_shown_neighbors(const std::string& path);

/// Adds what `color` asks for and no column holds: normals and curvature, for two clouds the distance of each point
/// from the other, as poses move them; and the neighbours that the flags ask for.
void add_computed(std::vector<ShownCloud>& clouds, const std::string& color, const ShownFlags& flags,
                  TerminalProgress& progress);

/// Borrowed from these clouds.
std::vector<apps::ViewedCloud> viewed_clouds(const std::vector<ShownCloud>& clouds);

}  // namespace kith::cli
