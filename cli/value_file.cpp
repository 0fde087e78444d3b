// See value_file.hpp.
#include "value_file.hpp"

#include "input_flags.hpp"
#include "readable.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::cli {

io::PointFile read_values(const ValueFile& file, const OutputFlags& output, const ProgressCallback& progress) {
  io::PointFile values = read_input(file.path, {}, output, progress);
  const PointView view = values.view();
  if (view.dims() > 1) {
    throw UsageError(
        fmt::format("{}: {} has {} columns; give one value per {}", file.flag, file.path, view.dims(), file.of));
  }
  if (view.rows() != file.count) {
    throw UsageError(fmt::format("{}: {} has {}, but there are {}; give one for each", file.flag, file.path,
                                 counted(view.rows(), "value"), counted(file.count, file.of, file.of_many)));
  }
  return values;
}

}  // namespace kith::cli
