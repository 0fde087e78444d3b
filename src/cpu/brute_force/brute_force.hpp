// Brute force on the CPU: every query against every point, exact, any dims, any k.
#pragma once

#include "engine/backend.hpp"

#include <memory>

namespace kith::cpu {

/// What build_brute_force needs.
template <typename T>
engine::BuildBytes brute_force_bytes(const engine::PlanRequest& request);

template <typename T>
std::unique_ptr<engine::Searcher<T>> build_brute_force(const engine::BuildRequest<T>& request);

/// From section `rows` of a file. Throws CorruptFile.
template <typename T>
std::unique_ptr<engine::Searcher<T>> load_brute_force(const engine::LoadRequest& request);

}  // namespace kith::cpu
