// The builders `select` and `segsort` for coordinates of type float.
#include "cuda/kd_tree/build/builders/arrange.hpp"
#include "cuda/kd_tree/build/builders/levels/level_steps.cuh"

namespace kith::cuda {

template <>
ArrangedPoints<float> arrange_by_levels(StepDevice& device, const ArrangeTask<float>& task, bool sorts) {
  return LevelSteps<float, StepDevice>(device, {task}, sorts).run();
}

}  // namespace kith::cuda
