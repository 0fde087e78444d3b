// The kernels that register many small pairs, put into a stream. None of these waits; all arrays are in device memory.
#pragma once

#include "cuda/registration/pairs_types.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstdint>

namespace kith::cuda {

/// Planes of at most so many neighbours.
inline constexpr std::uint32_t kMostSmallNeighbors = 32;

/// What a tree takes of memory, and what is remembered of a source's points.
template <typename T>
std::uint32_t small_tree_bytes(std::uint32_t points, std::uint32_t dims) {
  return dims == 2 ? SmallTree<T, 2>::bytes(points) : SmallTree<T, 3>::bytes(points);
}
template <typename T>
std::uint64_t known_match_bytes(std::uint32_t points, std::uint32_t dims) {
  return dims == 2 ? KnownMatches<T, 2>::bytes(points) : KnownMatches<T, 3>::bytes(points);
}

/// What both kernels need of shared memory at most.
template <typename T>
std::uint32_t shared_bytes_of_pairs(std::uint32_t dims, std::uint32_t most_points, std::uint32_t most_targets);

/// `most_points` is that of the largest cloud; `neighbors` that of planes, 0 without any.
template <typename T>
void prepare_clouds_on_device(const CloudTask<T>* tasks, std::uint32_t clouds, std::uint32_t dims,
                              std::uint32_t most_points, std::uint32_t neighbors, CloudFacts<T>* facts,
                              const Stream& stream);

/// `unknowns` is 6 or 7.
template <typename T>
void refine_pairs_on_device(const PairTask<T>* tasks, std::uint32_t pairs, std::uint32_t dims, int unknowns,
                            std::uint32_t most_points, std::uint32_t most_targets, const Stream& stream);

}  // namespace kith::cuda
