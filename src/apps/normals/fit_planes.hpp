// The plane of every point of an index, fitted to its neighbours.
#pragma once

#include <kith/index.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace kith::apps::inline v0 {

/// What a plane is fitted to.
struct PlaneNeighbors {
  std::uint32_t count = 16;           ///< the nearest points, the point itself included
  std::optional<double> radius = {};  ///< or all within
  int threads = 0;
  const ProgressCallback* progress = nullptr;
};

/// `rows` are the points of the index, in 2 or 3 dims and without NaN. Fills normals (as many values) and curvatures
/// (one per point; may be empty), as Normals describes them.
template <typename T>
void fit_planes(const Index& index, std::span<const T> rows, const PlaneNeighbors& neighbors, std::span<T> normals,
                std::span<T> curvatures);

}  // namespace kith::apps::inline v0
