// See array_reader.hpp.
#include "io/numpy/array_reader.hpp"

#include "io/numpy/npy_header.hpp"
#include "io/records/record_layout.hpp"

#include <kith/error.hpp>
#include <kith/io/read_points.hpp>

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string>

namespace kith::io::inline v0 {

bool ArrayReader::has(std::string_view name) const { return archive_.find(fmt::format("{}.npy", name)) != nullptr; }

void ArrayReader::fail(std::string_view why) const { throw CorruptFile(fmt::format("{}: {}", file_.name(), why)); }

template <typename ChooseType>
ArrayMatrix ArrayReader::read(std::string_view name, ChooseType&& choose_type, std::string_view wanted) const {
  const ZipEntry* entry = archive_.find(fmt::format("{}.npy", name));
  if (entry == nullptr) fail(fmt::format("has no array \"{}\"", name));
  const ReadOptions plain;
  const ZipMember member = archive_.open(*entry, plain);
  const std::string what = archive_.describe(*entry);
  const NpyHeader header = read_npy_header(*member.file, member.begin, member.bytes, what);
  std::optional<DType> dtype = choose_type(header.type);
  if (!dtype) fail(fmt::format("the array \"{}\" holds {}, not {}", name, name_of(header.type), wanted));
  if (header.shape.size() > 2) fail(fmt::format("the array \"{}\" has {} dimensions", name, header.shape.size()));
  RecordLayout layout = npy_layout(header, what);
  if (*dtype == DType::f32 && is_integer(header.type)) {  // 32 bits that are not to be converted
    if (layout.big_endian) dtype = DType::f64;
    for (RecordField& field : layout.fields) field.type = layout.big_endian ? field.type : NumberType::f32;
  }
  ArrayMatrix matrix;
  matrix.rows = layout.rows;
  matrix.columns = layout.fields.size();
  matrix.is_vector = header.shape.size() < 2;
  matrix.type = header.type;
  ReadOptions options;
  options.dtype = dtype;
  if (matrix.columns > 0) matrix.values = read_records(*member.file, layout, options, Format::npz).points;
  if (matrix.columns == 0 && *dtype == DType::f64) matrix.values = PointSet(DType::f64, 0, 0);
  return matrix;
}

ArrayMatrix ArrayReader::integers(std::string_view name) const {
  return read(
      name, [](NumberType type) { return is_integer(type) ? std::optional(DType::f64) : std::nullopt; }, "integers");
}

ArrayMatrix ArrayReader::floats(std::string_view name) const {
  return read(
      name,
      [](NumberType type) -> std::optional<DType> {
        if (type == NumberType::f32) return DType::f32;
        if (type == NumberType::f64) return DType::f64;
        return std::nullopt;
      },
      "f32 or f64");
}

std::uint64_t ArrayReader::number(std::string_view name, std::uint64_t limit) const {
  const ArrayMatrix matrix = integers(name);
  if (matrix.rows != 1 || matrix.columns != 1) fail(fmt::format("the array \"{}\" must hold one number", name));
  const double value = matrix.values.values<double>()[0];
  if (!(value >= 0) || value > static_cast<double>(limit)) {
    fail(fmt::format("\"{}\" is {}, which is out of range: at most {}", name, value, limit));
  }
  return static_cast<std::uint64_t>(value);
}

std::vector<std::uint32_t> ArrayReader::numbers(std::string_view name, std::uint32_t limit) const {
  const ArrayMatrix matrix = read(
      name,
      [](NumberType type) -> std::optional<DType> {
        if (type == NumberType::u32) return DType::f32;  // its bits
        return is_integer(type) ? std::optional(DType::f64) : std::nullopt;
      },
      "integers");
  if (!matrix.is_vector) fail(fmt::format("the array \"{}\" must be one-dimensional", name));
  const auto require = [&](auto value, std::size_t i) {
    if (value >= 0 && value <= limit) return;
    fail(fmt::format("\"{}\" has {} at place {}, which is out of range: at most {}", name, value, i, limit));
  };
  std::vector<std::uint32_t> numbers(matrix.values.rows());
  if (matrix.values.dtype() == DType::f32) {
    if (!numbers.empty()) std::memcpy(numbers.data(), matrix.values.view().data(), matrix.values.bytes());
    for (std::size_t i = 0; i < numbers.size(); ++i) require(numbers[i], i);
    return numbers;
  }
  const auto values = matrix.values.values<double>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    require(values[i], i);
    numbers[i] = static_cast<std::uint32_t>(values[i]);
  }
  return numbers;
}

}  // namespace kith::io::inline v0
