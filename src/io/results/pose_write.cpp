// Writes a pose as text, as an array or as JSON. See pose_file.hpp.
#include "io/lower_case.hpp"
#include "io/numpy/npy_header.hpp"
#include "runtime/output_file.hpp"

#include <kith/io/pose_file.hpp>

#include <fmt/format.h>

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace kith::io::inline v0 {
namespace {

/// 17 significant digits read back as the same number; JSON would read "-0" as the integer 0.
std::string pose_number(double value) {
  return value == 0 ? (std::signbit(value) ? "-0.0" : "0") : fmt::format("{:.17g}", value);
}

/// Four rows; what stands before, between and behind the numbers of a row, and between rows.
std::string pose_rows(const apps::Pose& pose, std::string_view open, std::string_view between, std::string_view close,
                      std::string_view next) {
  std::string text;
  for (std::uint32_t i = 0; i < 4; ++i) {
    text += open;
    for (std::uint32_t j = 0; j < 4; ++j) text += (j == 0 ? "" : std::string(between)) + pose_number(pose(i, j));
    text += close;
    if (i < 3) text += next;
  }
  return text;
}

}  // namespace

void write_pose(const std::string& path, const apps::Pose& pose) {
  const bool is_finite = std::all_of(pose.matrix.begin(), pose.matrix.end(), [](double x) { return std::isfinite(x); });
  if (!is_finite || pose(3, 0) != 0 || pose(3, 1) != 0 || pose(3, 2) != 0 || pose(3, 3) != 1) {
    throw UsageError("a pose must be finite, with 0 0 0 1 as its last row");
  }
  const std::string name = lower_case(path);
  runtime::OutputFile file(path);
  if (name.ends_with(".npy")) {
    const std::uint64_t shape[] = {4, 4};
    file.write(npy_header_bytes("<f8", shape));
    file.write(pose.matrix.data(), sizeof pose.matrix);
  } else if (name.ends_with(".json")) {
    file.write("{\"transformation\": [\n  " + pose_rows(pose, "[", ", ", "]", ",\n  ") + "\n]}\n");
  } else {
    file.write(pose_rows(pose, "", " ", "\n", ""));
  }
  file.commit();
}

}  // namespace kith::io::inline v0
