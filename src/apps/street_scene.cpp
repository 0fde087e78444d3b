// See street_scene.hpp. The street is made of cells of 15 m; what stands in one depends on its number alone.
#include "apps/street_scene.hpp"

#include "apps/portable_math.hpp"
#include "apps/random_draws.hpp"

#include <cmath>

namespace kith::apps::inline v0 {
namespace {

constexpr std::uint64_t kCells = 8;  // stream
constexpr double kCellLength = 15;
constexpr std::int64_t kCellsPerCrossing = 6;

void add_house(StreetScene& scene, const Draws& draws, double start, double side) {
  const double front = draws.between(9, 12, 1);
  const double back = front + draws.between(10, 18, 2);
  const double x_low = start + draws.between(0, 2, 3);
  const double x_high = start + kCellLength - draws.between(0, 1.5, 4);
  const double top = draws.between(5, 20, 5);
  scene.blocks.push_back({x_low, x_high, side > 0 ? front : -back, side > 0 ? back : -front, top});
}

void add_car(StreetScene& scene, const Draws& draws, double start, double side) {
  const double x = start + draws.between(2.5, kCellLength - 2.5, 11);
  const double y = side * draws.between(5, 5.4, 12);
  const double half_length = draws.between(1.9, 2.4, 13);
  scene.blocks.push_back({x - half_length, x + half_length, y - 0.9, y + 0.9, draws.between(1.3, 1.6, 14)});
}

void add_pole(StreetScene& scene, const Draws& draws, double start, double side) {
  scene.posts.push_back(
      {start + draws.between(0, kCellLength, 21), side * 7.2, draws.between(0.08, 0.15, 22), draws.between(5, 9, 23)});
}

void add_tree(StreetScene& scene, const Draws& draws, double start, double side) {
  const double x = start + draws.between(0, kCellLength, 31);
  const double y = side * draws.between(7, 8.2, 32);
  const double crown = draws.between(1.2, 2.2, 33);
  scene.posts.push_back({x, y, draws.between(0.12, 0.25, 34), 3});
  scene.foliage.push_back({x, y, 2.4 + crown, crown});
}

void add_person(StreetScene& scene, const Draws& draws, double start, double side) {
  scene.posts.push_back({start + draws.between(0, kCellLength, 41), side * draws.between(6.2, 8.6, 42), 0.25,
                         draws.between(1.5, 1.9, 43)});
}

void add_bush(StreetScene& scene, const Draws& draws, double start, double side) {
  const double radius = draws.between(0.4, 0.9, 51);
  scene.foliage.push_back(
      {start + draws.between(0, kCellLength, 52), side * draws.between(7.5, 8.6, 53), 0.7 * radius, radius});
}

void add_cell(StreetScene& scene, std::uint64_t seed, std::int64_t cell) {
  const double start = static_cast<double>(cell) * kCellLength;
  for (const int side : {-1, 1}) {
    const Draws draws(seed, kCells, static_cast<std::uint64_t>(cell) * 2 + (side > 0 ? 1 : 0));
    const bool crossing = cell % kCellsPerCrossing == 0;
    if (!crossing && draws.uniform(0) < 0.85) add_house(scene, draws, start, side);
    if (!crossing && draws.uniform(10) < 0.55) add_car(scene, draws, start, side);
    if (draws.uniform(20) < 0.6) add_pole(scene, draws, start, side);
    if (draws.uniform(30) < 0.5) add_tree(scene, draws, start, side);
    if (draws.uniform(40) < 0.4) add_person(scene, draws, start, side);
    if (draws.uniform(50) < 0.5) add_bush(scene, draws, start, side);
  }
}

}  // namespace

StreetScene street_around(std::uint64_t seed, double x, double reach) {
  StreetScene scene;
  const auto first = static_cast<std::int64_t>(std::floor((x - reach) / kCellLength));
  const auto last = static_cast<std::int64_t>(std::floor((x + reach) / kCellLength));
  for (std::int64_t cell = first; cell <= last; ++cell) add_cell(scene, seed, cell);
  return scene;
}

double ground_height(double x, double y) {
  return 0.06 * sine_cosine_of_turns(x / 83).sine + 0.03 * sine_cosine_of_turns(x / 61 + y / 47).sine;
}

}  // namespace kith::apps::inline v0
