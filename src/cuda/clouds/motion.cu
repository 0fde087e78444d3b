// See motion.hpp.
#include "cuda/clouds/motion.hpp"

#include "cuda/clouds/motion_kernel.cuh"
#include "cuda/runtime/step_device.hpp"

#include <algorithm>

namespace kith::cuda {

template <typename T>
void move_on_device(const T* rows, std::uint64_t row_stride, std::uint64_t count, std::uint32_t dims,
                    const apps::Pose& pose, bool are_directions, T* moved, std::uint32_t* bad, const Stream& stream) {
  constexpr std::uint64_t kMostBlocks = 1 << 20;
  MotionTask<T> task{rows, row_stride, count, moved, bad, {}};
  std::copy(pose.matrix.begin(), pose.matrix.end(), task.matrix);
  const auto kernel = dims == 2 ? (are_directions ? move_rows<T, 2, true> : move_rows<T, 2, false>)
                                : (are_directions ? move_rows<T, 3, true> : move_rows<T, 3, false>);
  const std::uint64_t blocks = std::clamp<std::uint64_t>((count + kMotionThreads - 1) / kMotionThreads, 1, kMostBlocks);
  StepDevice(stream, "moving points", nullptr)
      .launch(kernel, static_cast<std::uint32_t>(blocks), kMotionThreads, 0, task);
}

template void move_on_device(const float*, std::uint64_t, std::uint64_t, std::uint32_t, const apps::Pose&, bool, float*,
                             std::uint32_t*, const Stream&);
template void move_on_device(const double*, std::uint64_t, std::uint64_t, std::uint32_t, const apps::Pose&, bool,
                             double*, std::uint32_t*, const Stream&);

}  // namespace kith::cuda
