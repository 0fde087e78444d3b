// The k-d tree engine on the CPU: exact search through the unique tree.
#pragma once

#include "engine/backend.hpp"

#include <memory>

namespace kith::cpu {

template <typename T>
std::unique_ptr<engine::Searcher<T>> build_kd_search(const engine::BuildRequest<T>& request);

/// From the sections of a file. Throws CorruptFile.
template <typename T>
std::unique_ptr<engine::Searcher<T>> load_kd_search(const engine::LoadRequest& request);

}  // namespace kith::cpu
