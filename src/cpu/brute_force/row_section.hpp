// Brute force in an index file: one section with the rows as they are.
#pragma once

#include "cpu/brute_force/packed_points.hpp"
#include "engine/backend.hpp"
#include "engine/index_file/index_file_writer.hpp"

namespace kith::cpu {

/// Adds section `rows`; takes as much memory as the coordinates until the writer is gone.
template <typename T>
void save_rows(const PackedPoints<T>& points, engine::IndexFileWriter& writer, int threads);

/// The rows of a file, facts.points x facts.dims. Throws CorruptFile if the file has other sections or parameters, or,
/// unless it is trusted, a coordinate that is not finite.
template <typename T>
const T* checked_rows(const engine::LoadRequest& request);

}  // namespace kith::cpu
