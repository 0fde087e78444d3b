// See held_directions.hpp. Eigenvectors are found by Jacobi's turns, which are exact enough for 6 x 6 and short.
#include "report/held_directions.hpp"

#include "registration_flags.hpp"
#include "report/pose_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace kith::cli {
namespace {

constexpr std::size_t kSize = 6;
constexpr int kSweeps = 60;
/// Squared: below this share of its direction a turn or a shift is not worth a word.
constexpr double kMinor = 0.05;

using Matrix = std::array<std::array<double, kSize>, kSize>;

/// Makes `values` diagonal; the columns of `vectors` are then the eigenvectors.
void make_diagonal(Matrix& values, Matrix& vectors) {
  vectors = {};
  for (std::size_t i = 0; i < kSize; ++i) vectors[i][i] = 1;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double beside = 0;
    for (std::size_t p = 0; p < kSize; ++p) {
      for (std::size_t q = p + 1; q < kSize; ++q) {
        beside += std::abs(values[p][q]);
        if (values[p][q] == 0) continue;
        const double ratio = (values[q][q] - values[p][p]) / (2 * values[p][q]);
        const double tangent = (ratio < 0 ? -1 : 1) / (std::abs(ratio) + std::hypot(ratio, 1.0));
        const double cosine = 1 / std::hypot(tangent, 1.0), sine = tangent * cosine;
        for (std::size_t i = 0; i < kSize; ++i) {
          const double a = values[i][p], b = values[i][q];
          values[i][p] = cosine * a - sine * b;
          values[i][q] = sine * a + cosine * b;
        }
        for (std::size_t i = 0; i < kSize; ++i) {
          const double a = values[p][i], b = values[q][i];
          values[p][i] = cosine * a - sine * b;
          values[q][i] = sine * a + cosine * b;
          const double v = vectors[i][p], w = vectors[i][q];
          vectors[i][p] = cosine * v - sine * w;
          vectors[i][q] = sine * v + cosine * w;
        }
      }
    }
    if (beside == 0) return;
  }
}

std::array<double, 3> unit_direction(const std::array<double, 3>& vector) {
  const double length = length_of(vector);
  // Either way is the same direction; the largest part is positive.
  const auto largest = std::ranges::max_element(vector, {}, [](double x) { return std::abs(x); });
  const double sign = *largest < 0 ? -1 : 1;
  return {sign * vector[0] / length, sign * vector[1] / length, sign * vector[2] / length};
}

}  // namespace

std::string HeldDirection::text() const {
  const double turned = length_of(turn) * length_of(turn), shifted = length_of(shift) * length_of(shift);
  std::string words;
  if (shifted > kMinor) words = fmt::format("shift along {}", direction_text(unit_direction(shift)));
  if (turned > kMinor) {
    words += fmt::format("{}turn about {}", words.empty() ? "" : " with a ", direction_text(unit_direction(turn)));
  }
  return words;
}

FreeUnknowns free_unknowns(std::uint32_t degrees_of_freedom, std::uint32_t dims) {
  const bool turns_freely = dims == 3 && degrees_of_freedom == 6, rises = dims == 3 && degrees_of_freedom >= 4;
  return {turns_freely, turns_freely, true, true, true, rises};
}

HeldDirections held_directions(const std::array<double, 36>& information, const FreeUnknowns& free) {
  HeldDirections result;
  const auto at = [&](std::size_t i) { return information[i * kSize + i]; };
  const double turns = at(0) + at(1) + at(2), shifts = at(3) + at(4) + at(5);
  if (!(shifts > 0) || !std::isfinite(turns + shifts)) return result;
  // For points all around, turns about three axes have two thirds of their squared distance, each shift all of it.
  const bool is_plane = at(0) == 0 && at(1) == 0;
  result.distance = std::sqrt((is_plane ? 2.0 : 1.5) * turns / shifts);
  if (!(result.distance > 0)) result.distance = 1;
  Matrix values{}, vectors{};
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) {
      if (!free[i] || !free[j]) continue;
      values[i][j] = information[i * kSize + j] / (i < 3 ? result.distance : 1) / (j < 3 ? result.distance : 1);
    }
  }
  make_diagonal(values, vectors);
  std::array<std::size_t, kSize> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return values[a][a] > values[b][b]; });
  if (!(values[order[0]][order[0]] > 0)) return result;
  for (const std::size_t column : order) {
    HeldDirection direction;
    bool may_move = false;
    for (std::size_t i = 0; i < kSize; ++i) {
      (i < 3 ? direction.turn[i] : direction.shift[i - 3]) = vectors[i][column];
      may_move = may_move || (free[i] && std::abs(vectors[i][column]) > 1e-9);
    }
    if (!may_move) continue;
    direction.eigenvalue = std::max(0.0, values[column][column]);
    direction.relative = direction.eigenvalue / values[order[0]][order[0]];
    result.directions.push_back(direction);
  }
  return result;
}

}  // namespace kith::cli
