// Results of a search as files: .npz for programs, .csv for people.
#pragma once

#include <kith/neighbors.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace kith::io::inline v0 {

/// .npz with `indices` (queries x k, u32), `distances` (queries x k) and `points` (one u64), or CSV with one line per
/// neighbour: query,rank,index,distance. The extension decides; "-" is standard output, as CSV. Whole or not at all.
/// Neighbours with flags also get `exact` (queries, u8), or a fifth column of that name.
KITH_EXPORT void write_neighbors(const std::string& path, const Neighbors& neighbors,
                                 const ProgressCallback& progress = {});

/// .npz with `offsets` (queries + 1, u64), `indices` (u32), `distances` and `points` (one u64), or CSV as above.
KITH_EXPORT void write_neighbors(const std::string& path, const NeighborLists& lists,
                                 const ProgressCallback& progress = {});

/// The same with `indices` of 64 bits.
KITH_EXPORT void write_neighbors(const std::string& path, const WideNeighbors& neighbors,
                                 const ProgressCallback& progress = {});
KITH_EXPORT void write_neighbors(const std::string& path, const WideNeighborLists& lists,
                                 const ProgressCallback& progress = {});

/// .npz with `offsets` (requests + 1, u64), `indices` (u32) and `points` (one u64), or CSV with one line per point:
/// query,index.
KITH_EXPORT void write_point_lists(const std::string& path, const PointLists& lists,
                                   const ProgressCallback& progress = {});

/// Counts per query: .npz with `counts` (u32) or CSV with query,count.
KITH_EXPORT void write_counts(const std::string& path, const std::vector<std::uint32_t>& counts,
                              const ProgressCallback& progress = {});

/// Reads what `write_neighbors` wrote as .npz, or what NumPy saved under the same names: `indices` of any integer type,
/// `distances` as f32 or f64. Without `points` the number of points is one more than the largest index; if that index
/// stands for all infinite distances and nothing else, it marks missing neighbours and is itself the number. Throws
/// IoError, CorruptFile if the arrays do not fit together.
KITH_EXPORT std::variant<Neighbors, NeighborLists> read_neighbors(const std::string& path);

}  // namespace kith::io::inline v0
