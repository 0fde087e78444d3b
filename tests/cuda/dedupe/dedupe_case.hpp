// Points of few places, many of them equal, some that cannot be used: for deduplication on a GPU.
#pragma once

#include <kith/apps/dedupe.hpp>
#include <kith/point_set.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

namespace kith::test {

struct DedupeCase {
  PointSet points;
  std::vector<double> scores;  ///< may be empty
  bool prefer_low = false;

  apps::DedupeOptions options() const {
    apps::DedupeOptions same;
    same.scores = scores;
    same.prefer_low = prefer_low;
    same.skip_nonfinite = true;
    return same;
  }
};

/// Replayed by its seed. Rows are copies of a few places, of one, or of as many as there are rows.
template <typename T>
DedupeCase dedupe_case(std::uint64_t seed, std::uint64_t rows, std::uint32_t dims) {
  std::mt19937_64 random(seed);
  const std::uint64_t places = seed % 5 == 0 ? 1 : seed % 5 < 3 ? 1 + rows / 20 : 1 + rows;
  const std::uint64_t values = seed % 2 == 0 ? 3 : 1000;
  std::vector<T> place_values(places * dims);
  for (T& value : place_values) {
    value = static_cast<T>(random() % values) / T(8);
    if (value == 0 && random() % 2 == 0) value = -value;
  }
  DedupeCase made;
  made.points = PointSet(dtype_of<T>, rows, dims);
  const std::span<T> to = made.points.template values<T>();
  for (std::uint64_t i = 0; i < rows; ++i) {
    const std::uint64_t place = random() % places;
    for (std::uint32_t d = 0; d < dims; ++d) {
      const T value = place_values[place * dims + d];
      to[i * dims + d] = value == 0 && random() % 2 == 0 ? -value : value;
    }
    if (seed % 3 != 0 || random() % 7 != 0) continue;
    to[i * dims + random() % dims] =
        random() % 2 == 0 ? std::numeric_limits<T>::quiet_NaN() : -std::numeric_limits<T>::infinity();
  }
  if (seed % 4 < 2) return made;
  made.prefer_low = seed % 4 == 2;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double scores[] = {0.0, -0.0, 1.5, -1.5, 1e300, kInfinity, -kInfinity, 5e-324, -5e-324, 7};
  for (std::uint64_t i = 0; i < rows; ++i) {
    made.scores.push_back(random() % 11 == 0 ? std::numeric_limits<double>::quiet_NaN() : scores[random() % 10]);
  }
  return made;
}

}  // namespace kith::test
