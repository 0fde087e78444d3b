// Builds the cover tree of vectors on a GPU.
#pragma once

#include "cuda/cover_tree/device_cover_tree.hpp"
#include "cuda/runtime/build_phases.hpp"
#include "cuda/runtime/stream.hpp"

#include <kith/metric.hpp>

#include <cstdint>

namespace kith::cuda {

/// See build_cover_tree. `rows`: count x dims in device memory, side by side; L2, L1, Linf, or cosine, which is L2 of
/// rows that are normalised already.
template <typename T>
DeviceCoverTree build_cover_tree_of_vectors(const T* rows, std::uint32_t count, std::uint32_t dims, Metric::Kind kind,
                                            const CoverRules& rules, const Stream& stream,
                                            BuildPhases* phases = nullptr);

}  // namespace kith::cuda
