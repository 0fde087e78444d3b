// What a backend does to register clouds on one of its GPUs.
#pragma once

#include <kith/apps/registration.hpp>
#include <kith/point_view.hpp>

#include <optional>
#include <span>

namespace kith::engine {

/// The facade has checked shapes and options; both clouds have points.
struct RegistrationRequest {
  PointView source;  ///< in the memory of the device or of the host
  PointView target;
  apps::DeviceRegistrationOptions options = {};
  Device device = {};  ///< the GPU that works
};

/// Many small pairs of one type and number of dims, as `is_small_pair` says; the facade has checked shapes and options.
struct PairsRequest {
  std::span<const apps::CloudPair> pairs;
  apps::DeviceRegistrationOptions options = {};
  Device device = {};
};

/// Whether the kernels do what the options say; all else is the CPU's.
inline bool runs_on_gpu(const apps::RegistrationOptions& options) {
  constexpr std::uint32_t kMostIterations = 1 << 16;  // whose records are kept in the memory of the GPU
  if (options.keep < 1 || options.reciprocal || options.max_iterations > kMostIterations) return false;
  return options.voxels.empty() || (options.voxels.size() == 1 && options.voxels.front() == 0);
}

/// Points of a cloud, and neighbours of planes, that a block of a GPU holds at most.
inline constexpr std::uint64_t kMostPairPoints = 4096;
inline constexpr std::uint32_t kMostPairNeighbors = 32;

/// Whether a block of a GPU can hold the pair.
inline bool is_small_pair(const apps::CloudPair& pair, const apps::RegistrationOptions& options) {
  const auto fits = [](PointView points) { return !points.empty() && points.rows() <= kMostPairPoints; };
  return runs_on_gpu(options) && options.neighbors <= kMostPairNeighbors && fits(pair.source) && fits(pair.target);
}

}  // namespace kith::engine
