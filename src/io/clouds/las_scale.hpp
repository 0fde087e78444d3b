// How coordinates become the 32-bit integers of LAS: value = integer * scale + offset.
#pragma once

#include <cstdint>
#include <span>

namespace kith::io::inline v0 {

struct LasScale {
  double scale = 1;
  double offset = 0;
  double error = 0;  ///< how far a coordinate moves at most; 0 if all come back as they were
};

/// The given scale and offset, with the error that they give; a negative error if a coordinate does not fit.
LasScale measure_scale(std::span<const double> values, double scale, double offset);

/// A power of ten that gives every coordinate back, or the finest that fits. Values must be finite.
LasScale choose_scale(std::span<const double> values);

}  // namespace kith::io::inline v0
