// A few vectors measured with many others, which stay where they lie: nothing but the few is copied.
#pragma once

#include "cpu/cover_tree/space.hpp"

#include <kith/metric.hpp>

#include <cstdint>

namespace kith::cpu {

/// What `few` vectors, side by side as [dimension][kFew], are to be measured with: those of the rows `numbers`.
template <typename T>
struct ManyVectors {
  const T* rows = nullptr;
  std::uint32_t dims = 0;
  const T* block = nullptr;
  std::uint32_t few = 0;
  const std::uint32_t* numbers = nullptr;
  const T* limits = nullptr;  ///< one for each of them
  std::uint32_t count = 0;
};

/// Finds those of the many that have one of the few not beyond their limit. Writes which they are, ascending, and for
/// each of them kFew values; in place of one above the limit any other above it may come. Returns how many there are.
template <typename T>
using MeasureFew = std::uint32_t (*)(const ManyVectors<T>& many, std::uint32_t* found, T* values);

/// The best that this machine has.
template <typename T>
MeasureFew<T> measure_few_by(Metric metric);

}  // namespace kith::cpu
