// Keeps the first of equal rows in the memory of a GPU.
#pragma once

#include "cuda/dedupe/equal_types.hpp"
#include "cuda/runtime/build_phases.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstdint>

namespace kith::cuda {

/// `kept` gets the numbers of kept rows, ascending, and has as many entries as there are rows, at least one; `map`,
/// unless it is null, per row the place in `kept` of the row that stands for it, or 0xffffffff if it cannot be used.
/// Waits for the answer. `phases` gets how long each took. Throws OutOfMemory, DeviceError.
template <typename T>
EqualReport keep_first_rows(const EqualTask<T>& task, std::uint32_t* kept, std::uint32_t* map, const Stream& stream,
                            BuildPhases* phases = nullptr);

}  // namespace kith::cuda
