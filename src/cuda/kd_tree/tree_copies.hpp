// A whole k-d tree from the host to the GPU and back.
#pragma once

#include "cuda/kd_tree/device_tree.hpp"
#include "cuda/runtime/staging.hpp"
#include "engine/kd_tree/kd_tree.hpp"

namespace kith::cuda {

/// What the tree is, without its arrays.
template <typename T>
TreeShape shape_of(const engine::KdTree<T>& tree);

/// Throws OutOfMemory, DeviceError, Interrupted.
template <typename T>
DeviceTree<T> copy_tree_to_device(const engine::KdTree<T>& tree, const Stream& stream, const CopyOptions& options);
template <typename T>
engine::KdTree<T> copy_tree_to_host(const DeviceTree<T>& tree, const Stream& stream, const CopyOptions& options);

}  // namespace kith::cuda
