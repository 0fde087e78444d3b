// One build of a k-d tree on a GPU: its memory, then its kernels, which run one after the other without a word to the
// host; only those of builders with names wait for it.
#pragma once

#include "cuda/kd_tree/build/build.hpp"
#include "cuda/kd_tree/build/build_plan.hpp"
#include "cuda/kd_tree/device_tree.hpp"
#include "cuda/runtime/stream.hpp"

namespace kith::cuda {

/// Runs in the order of its stream. The device of the stream is the current one.
template <typename T>
class TreeBuild {
 public:
  /// Allocates everything. Throws OutOfMemory.
  TreeBuild(const TreeShape& shape, std::uint32_t leaf_size, const Stream& stream,
            Builder builder = Builder::automatic);

  /// Room for rows of dims coordinates side by side, for points that have no place of their own on the device.
  T* rows() { return reinterpret_cast<T*>(copies_[1].data()); }
  /// Starts the build of points in device memory: the caller's, or those in `rows`. With `phases` each step is waited
  /// for and timed.
  void launch(const PointSource<T>& points, BuildPhases* phases = nullptr);
  /// Waits, and gives the tree away. Throws NonFinite, DeviceError.
  DeviceTree<T> take();
  /// The same without waiting: for work in the same stream. If a coordinate is not finite, the tree must not be read.
  DeviceTree<T> take_at_once();

 private:
  void launch_groups(const PointSource<T>& points, BuildPhases* phases);
  /// By the builder with a name.
  void launch_named(const PointSource<T>& points, BuildPhases* phases);

  Stream stream_;
  Builder builder_;
  GpuLimits limits_;
  FinishPlan plan_;
  DeviceBuffer<std::byte> copies_[2];
  DeviceBuffer<std::byte> scratch_;
  DeviceTree<T> tree_;
  std::uint32_t blocks_in_ = 0;  ///< the copy that holds the leaf blocks
};

}  // namespace kith::cuda
