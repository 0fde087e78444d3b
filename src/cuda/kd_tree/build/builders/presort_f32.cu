// The builder `presort` for coordinates of type float.
#include "cuda/kd_tree/build/builders/arrange.hpp"
#include "cuda/kd_tree/build/builders/presort_steps.cuh"

namespace kith::cuda {

template <>
ArrangedPoints<float> arrange_by_presort(StepDevice& device, const ArrangeTask<float>& task) {
  return Presort<float, StepDevice>(device, task).run();
}

}  // namespace kith::cuda
