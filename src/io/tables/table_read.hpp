// A table made of points, for formats that give nothing else.
#pragma once

#include <kith/io/read_points.hpp>
#include <kith/io/table.hpp>

namespace kith::io::inline v0 {

/// The coordinates, and the labels if there are any, as columns. Notes of the table stay.
void fill_table(const PointFile& file, Table& table);

}  // namespace kith::io::inline v0
