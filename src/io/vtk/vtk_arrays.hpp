// What legacy and XML files of VTK share: the points and the arrays of point data become columns.
#pragma once

#include "io/records/record_layout.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kith::io::inline v0 {

/// Adds the columns of an array of `components` values per point that starts at `offset`: "x", "y", "z" for the points,
/// else its name, with _x, _y, _z behind it for vectors and _1, _2, … for other tuples. Throws CorruptFile if there are
/// too many.
void add_vtk_array(RecordLayout& layout, const std::string& file_name, std::string_view name, bool is_points,
                   NumberType type, std::uint64_t components, std::uint64_t offset);

/// The number whose text begins at `at`, as the bytes of `type` in the machine's order, to `out`. Where the text ends,
/// or null if it is not a number of that type.
const char* parse_vtk_number(const char* at, const char* end, NumberType type, char* out);

}  // namespace kith::io::inline v0
