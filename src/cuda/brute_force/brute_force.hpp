// Brute force on a GPU: the engine that compares every query with every point.
#pragma once

#include "engine/backend.hpp"

#include <memory>

namespace kith::cuda {

/// What build_brute_force needs.
template <typename T>
engine::BuildBytes brute_force_bytes(const engine::PlanRequest& request);

/// Throws NonFinite, OutOfMemory before anything is allocated if the GPU has not enough memory, DeviceError.
template <typename T>
std::unique_ptr<engine::Searcher<T>> build_brute_force(const engine::BuildRequest<T>& request);

/// From the sections of a file, which the CPU checks. Throws CorruptFile.
template <typename T>
std::unique_ptr<engine::Searcher<T>> load_brute_force(const engine::LoadRequest& request);

}  // namespace kith::cuda
