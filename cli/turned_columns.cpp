// See turned_columns.hpp.
#include "turned_columns.hpp"

#include <kith/point_set.hpp>

#include <algorithm>
#include <utility>

namespace kith::cli {

std::vector<io::Column> turned_normals(const KeptColumns& columns, const apps::Pose& pose,
                                       const apps::TransformOptions& options, std::vector<std::string>& names) {
  const std::uint32_t dims = columns.file().points.dims();
  std::vector<io::Column> turned;
  for (const std::string prefix : {"n", "normal_"}) {
    std::vector<const io::Column*> found;
    for (std::uint32_t d = 0; d < dims; ++d) found.push_back(columns.find_numbers(prefix + "xyz"[d]));
    if (std::ranges::find(found, nullptr) != found.end()) continue;
    const std::uint64_t rows = columns.file().points.rows();
    PointSet normals(DType::f64, rows, dims);
    for (std::uint32_t d = 0; d < dims; ++d) {
      for (std::uint64_t i = 0; i < rows; ++i) normals.values<double>()[i * dims + d] = found[d]->number(i);
    }
    apps::TransformOptions leave_out = options;
    leave_out.skip_nonfinite = true;  // a point without a normal is no error
    const PointSet moved = apps::turn_directions(normals.view(), pose, leave_out);
    const io::Table table = io::table_of(moved.view());
    for (std::uint32_t d = 0; d < dims; ++d) {
      io::Column column =
          io::rounded(table.columns[d], io::is_float(found[d]->type()) ? found[d]->type() : io::ColumnType::f64);
      column.rename(found[d]->name());
      names.push_back(found[d]->name());
      turned.push_back(std::move(column));
    }
  }
  return turned;
}

}  // namespace kith::cli
