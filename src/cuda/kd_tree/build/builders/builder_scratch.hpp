// The scratch memory of each builder of the k-d tree that has a name, before anything is allocated.
#pragma once

#include "cuda/kd_tree/build/builders/levels/level_task.hpp"
#include "cuda/kd_tree/build/builders/presort_plan.hpp"

namespace kith::cuda {

template <typename T>
BuilderScratch scratch_of_builder(Builder builder, const TreeShape& shape) {
  switch (builder) {
    case Builder::presort:
      return scratch_of_presort<T>(shape);
    case Builder::select:
    case Builder::segsort:
      return scratch_of_levels<T>(shape, builder == Builder::segsort);
    default:
      return {};
  }
}

}  // namespace kith::cuda
