// Writes arrays that are all in memory as one .npz archive.
#pragma once

#include "io/numpy/zip_write.hpp"
#include "runtime/output_file.hpp"
#include "runtime/progress_meter.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kith::io::inline v0 {

/// The dtype of a C++ type as NumPy writes it, e.g. "<u4".
template <typename T>
constexpr std::string_view npy_descr_of();
template <>
constexpr std::string_view npy_descr_of<std::uint8_t>() {
  return "|u1";
}
template <>
constexpr std::string_view npy_descr_of<std::uint16_t>() {
  return "<u2";
}
template <>
constexpr std::string_view npy_descr_of<std::uint32_t>() {
  return "<u4";
}
template <>
constexpr std::string_view npy_descr_of<std::uint64_t>() {
  return "<u8";
}
template <>
constexpr std::string_view npy_descr_of<float>() {
  return "<f4";
}
template <>
constexpr std::string_view npy_descr_of<double>() {
  return "<f8";
}

/// Arrays are added one by one, then `finish` completes the archive.
class ArrayArchive {
 public:
  /// `bytes` of all arrays together, for the report "writing"; each is gone through twice.
  ArrayArchive(runtime::OutputFile& file, const ProgressCallback& progress, std::uint64_t bytes)
      : archive_(file), meter_(&progress, "writing", 2 * bytes) {}

  /// `shape` is empty for a single number. Throws IoError, Interrupted.
  template <typename T>
  void add(std::string_view name, std::span<const std::uint64_t> shape, std::span<const T> values) {
    add_bytes(name, npy_descr_of<T>(), shape, values.data(), values.size_bytes());
  }
  /// A vector.
  template <typename T>
  void add(std::string_view name, std::span<const T> values) {
    const std::uint64_t shape[] = {values.size()};
    add(name, shape, values);
  }
  void add_bytes(std::string_view name, std::string_view descr, std::span<const std::uint64_t> shape, const void* data,
                 std::size_t bytes);
  void finish();

 private:
  ZipWriter archive_;
  runtime::ProgressMeter meter_;
  std::uint64_t done_ = 0;
};

}  // namespace kith::io::inline v0
