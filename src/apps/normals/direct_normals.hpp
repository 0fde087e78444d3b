// Which of its two directions each normal gets.
#pragma once

#include <kith/index.hpp>

#include <cstdint>
#include <span>

namespace kith::apps::inline v0 {

/// Turns normals so that they look towards a viewpoint, which has a coordinate per dim.
template <typename T>
void look_towards(std::span<const T> rows, std::uint32_t dims, const double* viewpoint, std::span<T> normals,
                  int threads);

/// Turns normals so that neighbours agree (NormalDirection::consistent). The graph has an edge between each point and
/// its `neighbors` nearest ones.
template <typename T>
void agree_with_neighbors(const Index& index, std::span<const T> rows, std::uint32_t neighbors, std::span<T> normals,
                          int threads);

}  // namespace kith::apps::inline v0
