// The GPU's answer to "is this the unique tree of the contract over the points that it holds?"
#pragma once

#include "cuda/kd_tree/build_types.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Device memory that a check needs.
std::uint64_t check_scratch_bytes(const core::KdGeometry& geometry);

/// What engine/kd_tree/validate_tree.hpp proves, yes or no. The arrays have the sizes that shape asks for; nothing else
/// is believed. `scratch` is device memory of `check_scratch_bytes`, aligned to 16. Waits for the stream. Throws
/// DeviceError.
template <typename T>
bool is_contract_tree(const TreeArrays<T>& tree, const TreeShape& shape, std::uint32_t leaf_size, std::byte* scratch,
                      cudaStream_t stream);

}  // namespace kith::cuda
