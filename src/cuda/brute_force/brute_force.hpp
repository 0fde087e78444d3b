// Brute force on a GPU: the engine that compares every query with every point.
#pragma once

#include "engine/backend.hpp"

#include <cstdint>
#include <memory>

namespace kith::cuda {

/// What build_brute_force needs.
template <typename T>
engine::BuildBytes brute_force_bytes(const engine::PlanRequest& request);

/// Throws NonFinite, OutOfMemory before anything is allocated if the GPU has not enough memory, DeviceError. Points on
/// the host that are too many for the GPU stay there, and searches take them to the GPU in parts.
template <typename T>
std::unique_ptr<engine::Searcher<T>> build_brute_force(const engine::BuildRequest<T>& request);

/// In parts of so many points, whatever memory there is. The points are on the host and known to be finite.
template <typename T>
std::unique_ptr<engine::Searcher<T>> build_brute_force_in_parts(const engine::BuildRequest<T>& request,
                                                                std::uint64_t rows_per_part);

/// From the sections of a file, which the CPU checks. Throws CorruptFile.
template <typename T>
std::unique_ptr<engine::Searcher<T>> load_brute_force(const engine::LoadRequest& request);

}  // namespace kith::cuda
