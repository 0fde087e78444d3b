// Whether arrays are a cover tree as far as that can be checked without measuring.
#pragma once

#include "engine/cover_tree/cover_tree.hpp"

#include <cstdint>
#include <string>

namespace kith::engine {

/// What is wrong first, or nothing. The arrays may hold anything: nodes are a tree over all objects, parents before
/// children, ranges inside each other; the first child has its parent's centre; every leaf has its centre among its
/// objects, which are in order; the lowest numbers are right; no distance is negative or NaN, and a leaf reaches as far
/// as its last object.
///
/// O(n) time, one bit per object of memory.
std::string first_cover_violation(const CoverTree& tree, std::uint64_t objects);

}  // namespace kith::engine
