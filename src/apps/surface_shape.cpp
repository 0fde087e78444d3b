// The shape surface: spheres and wavy sheets, each within three directions of a space of any number of dims.
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

enum Stream : std::uint64_t { kSheets = 4, kDirections = 5, kPlaces = 6, kNoise = 7 };

constexpr std::uint64_t kSheetCount = 8;
constexpr double kNoiseDeviation = 0.0005;

/// A sphere or a wavy sheet around `centre`, spanned by up to three directions at right angles.
struct Sheet {
  bool is_sphere = false;
  double size = 0;   // radius of the sphere, side of the sheet
  double waves = 0;  // along each side of the sheet
  std::vector<double> centre;
  std::vector<std::vector<double>> directions;
};

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

/// The next direction of length 1 at right angles to the others; attempts that come out too short are drawn again.
std::vector<double> next_direction(const Draws& draws, const std::vector<std::vector<double>>& others,
                                   std::uint32_t dims) {
  std::vector<double> direction(dims);
  for (std::uint64_t attempt = others.size() * 64;; ++attempt) {
    for (std::uint32_t d = 0; d < dims; ++d) direction[d] = normal(draws, (attempt * dims + d) * 2);
    for (const auto& other : others) {
      const double along = product(direction, other);
      for (std::uint32_t d = 0; d < dims; ++d) direction[d] -= along * other[d];
    }
    const double length = std::sqrt(product(direction, direction));
    if (length < 0.01) continue;
    for (double& value : direction) value /= length;
    return direction;
  }
}

Sheet make_sheet(std::uint64_t seed, std::uint64_t number, std::uint32_t dims) {
  const Draws draws(seed, kSheets, number);
  Sheet sheet;
  sheet.is_sphere = number % 2 == 0;
  sheet.size = sheet.is_sphere ? draws.between(0.1, 0.2, 0) : draws.between(0.4, 0.7, 0);
  sheet.waves = draws.between(0.8, 1.6, 1);
  for (std::uint32_t d = 0; d < dims; ++d) sheet.centre.push_back(draws.between(0.25, 0.75, 2 + d));
  while (sheet.directions.size() < std::min<std::uint32_t>(dims, 3)) {
    sheet.directions.push_back(next_direction(Draws(seed, kDirections, number), sheet.directions, dims));
  }
  return sheet;
}

/// Where a place lies along the three directions, for two uniform numbers.
void place_on(const Sheet& sheet, double u, double v, double along[3]) {
  if (sheet.is_sphere) {
    const double height = 2 * u - 1;  // equal heights cut equal areas from a sphere
    const double ring = std::sqrt(1 - height * height);
    const auto [sine, cosine] = sine_cosine_of_turns(v);
    along[0] = sheet.size * ring * cosine;
    along[1] = sheet.size * ring * sine;
    along[2] = sheet.size * height;
  } else {
    along[0] = sheet.size * (u - 0.5);
    along[1] = sheet.size * (v - 0.5);
    along[2] = 0.08 * sine_cosine_of_turns(sheet.waves * u).sine * sine_cosine_of_turns(sheet.waves * v).cosine;
  }
}

}  // namespace

void fill_surface(PointSet& points, const GenerateOptions& options) {
  std::vector<Sheet> sheets;
  for (std::uint64_t s = 0; s < kSheetCount; ++s) sheets.push_back(make_sheet(options.seed, s, points.dims()));
  fill_rows(points, options, [&](std::uint64_t i, std::span<double> row) {
    const Draws place(options.seed, kPlaces, i);
    const Sheet& sheet = sheets[place.below(kSheetCount, 0)];
    double along[3];
    place_on(sheet, place.uniform(1), place.uniform(2), along);
    const Draws noise(options.seed, kNoise, i);
    for (std::size_t d = 0; d < row.size(); ++d) {
      row[d] = sheet.centre[d] + kNoiseDeviation * normal(noise, 2 * d);
      for (std::size_t j = 0; j < sheet.directions.size(); ++j) row[d] += along[j] * sheet.directions[j][d];
    }
  });
}

}  // namespace kith::apps::inline v0
