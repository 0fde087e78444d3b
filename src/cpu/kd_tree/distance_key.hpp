// A distance and an index as one number that orders like the pair.
#pragma once

#include "core/order/candidate.hpp"
#include "cpu/kd_tree/sort_few.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace kith::cpu {

/// For f32: a packed candidate. Read as a double it is a number of the same order, and doubles have comparisons,
/// minimum and maximum in every instruction set. All keys are lifted by one exponent so that none is denormal (a
/// process may flush those to zero); the highest, an infinite distance, is still a finite double.
struct DistanceKey {
  static double of(float distance, std::uint32_t index) {
    return std::bit_cast<double>(core::Candidate<float>{distance, index}.packed() + kLift);
  }
  static core::Candidate<float> candidate(double key) {
    return core::Candidate<float>::of_packed(std::bit_cast<std::uint64_t>(key) - kLift);
  }

 private:
  static constexpr std::uint64_t kLift = std::uint64_t{1} << 52;
};

/// What lists of candidates hold: keys for f32, pairs for f64.
template <typename T>
struct ListEntry;

template <>
struct ListEntry<float> {
  using Type = double;

  static double of(float distance, std::uint32_t index) { return DistanceKey::of(distance, index); }
  static core::Candidate<float> candidate(double entry) { return DistanceKey::candidate(entry); }
  static void sort(double* first, std::size_t count) { sort_keys(first, count); }
};

template <>
struct ListEntry<double> {
  using Type = core::Candidate<double>;

  static Type of(double distance, std::uint32_t index) { return {distance, index}; }
  static core::Candidate<double> candidate(const Type& entry) { return entry; }
  static void sort(Type* first, std::size_t count) { std::sort(first, first + count); }
};

}  // namespace kith::cpu
