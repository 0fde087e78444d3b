// Points that we own: an aligned block of host memory with rows side by side.
#pragma once

#include <kith/point_view.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace kith::inline v0 {

/// Owns a matrix of rows x dims coordinates in host memory, row-major without gaps, 64-byte aligned. Moves, never
/// copies by accident: use `clone`.
class KITH_EXPORT PointSet {
 public:
  PointSet() = default;
  /// Room for rows x dims coordinates, not initialised. Throws OutOfMemory.
  PointSet(DType dtype, std::uint64_t rows, std::uint32_t dims);
  /// A copy of a view in host memory, gaps closed. Throws OutOfMemory.
  static PointSet copy_of(PointView points);
  PointSet clone() const { return copy_of(view()); }

  DType dtype() const { return dtype_; }
  std::uint64_t rows() const { return rows_; }
  std::uint32_t dims() const { return dims_; }
  /// Bytes of all coordinates.
  std::uint64_t bytes() const { return rows_ * dims_ * size_of(dtype_); }

  PointView view() const { return PointView(data_.get(), dtype_, rows_, dims_, dims_); }

  /// All coordinates; `T` must be the type that `dtype()` names, else UsageError is thrown.
  template <typename T>
  std::span<T> values() {
    require(dtype_of<T>);
    return {static_cast<T*>(data_.get()), static_cast<std::size_t>(rows_ * dims_)};
  }
  template <typename T>
  std::span<const T> values() const {
    require(dtype_of<T>);
    return {static_cast<const T*>(data_.get()), static_cast<std::size_t>(rows_ * dims_)};
  }

 private:
  struct Free {
    void operator()(void* block) const noexcept;
  };
  void require(DType dtype) const;

  std::unique_ptr<void, Free> data_;
  std::uint64_t rows_ = 0;
  std::uint32_t dims_ = 0;
  DType dtype_ = DType::f32;
};

}  // namespace kith::inline v0
