// The engines of a GPU, as the backend takes them. All throw OutOfMemory before anything is allocated if the GPU has
// not enough memory, and DeviceError.
#pragma once

#include "engine/backend.hpp"

#include <cstdint>
#include <memory>

namespace kith::cuda {

/// Every query against every point. Points on the host that are too many for the GPU stay there, and searches take them
/// to the GPU in parts. The CPU checks what a file holds.
template <typename T>
engine::PointEngine<T> brute_force();
/// The tree is built, and in a file checked, on the GPU.
template <typename T>
engine::PointEngine<T> kd_tree();
/// The tree is the one that the CPU builds, and the CPU checks what a file holds.
template <typename T>
engine::PointEngine<T> cover_tree();

/// Brute force in parts of so many points, whatever memory there is. The points are on the host and known to be finite.
template <typename T>
std::unique_ptr<engine::Searcher<T>> build_brute_force_in_parts(const engine::BuildRequest<T>& request,
                                                                std::uint64_t rows_per_part);

/// Rows of bits: each query with each row. The rows take 8 bytes per word.
std::unique_ptr<engine::BitSearcher> build_bit_search(const engine::BitBuildRequest& request);

/// Rows of bits in the cover tree that the CPU builds.
std::unique_ptr<engine::BitSearcher> build_bit_cover_search(const engine::BitBuildRequest& request);
/// From the sections of a file, which the CPU checks. Throws CorruptFile.
std::unique_ptr<engine::BitSearcher> load_bit_cover_search(const engine::BitLoadRequest& request);

/// Sequences and sets, in the cover tree that the CPU builds or all compared with each other. Throws UsageError for
/// sequences that the GPU does not measure (see sequence_words.hpp).
std::unique_ptr<engine::SequenceSearcher> build_sequence_search(const engine::SequenceBuildRequest& request);
/// From the sections of a file, which the CPU checks. Throws CorruptFile.
std::unique_ptr<engine::SequenceSearcher> load_sequence_search(const engine::SequenceLoadRequest& request);

}  // namespace kith::cuda
