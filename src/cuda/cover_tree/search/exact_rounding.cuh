// Bounds of distances that are whole numbers: core::CoverRounding without what is 0 there.
#pragma once

#include "core/cover_geometry.hpp"
#include "core/host_device.hpp"

namespace kith::cuda {

template <typename Space>
concept ExactSpace = requires {
  requires Space::kIsExact;
};

struct ExactRounding {
  KITH_HOST_DEVICE static constexpr bool is_exact() { return true; }
  KITH_HOST_DEVICE static double nearest(double query, double reach) { return query - reach; }
  KITH_HOST_DEVICE static double farthest(double query, double reach) { return query + reach; }
  KITH_HOST_DEVICE static double apart(double query, double object) {
    return query < object ? object - query : query - object;
  }
};

template <typename Space>
KITH_HOST_DEVICE auto rounding_of(const Space& space) {
  if constexpr (ExactSpace<Space>) {
    return ExactRounding{};
  } else {
    return space.rounding();
  }
}

}  // namespace kith::cuda
