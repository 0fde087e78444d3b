// Finds the nearest of objects that are not vectors: places on the globe, in a tree with insert and remove.
#include <kith/cover_tree.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

struct Place {
  std::string name;
  double latitude, longitude;  // degrees
};

// Kilometres along the great circle, by the haversine formula, which is good for near places too.
struct GreatCircle {
  double operator()(const Place& a, const Place& b) const {
    constexpr double kRadian = 0.017453292519943295, kEarth = 6371.0;
    const double north = std::sin((a.latitude - b.latitude) * kRadian / 2);
    const double east = std::sin((a.longitude - b.longitude) * kRadian / 2);
    const double square = north * north + std::cos(a.latitude * kRadian) * std::cos(b.latitude * kRadian) * east * east;
    return 2 * kEarth * std::asin(std::sqrt(std::fmin(1, square)));
  }
};

int main() {
  // For places nearly opposite each other the arc sine is off by up to half a metre, more than is assumed by default.
  kith::CoverTree<Place, GreatCircle> places({}, {.relative = 0x1p-40, .absolute = 1e-3});
  const std::vector<Place> cities = {{"Suva", -18.14, 178.44},     {"Apia", -13.83, -171.77},
                                     {"Auckland", -36.85, 174.76}, {"Honolulu", 21.31, -157.86},
                                     {"Sydney", -33.87, 151.21},   {"Lima", -12.05, -77.04}};
  for (const Place& city : cities) places.insert(city);

  // Across the date line: a box of degrees would miss Apia.
  const Place ship = {"ship", -16.0, 179.9};
  for (const kith::NearObject& near : places.knn(ship, 3)) {
    std::printf("%s is %.0f km away\n", places.object(near.id).name.c_str(), near.distance);
  }
  const std::uint64_t nearest = places.knn(ship, 1)[0].id;
  places.remove(nearest);
  const std::uint64_t next = places.knn(ship, 1)[0].id;
  std::printf("without %s it is %s; %zu places within 4000 km\n", cities[nearest].name.c_str(),
              places.object(next).name.c_str(), places.count(ship, 4000));
  return nearest == 0 && next == 1 && places.check().empty() ? 0 : 1;
}
