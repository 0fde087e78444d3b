// The cover tree engine for vectors on a GPU.
#pragma once

#include "engine/backend.hpp"

#include <memory>

namespace kith::cuda {

/// The most that build_cover_search may need.
template <typename T>
engine::BuildBytes cover_search_bytes(const engine::PlanRequest& request);

/// The tree is the one that the CPU builds. Throws NonFinite, OutOfMemory before anything is allocated if the GPU has
/// not enough memory, DeviceError.
template <typename T>
std::unique_ptr<engine::Searcher<T>> build_cover_search(const engine::BuildRequest<T>& request);

/// From the sections of a file, which the CPU checks. Throws CorruptFile.
template <typename T>
std::unique_ptr<engine::Searcher<T>> load_cover_search(const engine::LoadRequest& request);

}  // namespace kith::cuda
