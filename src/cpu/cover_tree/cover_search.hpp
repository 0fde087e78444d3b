// The cover tree engine for vectors on the CPU: exact search where few of many dims matter.
#pragma once

#include "engine/backend.hpp"

#include <memory>

namespace kith::cpu {

/// The most that build_cover_search may need: how many nodes there will be only the points tell.
template <typename T>
engine::BuildBytes cover_search_bytes(const engine::PlanRequest& request);

template <typename T>
std::unique_ptr<engine::Searcher<T>> build_cover_search(const engine::BuildRequest<T>& request);

/// From the sections of a file. Throws CorruptFile.
template <typename T>
std::unique_ptr<engine::Searcher<T>> load_cover_search(const engine::LoadRequest& request);

}  // namespace kith::cpu
