// The shapes that need no geometry: uniform, clusters, grid, line, duplicates and decimals.
#include "apps/fill_rows.hpp"
#include "apps/portable_math.hpp"
#include "apps/random_draws.hpp"
#include "apps/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

enum Stream : std::uint64_t { kPoints = 1, kCentres = 2, kChoices = 3 };

/// A number in [0, 1) that is still below 1 after rounding to `dtype`.
double unit_draw(const Draws& draws, std::uint64_t number, DType dtype) {
  return dtype == DType::f32 ? draws.uniform_24_bits(number) : draws.uniform(number);
}

void unit_row(const Draws& draws, DType dtype, std::span<double> row) {
  for (std::size_t d = 0; d < row.size(); ++d) row[d] = unit_draw(draws, d, dtype);
}

/// Whether side^dims >= count, without overflow.
bool lattice_holds(std::uint64_t side, std::uint32_t dims, std::uint64_t count) {
  std::uint64_t places = 1;
  for (std::uint32_t d = 0; d < dims && places < count; ++d) {
    if (side == 1) return places >= count;
    if (places > count / side) return true;
    places *= side;
  }
  return places >= count;
}

std::uint64_t lattice_side(std::uint32_t dims, std::uint64_t count) {
  std::uint64_t low = 1;
  std::uint64_t high = std::max<std::uint64_t>(1, count);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (lattice_holds(middle, dims, count)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

void fill_uniform(PointSet& points, const GenerateOptions& options) {
  fill_rows(points, options, [&](std::uint64_t i, std::span<double> row) {
    unit_row(Draws(options.seed, kPoints, i), options.dtype, row);
  });
}

void fill_clusters(PointSet& points, const GenerateOptions& options) {
  constexpr double kDeviation = 0.005;
  const std::uint64_t dims = points.dims();
  const std::uint64_t clusters = std::clamp<std::uint64_t>(points.rows() / 16, 1, 256);
  std::vector<double> centres(clusters * dims);
  for (std::uint64_t c = 0; c < clusters; ++c) {
    unit_row(Draws(options.seed, kCentres, c), DType::f64, std::span(centres).subspan(c * dims, dims));
  }
  fill_rows(points, options, [&](std::uint64_t i, std::span<double> row) {
    const Draws draws(options.seed, kPoints, i);
    const double* centre = centres.data() + Draws(options.seed, kChoices, i).below(clusters, 0) * dims;
    for (std::size_t d = 0; d < row.size(); d += 2) {
      const auto [one, other] = normal_pair(draws, d);
      row[d] = centre[d] + kDeviation * one;
      if (d + 1 < row.size()) row[d + 1] = centre[d + 1] + kDeviation * other;
    }
  });
}

void fill_grid(PointSet& points, const GenerateOptions& options) {
  const std::uint64_t side = lattice_side(points.dims(), points.rows());
  fill_rows(points, options, [side](std::uint64_t i, std::span<double> row) {
    for (std::size_t d = row.size(); d-- > 0;) {
      row[d] = static_cast<double>(i % side);
      i /= side;
    }
  });
}

void fill_line(PointSet& points, const GenerateOptions& options) {
  fill_rows(points, options, [&](std::uint64_t i, std::span<double> row) {
    const double place = unit_draw(Draws(options.seed, kPoints, i), 0, options.dtype);
    for (std::size_t d = 0; d < row.size(); ++d) {
      constexpr double kSlopes[] = {1, -0.5, 0.25, 2};  // powers of two: the products are exact
      row[d] = place * kSlopes[d % 4];
    }
  });
}

void fill_duplicates(PointSet& points, const GenerateOptions& options) {
  const std::uint64_t places = std::max<std::uint64_t>(1, points.rows() / 10);
  fill_rows(points, options, [&](std::uint64_t i, std::span<double> row) {
    // The square of a uniform number favours the first places: place j is drawn about n / (2 sqrt(j places)) times.
    const double u = Draws(options.seed, kChoices, i).uniform(0);
    const auto place = static_cast<std::uint64_t>(u * u * static_cast<double>(places));
    unit_row(Draws(options.seed, kPoints, std::min(place, places - 1)), options.dtype, row);
  });
}

void fill_decimals(PointSet& points, const GenerateOptions& options) {
  fill_rows(points, options, [&](std::uint64_t i, std::span<double> row) {
    const Draws draws(options.seed, kPoints, i);
    for (std::size_t d = 0; d < row.size(); ++d) {
      const auto millionths = static_cast<std::int64_t>(draws.below(200'000'001, d)) - 100'000'000;
      row[d] = static_cast<double>(millionths) / 1e6;
    }
  });
}

}  // namespace kith::apps::inline v0
