// The builder `presort` for coordinates of type double.
#include "cuda/kd_tree/build/builders/arrange.hpp"
#include "cuda/kd_tree/build/builders/presort_steps.cuh"

namespace kith::cuda {

template <>
ArrangedPoints<double> arrange_by_presort(StepDevice& device, const ArrangeTask<double>& task) {
  return Presort<double, StepDevice>(device, task).run();
}

}  // namespace kith::cuda
