// The k-d tree engine on a GPU: the tree is built, and checked, there.
#pragma once

#include "engine/backend.hpp"

#include <memory>

namespace kith::cuda {

/// What build_kd_search needs.
template <typename T>
engine::BuildBytes kd_search_bytes(const engine::PlanRequest& request);

/// Throws NonFinite, OutOfMemory before anything is allocated if the GPU has not enough memory, DeviceError.
template <typename T>
std::unique_ptr<engine::Searcher<T>> build_kd_search(const engine::BuildRequest<T>& request);

/// From the sections of a file; the GPU checks what they hold. Throws CorruptFile.
template <typename T>
std::unique_ptr<engine::Searcher<T>> load_kd_search(const engine::LoadRequest& request);

}  // namespace kith::cuda
