// Brute force on the CPU: every query against every point, exact, any dims, any k.
#pragma once

#include "engine/backend.hpp"

#include <memory>

namespace kith::cpu {

template <typename T>
std::unique_ptr<engine::Searcher<T>> build_brute_force(const engine::BuildRequest<T>& request);

}  // namespace kith::cpu
