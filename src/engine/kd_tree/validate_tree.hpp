// Whether arrays are the unique k-d tree of the contract over the points that they hold.
#pragma once

#include "engine/kd_tree/kd_tree.hpp"

#include <string>

namespace kith::engine {

/// What is wrong first, or nothing. The arrays have the sizes that geometry and dims ask for; nothing else is believed:
/// the numbers of the points are a permutation, ascending within leaves, coordinates finite, padding zero, boxes tight,
/// smallest numbers right, split dimensions as the rule says, split values and sides as the super-key says. The same
/// answer for every number of threads.
///
/// O(n levels) time, one bit per point of memory.
template <typename T>
std::string first_violation(const KdTree<T>& tree, int threads);

}  // namespace kith::engine
