// Balanced trees with one node per point in the memory of a GPU. Throws DeviceError, OutOfMemory.
#pragma once

#include "cuda/ordered_tree/order_types.hpp"
#include "cuda/runtime/build_phases.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstdint>

namespace kith::cuda {

/// Whether points of so many dims are handled: a few of them must fit into the shared memory of a block.
template <typename T>
bool can_order(std::uint32_t dims, int device);

/// Builds the tree of at least one point. `phases` gets the time of each step, if it is not null. Waits.
template <typename T>
void order_tree(const OrderTask<T>& task, const OrderedNodes<T>& nodes, const Stream& stream, BuildPhases* phases);

/// Whether a claimed tree of at least one point is the one of its points. Waits.
template <typename T>
bool is_right_tree(const OrderTask<T>& task, std::uint64_t rows, const ClaimedNodes<T>& claimed, const Stream& stream,
                   BuildPhases* phases);

/// The numbers of rows with finite coordinates, ascending, into `numbers`, which has an entry per row, unless all rows
/// have. Returns how many. Waits.
template <typename T>
std::uint32_t list_usable_rows(const T* rows, std::uint64_t row_stride, std::uint32_t dims, std::uint32_t count,
                               std::uint32_t* numbers, const Stream& stream);

}  // namespace kith::cuda
