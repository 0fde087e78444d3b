// The k-d tree engine on the CPU: exact search through the unique tree.
#pragma once

#include "cpu/kd_tree/kd_tree.hpp"
#include "engine/backend.hpp"

#include <memory>
#include <vector>

namespace kith::cpu {

/// What build_kd_search needs.
template <typename T>
engine::BuildBytes kd_search_bytes(const engine::PlanRequest& request);

template <typename T>
std::unique_ptr<engine::Searcher<T>> build_kd_search(const engine::BuildRequest<T>& request);

/// From the sections of a file. Throws CorruptFile.
template <typename T>
std::unique_ptr<engine::Searcher<T>> load_kd_search(const engine::LoadRequest& request);

/// Over a tree that is there and is the contract's. `period` as in BuildRequest.
template <typename T>
std::unique_ptr<engine::Searcher<T>> adopt_kd_tree(KdTree<T> tree, Metric metric, std::vector<T> period);

}  // namespace kith::cpu
