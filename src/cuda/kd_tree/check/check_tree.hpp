// The GPU's answer to "is this the unique tree of the contract over the points that it holds?"
//
// | step    | what it proves                                                        | reads                          |
// |---------|-----------------------------------------------------------------------|--------------------------------|
// | leaves  | numbers a permutation, ascending; padding zero; coordinates finite;   | blocks once, a bit per point   |
// |         | boxes tight, without -0; smallest numbers                             |                                |
// | nodes   | boxes and smallest numbers from the children; split dimensions; split | boxes, splits                  |
// |         | values and sides, as far as tight boxes tell, which is all but ties   |                                |
// | ties    | both halves reach the split value: the super-key tells them apart     | leaves that touch such a split |
//
// O(n) and one launch per step without ties; a leaf is read once more for each ancestor with a tie that it touches, at
// worst (all points equal) for all: O(n levels). Three launches for up to 32 leaves, one more for each five levels
// above.
#pragma once

#include "cuda/kd_tree/build/build_types.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Device memory that a check needs: a bit per point, and at most 8 bytes for each of 32 leaves and each level.
std::uint64_t check_scratch_bytes(const core::KdGeometry& geometry);

/// What engine/kd_tree/validate_tree.cpp proves, yes or no. The arrays have the sizes that shape asks for, `leaf_size`
/// is 1 to 1024; nothing else is believed, and no address outside the arrays is read whatever they hold. `scratch` is
/// device memory of `check_scratch_bytes`, aligned to 16. Waits for the stream. Throws DeviceError.
template <typename T>
bool is_contract_tree(const TreeArrays<T>& tree, const TreeShape& shape, std::uint32_t leaf_size, std::byte* scratch,
                      cudaStream_t stream);

}  // namespace kith::cuda
