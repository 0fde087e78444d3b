// Distances as a sparse matrix in a Matrix Market file, which SciPy, Julia and MATLAB read.
#pragma once

#include <kith/neighbors.hpp>
#include <kith/progress.hpp>

#include <string>

namespace kith::io::inline v0 {

/// A row for each query, a column for each point, and an entry for each neighbour: its distance. Counted from 1, as the
/// format wants it; missing neighbours have no entry. A name that ends with ".gz" is compressed. Whole or not at all.
/// Throws IoError, Interrupted.
KITH_EXPORT void write_matrix_market(const std::string& path, const Neighbors& neighbors,
                                     const ProgressCallback& progress = {});
KITH_EXPORT void write_matrix_market(const std::string& path, const NeighborLists& lists,
                                     const ProgressCallback& progress = {});

}  // namespace kith::io::inline v0
