// See voxels.hpp.
#include "cuda/clouds/voxels.hpp"

#include "cuda/clouds/voxel_steps.cuh"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/step_device.hpp"

#include <cstddef>

namespace kith::cuda {
namespace {

template <typename Key, typename T, std::uint32_t kDims>
std::uint32_t sample(VoxelSteps<T, kDims, StepDevice>& steps, const VoxelTask<T>& task, std::uint32_t bits,
                     const Stream& stream) {
  DeviceBuffer<std::byte> memory(lay_out_voxel_scratch<Key>(task.count, nullptr).bytes, stream);
  return steps.run(task, bits, lay_out_voxel_scratch<Key>(task.count, memory.data()));
}

template <typename T, std::uint32_t kDims>
std::optional<std::uint32_t> sample(VoxelTask<T> task, const Stream& stream, BuildPhases* phases) {
  StepDevice device(stream, "downsampling", phases);
  VoxelSteps<T, kDims, StepDevice> steps(device);
  DeviceBuffer<OrderedKey<T>> box_there(2 * kDims, stream);
  steps.find_box(task, box_there.data());
  OrderedKey<T> box[2 * kDims];
  device.read(box, box_there.data(), sizeof box);
  const std::optional<std::uint32_t> bits = set_cells(task, box, kDims);
  if (!bits) return std::nullopt;
  const std::uint32_t voxels = *bits <= 32 ? sample<std::uint32_t>(steps, task, *bits, stream)
                                           : sample<std::uint64_t>(steps, task, *bits, stream);
  device.report();
  return voxels;
}

}  // namespace

template <typename T>
std::optional<std::uint32_t> sample_voxels_on_device(VoxelTask<T> task, std::uint32_t dims, const Stream& stream,
                                                     BuildPhases* phases) {
  return dims == 2 ? sample<T, 2>(task, stream, phases) : sample<T, 3>(task, stream, phases);
}

template std::optional<std::uint32_t> sample_voxels_on_device(VoxelTask<float>, std::uint32_t, const Stream&,
                                                              BuildPhases*);
template std::optional<std::uint32_t> sample_voxels_on_device(VoxelTask<double>, std::uint32_t, const Stream&,
                                                              BuildPhases*);

}  // namespace kith::cuda
