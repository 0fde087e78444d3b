// The plane of every point of an index, fitted to its neighbours.
#pragma once

#include <kith/index.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {

/// What a plane is fitted to.
struct PlaneNeighbors {
  std::uint32_t count = 16;           ///< the nearest points, the point itself included
  std::optional<double> radius = {};  ///< or all within
  int threads = 0;
  const ProgressCallback* progress = nullptr;
};

/// The neighbours that planes were fitted to, for whom they are of further use.
struct KeptNeighbors {
  std::uint32_t count = 0;             ///< of each point, itself included; 0: none were kept
  std::vector<std::uint32_t> indices;  ///< points x count, nearest first
  std::vector<float> distances;        ///< as many, rounded down: no other point is nearer than the last of a list
};

/// `rows` are the points of the index, in 2 or 3 dims and without NaN. Fills normals (as many values) and curvatures
/// (one per point; may be empty), as Normals describes them. `keep`, if it is not null, receives lists of nearest
/// points, unless there are more than are in memory at a time (2^24 entries).
template <typename T>
void fit_planes(const Index& index, std::span<const T> rows, const PlaneNeighbors& neighbors, std::span<T> normals,
                std::span<T> curvatures, KeptNeighbors* keep = nullptr);

}  // namespace kith::apps::inline v0
