// What a backend does to remove duplicates on one of its GPUs.
#pragma once

#include <kith/apps/dedupe_on_device.hpp>
#include <kith/point_view.hpp>

#include <cstdint>

namespace kith::engine {

/// The facade has checked shapes and options; where arrays of a GPU are, and what is in them, the backend looks at.
struct DedupeRequest {
  PointView points;  ///< at least one, in the memory of the device or of the host, as are all arrays
  std::uint32_t* kept = nullptr;
  std::uint32_t* map = nullptr;  ///< may be null
  apps::DeviceDedupeOptions options = {};
  Device device = {};                           ///< the GPU that works
  std::uint64_t hash_mask = ~std::uint64_t{0};  ///< bits of hashes that count; tests make points collide
};

}  // namespace kith::engine
