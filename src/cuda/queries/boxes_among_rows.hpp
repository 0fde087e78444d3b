// Boxes among rows that lie in device memory, for engines without boxes of their own. Brute force does it.
#pragma once

#include "cuda/queries/requests.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstdint>

namespace kith::cuda {

/// Fills request.counts, or the lists, from rows that lie side by side: src/cuda/brute_force/scan_engine.cpp.
template <typename T>
void find_in_rows(const T* rows, std::uint64_t count, std::uint32_t dims, const BoxRequest<T>& request, bool lists,
                  const Stream& stream);

}  // namespace kith::cuda
