// Columns of normals that turn along when their points are moved.
#pragma once

#include "kept_columns.hpp"

#include <kith/apps/transform.hpp>
#include <kith/io/table.hpp>

#include <string>
#include <vector>

namespace kith::cli {

/// The columns nx, ny, nz and normal_x, normal_y, normal_z, as far as they are there, turned by the pose; their names
/// are added to `names`.
std::vector<io::Column> turned_normals(const KeptColumns& columns, const apps::Pose& pose,
                                       const apps::TransformOptions& options, std::vector<std::string>& names);

}  // namespace kith::cli
