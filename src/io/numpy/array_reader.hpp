// Reads named arrays of a .npz archive as matrices of numbers: any integer type, either byte order and memory order.
#pragma once

#include "io/records/record_type.hpp"
#include "io/numpy/zip_read.hpp"

#include <kith/point_set.hpp>

#include "runtime/input_file.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

/// One array of the archive.
struct ArrayMatrix {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  bool is_vector = false;
  NumberType type = NumberType::f32;
  PointSet values;  ///< rows x columns; empty if either is 0
};

/// The file must outlive the reader. Everything throws CorruptFile if an array is damaged or not what is asked for.
class ArrayReader {
 public:
  explicit ArrayReader(const runtime::InputFile& file) : file_(file), archive_(file) {}

  bool has(std::string_view name) const;
  /// Throws CorruptFile with the name of the file.
  [[noreturn]] void fail(std::string_view why) const;

  /// Integers come as f64, which is exact far beyond what an index or offset may be.
  ArrayMatrix integers(std::string_view name) const;
  /// f32 or f64.
  ArrayMatrix floats(std::string_view name) const;
  /// One number of at most `limit`.
  std::uint64_t number(std::string_view name, std::uint64_t limit) const;
  /// A vector of numbers of at most `limit` each.
  std::vector<std::uint32_t> numbers(std::string_view name, std::uint32_t limit) const;

 private:
  template <typename ChooseType>
  ArrayMatrix read(std::string_view name, ChooseType&& choose_type, std::string_view wanted) const;

  const runtime::InputFile& file_;
  ZipArchive archive_;
};

}  // namespace kith::io::inline v0
