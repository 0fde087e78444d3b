// Whether a cover tree is one: everything that must hold of its nodes, ranges and distances, and the first that does
// not, in words.
#pragma once

#include "core/cover_geometry.hpp"
#include "engine/cover_tree/cover_tree.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace kith::engine {

/// The distance of two objects.
using CoverMetric = std::function<double(std::uint32_t, std::uint32_t)>;

/// The first violation in words, with the pair of objects and their distance where one is at fault; nothing if the tree
/// is a cover tree of `objects` objects. Costs one evaluation per object and per node, what the separation of levels
/// needs beyond that (a walk of the tree per centre), and one per object and level above for `reach`. Any arrays are
/// safe, however wrong.
std::optional<std::string> check_cover_invariants(const CoverTree& tree, std::uint64_t objects,
                                                  const core::CoverRounding& rounding, const CoverMetric& metric);

/// What is wrong first, or nothing. The arrays may hold anything: nodes are a tree over all objects, parents before
/// children, ranges inside each other; the first child has its parent's centre; every leaf has its centre among its
/// objects, which are in order; the lowest numbers are right; no distance is negative or NaN, and a leaf reaches as far
/// as its last object.
///
/// O(n) time, one bit per object of memory.
std::string first_cover_violation(const CoverTree& tree, std::uint64_t objects);

}  // namespace kith::engine
