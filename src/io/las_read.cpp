// Reads the points of an uncompressed LAS file, always as f64 unless asked otherwise: coordinates are large and fine.
#include "io/formats.hpp"
#include "io/las_header.hpp"

#include <string>
#include <vector>

namespace kith::io {
namespace {

const std::vector<std::string> kDefaultColumns = {"x", "y", "z"};

}  // namespace

PointFile read_las(const runtime::InputFile& file, const ReadOptions& options) {
  const RecordLayout layout = read_las_layout(file);
  ReadOptions as_f64 = options;
  as_f64.dtype = options.dtype.value_or(DType::f64);
  return read_records(file, layout, as_f64, Format::las, kDefaultColumns);
}

}  // namespace kith::io
