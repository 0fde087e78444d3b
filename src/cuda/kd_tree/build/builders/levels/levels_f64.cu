// The builders `select` and `segsort` for coordinates of type double.
#include "cuda/kd_tree/build/builders/arrange.hpp"
#include "cuda/kd_tree/build/builders/levels/level_steps.cuh"

namespace kith::cuda {

template <>
ArrangedPoints<double> arrange_by_levels(StepDevice& device, const ArrangeTask<double>& task, bool sorts) {
  return LevelSteps<double, StepDevice>(device, {task}, sorts).run();
}

}  // namespace kith::cuda
