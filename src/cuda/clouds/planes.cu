// See planes.hpp.
#include "cuda/clouds/planes.hpp"

#include "cuda/clouds/plane_kernels.cuh"
#include "cuda/runtime/step_device.hpp"

#include <algorithm>

namespace kith::cuda {
namespace {

constexpr const char* kDoing = "computing normals";

std::uint32_t plane_blocks(std::uint64_t count) {
  constexpr std::uint64_t kMost = 1 << 20;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>((count + kPlaneThreads - 1) / kPlaneThreads, 1, kMost));
}

template <typename T, std::uint32_t kDims>
void fit(const PlaneTask<T>& task, const Stream& stream) {
  const auto kernel = task.k % 4 == 0 ? fit_planes_by_leaf<T, kDims, true> : fit_planes_by_leaf<T, kDims, false>;
  StepDevice(stream, kDoing, nullptr).launch(kernel, plane_blocks(task.count), kPlaneThreads, 0, task);
}

}  // namespace

template <typename T>
void pad_points_on_device(const T* rows, std::uint64_t row_stride, std::uint64_t count, std::uint32_t dims,
                          std::byte* padded, const Stream& stream) {
  const auto kernel = dims == 2 ? pad_points<T, 2> : pad_points<T, 3>;
  StepDevice(stream, kDoing, nullptr)
      .launch(kernel, plane_blocks(count), kPlaneThreads, 0, rows, row_stride, count, padded);
}

template <typename T>
void fit_planes_of_tree(const PlaneTask<T>& task, const Stream& stream) {
  task.tree.dims == 2 ? fit<T, 2>(task, stream) : fit<T, 3>(task, stream);
}

#define KITH_INSTANTIATE(T)                                                                             \
  template void pad_points_on_device(const T*, std::uint64_t, std::uint64_t, std::uint32_t, std::byte*, \
                                     const Stream&);                                                    \
  template void fit_planes_of_tree(const PlaneTask<T>&, const Stream&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::cuda
