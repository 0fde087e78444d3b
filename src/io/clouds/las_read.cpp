// Reads the points of an uncompressed LAS file, always as f64 unless asked otherwise: coordinates are large and fine.
#include "io/formats.hpp"
#include "io/clouds/las_format.hpp"

#include <memory>
#include <utility>

namespace kith::io::inline v0 {

PointFile read_las(const runtime::InputFile& file, const ReadOptions& options) {
  LasFile las = read_las_header(file);
  if (options.table != nullptr) {
    options.table->las = std::make_shared<LasHeader>(std::move(las.header));
    options.table->notes = std::move(las.notes);
  }
  ReadOptions as_f64 = options;
  as_f64.dtype = options.dtype.value_or(DType::f64);
  return read_records(file, las.layout, as_f64, Format::las, kPlaceColumns);
}

}  // namespace kith::io::inline v0
