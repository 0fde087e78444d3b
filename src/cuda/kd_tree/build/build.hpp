// Builds the unique k-d tree of the contract on a GPU.
#pragma once

#include "cuda/kd_tree/build/build_plan.hpp"
#include "cuda/kd_tree/build/build_types.hpp"
#include "cuda/kd_tree/device_tree.hpp"
#include "cuda/runtime/build_phases.hpp"
#include "cuda/runtime/shared_limit.hpp"
#include "cuda/runtime/staging.hpp"
#include "cuda/runtime/stream.hpp"
#include "engine/non_finite.hpp"

#include <kith/index.hpp>

#include <cstdint>

namespace kith::cuda {

using engine::NonFinite;

/// The tree of points in the memory of the stream's device; they are only read, and no longer than this call. Throws
/// NonFinite if a coordinate is not finite, OutOfMemory, DeviceError.
template <typename T>
DeviceTree<T> build_device_tree(const PointSource<T>& points, std::uint64_t count, std::uint32_t dims,
                                std::uint32_t leaf_size, bool cycles, Stream& stream, BuildPhases* phases = nullptr,
                                Builder builder = Builder::automatic);

/// The same without waiting: work that is put into the stream later finds the tree. The points stay until then. If a
/// coordinate is not finite, which is for the caller to find out, the tree must not be read.
template <typename T>
DeviceTree<T> start_device_tree(const PointSource<T>& points, std::uint64_t count, std::uint32_t dims,
                                std::uint32_t leaf_size, const Stream& stream);

/// As build_device_tree, for rows in host memory, count x dims, side by side.
template <typename T>
DeviceTree<T> build_device_tree_from_host(const T* rows, std::uint64_t count, std::uint32_t dims,
                                          std::uint32_t leaf_size, bool cycles, Stream& stream,
                                          const CopyOptions& options, Builder builder = Builder::automatic);

}  // namespace kith::cuda
