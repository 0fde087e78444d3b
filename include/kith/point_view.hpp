// Points that belong to someone else: what every call that takes points receives.
#pragma once

#include <kith/device.hpp>
#include <kith/dtype.hpp>
#include <kith/error.hpp>

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <type_traits>

namespace kith::inline v0 {

/// A matrix as those of Eigen: `outerStride` is the distance between rows, or between columns if they are contiguous.
template <typename M>
concept DenseMatrix = requires(const M& matrix) {
  *matrix.data();
  matrix.rows();
  matrix.cols();
  matrix.outerStride();
  M::IsRowMajor;
};

/// Borrows a matrix of rows x dims coordinates, row-major; the rows may lie apart (`row_stride`). Copying is free.
/// The memory must outlive the view.
class KITH_EXPORT PointView {
 public:
  /// No points of no dimension.
  constexpr PointView() = default;

  /// Rows that lie side by side.
  template <typename T>
  constexpr PointView(const T* data, std::uint64_t rows, std::uint32_t dims, Device device = Device::cpu())
      : PointView(data, dtype_of<T>, rows, dims, dims, device) {}

  /// Rows of `dims` coordinates in a vector, an array or a span. Throws UsageError if the last row is not whole.
  template <std::ranges::contiguous_range Range>
  constexpr PointView(const Range& values, std::uint32_t dims)
      : PointView(std::ranges::data(values), whole_rows(std::ranges::size(values), dims), dims) {}

  /// The rows of a row-major matrix, the columns of a column-major one: what is contiguous is a point.
  template <DenseMatrix M>
  constexpr explicit PointView(const M& matrix)
      : PointView(matrix.data(), dtype_of<std::remove_cvref_t<decltype(*matrix.data())>>,
                  static_cast<std::uint64_t>(M::IsRowMajor ? matrix.rows() : matrix.cols()),
                  static_cast<std::uint32_t>(M::IsRowMajor ? matrix.cols() : matrix.rows()),
                  static_cast<std::int64_t>(matrix.outerStride())) {}

  /// Everything said; `row_stride` is the distance between the starts of two rows in elements.
  constexpr PointView(const void* data, DType dtype, std::uint64_t rows, std::uint32_t dims, std::int64_t row_stride,
                      Device device = Device::cpu())
      : data_(data), rows_(rows), row_stride_(row_stride), dims_(dims), dtype_(dtype), device_(device) {}

  constexpr const void* data() const { return data_; }
  constexpr DType dtype() const { return dtype_; }
  constexpr std::uint64_t rows() const { return rows_; }
  constexpr std::uint32_t dims() const { return dims_; }
  constexpr std::int64_t row_stride() const { return row_stride_; }
  constexpr Device device() const { return device_; }
  constexpr bool empty() const { return rows_ == 0; }

  /// The start of one row; `T` must be the type that `dtype()` names.
  template <typename T>
  constexpr const T* row(std::uint64_t i) const {
    return static_cast<const T*>(data_) + static_cast<std::int64_t>(i) * row_stride_;
  }

  /// One coordinate as a double, whatever the type. For reports and tests, not for loops that must be fast.
  constexpr double at(std::uint64_t i, std::uint32_t d) const {
    return dtype_ == DType::f32 ? static_cast<double>(row<float>(i)[d]) : row<double>(i)[d];
  }

  /// The rows [first, first + count).
  constexpr PointView slice(std::uint64_t first, std::uint64_t count) const {
    const auto* start = static_cast<const std::byte*>(data_) +
                        static_cast<std::int64_t>(first) * row_stride_ * static_cast<std::int64_t>(size_of(dtype_));
    return PointView(start, dtype_, count, dims_, row_stride_, device_);
  }

 private:
  static constexpr std::uint64_t whole_rows(std::uint64_t values, std::uint32_t dims) {
    if (dims != 0 && values % dims == 0) return values / dims;
    throw UsageError("points: " + std::to_string(values) + " coordinates are not rows of " + std::to_string(dims));
  }

  const void* data_ = nullptr;
  std::uint64_t rows_ = 0;
  std::int64_t row_stride_ = 0;
  std::uint32_t dims_ = 0;
  DType dtype_ = DType::f32;
  Device device_;
};

}  // namespace kith::inline v0
