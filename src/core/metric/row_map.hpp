// What becomes of a row before it is searched, on every device alike: it is divided by its length, scaled, multiplied
// by a matrix, or put on a sphere. Then L2, or the metric itself, compares what came of it.
#pragma once

#include "core/metric/sine.hpp"
#include "core/query_row.hpp"

#include <kith/metric.hpp>

#include <cstdint>
#include <limits>

namespace kith::core {

enum class RowForm : std::uint8_t {
  plain,      ///< as it is
  direction,  ///< divided by its length
  scaled,     ///< times a factor per coordinate
  linear,     ///< times an upper triangular matrix
  sphere      ///< from latitude and longitude to a unit vector
};

/// A small value for host and device; the caller owns the factors. Products are computed in double and rounded once.
struct RowMap {
  RowForm form = RowForm::plain;
  bool is_degrees = false;         ///< sphere
  std::uint32_t dims = 0;          ///< of the caller's rows
  const double* values = nullptr;  ///< scaled: dims factors; linear: dims x dims, row-major

  KITH_HOST_DEVICE bool is_plain() const { return form == RowForm::plain; }
  KITH_HOST_DEVICE std::uint32_t searched_dims() const { return form == RowForm::sphere ? 3 : dims; }
  /// How many `values` there are.
  std::uint64_t size() const {
    return form == RowForm::scaled ? dims : form == RowForm::linear ? std::uint64_t{dims} * dims : 0;
  }

  /// Whether the row can be searched: finite before and after, with a direction, or a place on a sphere.
  template <typename T>
  KITH_HOST_DEVICE bool takes(const T* row) const {
    if (!all_finite(row, dims)) return false;
    switch (form) {
      case RowForm::direction:
        return has_direction(row, dims);
      case RowForm::scaled:
      case RowForm::linear:
        for (std::uint32_t d = 0; d < dims; ++d) {
          if (!(absolute(product(row, d)) <= std::numeric_limits<T>::max())) return false;
        }
        return true;
      case RowForm::sphere: {
        const T pole = is_degrees ? T(90) : static_cast<T>(0x1.921fb54442d18p+0);  // pi / 2 as callers write it
        return absolute(row[0]) <= pole && absolute(row[1]) <= 4 * pole;
      }
      case RowForm::plain:
        break;
    }
    return true;
  }

  /// Writes searched_dims() coordinates; `to` is not `row`.
  template <typename T>
  KITH_HOST_DEVICE void apply(const T* row, T* to) const {
    if (form == RowForm::sphere) {
      const SineAndCosine latitude = sine_and_cosine(static_cast<double>(row[0]), is_degrees);
      const SineAndCosine longitude = sine_and_cosine(static_cast<double>(row[1]), is_degrees);
      to[0] = static_cast<T>(latitude.cosine * longitude.cosine);
      to[1] = static_cast<T>(latitude.cosine * longitude.sine);
      to[2] = static_cast<T>(latitude.sine);
      return;
    }
    for (std::uint32_t d = 0; d < dims; ++d) {
      to[d] = form == RowForm::scaled || form == RowForm::linear ? product(row, d) : row[d];
    }
    if (form == RowForm::direction) normalize_row(to, dims);
  }

 private:
  template <typename T>
  KITH_HOST_DEVICE T product(const T* row, std::uint32_t d) const {
    if (form == RowForm::scaled) return static_cast<T>(static_cast<double>(row[d]) * values[d]);
    const double* factors = values + std::uint64_t{d} * dims;
    double sum = 0;
    for (std::uint32_t j = d; j < dims; ++j) sum = fused_multiply_add(factors[j], static_cast<double>(row[j]), sum);
    return static_cast<T>(sum);
  }
};

}  // namespace kith::core
