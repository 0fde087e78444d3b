// Points for the golden cases: whole numbers and exact fractions of counted random words, so that every machine, and
// tests/python/golden_points.py, makes the same.
#pragma once

#include <kith/point_set.hpp>

#include <cmath>
#include <cstdint>
#include <string_view>

namespace kith::test {

/// 64 random bits by (seed, number) alone: the output function of SplitMix64.
constexpr std::uint64_t golden_word(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t word = seed * 0xD1342543DE82EF95ull + (number + 1) * 0x9E3779B97F4A7C15ull;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ull;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBull;
  return word ^ (word >> 31);
}

enum class GoldenShape : std::uint8_t { uniform, grid, clusters, repeats, offset, spread };
inline constexpr GoldenShape kGoldenShapes[] = {GoldenShape::uniform, GoldenShape::grid,   GoldenShape::clusters,
                                                GoldenShape::repeats, GoldenShape::offset, GoldenShape::spread};

constexpr std::string_view name_of(GoldenShape shape) {
  constexpr std::string_view kNames[] = {"uniform", "grid", "clusters", "repeats", "offset", "spread"};
  return kNames[static_cast<std::size_t>(shape)];
}

/// No more than 24 significant bits: f32 holds it as it is.
inline double golden_coordinate(GoldenShape shape, std::uint64_t seed, std::uint64_t rows, std::uint64_t row,
                                std::uint32_t dims, std::uint32_t d) {
  const std::uint64_t word = golden_word(seed, row * dims + d);
  switch (shape) {
    case GoldenShape::grid:  // many distances are equal
      return static_cast<double>(word % 6);
    case GoldenShape::clusters:
      return static_cast<double>(row % 7 * (d + 3) % 11) + static_cast<double>(word >> 48) * 0x1p-20;
    case GoldenShape::repeats:  // every point about four times
      return static_cast<double>(golden_word(seed, row % (rows / 4 + 1) * dims + d) >> 40) * 0x1p-24;
    case GoldenShape::offset:  // where f32 has two digits left
      return 4194304 + static_cast<double>(word % 16) * 0.5;
    case GoldenShape::spread: {  // from 2^-32 to 2^32, of both signs
      const double size = std::ldexp(1 + static_cast<double>(word >> 41) * 0x1p-23, static_cast<int>(word % 64) - 32);
      return (word & 64) != 0 ? -size : size;
    }
    case GoldenShape::uniform:
      break;
  }
  return static_cast<double>(word >> 40) * 0x1p-24;
}

/// With `are_directions` the last coordinate is one: a zero vector has no direction.
inline PointSet golden_points(GoldenShape shape, DType dtype, std::uint64_t rows, std::uint32_t dims,
                              std::uint64_t seed, bool are_directions = false) {
  PointSet points(dtype, rows, dims);
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint32_t d = 0; d < dims; ++d) {
      const bool is_one = are_directions && d + 1 == dims;
      const double value = is_one ? 1 : golden_coordinate(shape, seed, rows, i, dims, d);
      if (dtype == DType::f32) {
        points.values<float>()[i * dims + d] = static_cast<float>(value);
      } else {
        points.values<double>()[i * dims + d] = value;
      }
    }
  }
  return points;
}

}  // namespace kith::test
