// Reads the points of an uncompressed LAS file, always as f64 unless asked otherwise: coordinates are large and fine.
#include "io/formats.hpp"
#include "io/clouds/las_header.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kith::io::inline v0 {
namespace {

const std::vector<std::string> kDefaultColumns = {"x", "y", "z"};

}  // namespace

PointFile read_las(const runtime::InputFile& file, const ReadOptions& options) {
  LasFile las = read_las_header(file);
  if (options.table != nullptr) {
    options.table->las = std::make_shared<LasHeader>(std::move(las.header));
    options.table->notes = std::move(las.notes);
  }
  ReadOptions as_f64 = options;
  as_f64.dtype = options.dtype.value_or(DType::f64);
  return read_records(file, las.layout, as_f64, Format::las, kDefaultColumns);
}

}  // namespace kith::io::inline v0
