// The clouds of one stage of a registration, made ready: rows, the index of the target, normals.
#pragma once

#include "apps/normals/fit_planes.hpp"
#include "core/cloud/motion.hpp"

#include <kith/index.hpp>
#include <kith/point_set.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace kith::apps::inline v0 {

/// The planes around the points of a cloud, and the points that they were fitted to.
struct Surface {
  PointSet normals;
  KeptNeighbors neighbors;  ///< of a target only: they lead to its nearest points
};

template <typename T>
struct Stage {
  PointSet source;
  PointSet source_normals;                 ///< empty unless they are needed
  std::shared_ptr<const PointSet> target;  ///< shared by stages of the same resolution, as all below
  std::shared_ptr<const Surface> target_surface;
  std::optional<Index> target_index;
  std::optional<Index> source_index;  ///< for reciprocal pairs only

  std::uint32_t dims() const { return target->dims(); }
};

/// One row as three doubles, of points in a plane with a third coordinate of 0, less `centre`.
template <typename T>
void load_row(std::span<const T> rows, std::uint32_t dims, std::uint64_t row, const double* centre, double* to) {
  to[2] = 0;
  for (std::uint32_t d = 0; d < dims; ++d) to[d] = static_cast<double>(rows[row * dims + d]) - centre[d];
}

}  // namespace kith::apps::inline v0
