// The k least of rows of candidates, on the GPU.
#pragma once

#include "cuda/brute_force/select/select_strategy.hpp"
#include "cuda/brute_force/select/select_types.hpp"
#include "cuda/runtime/stream.hpp"

namespace kith::cuda {

/// Puts the selection into the stream; returns what is done. Needs no memory.
template <typename T>
SelectChoice select_entries(const SelectTask<T>& task, SelectStrategy strategy, const Stream& stream);

}  // namespace kith::cuda
