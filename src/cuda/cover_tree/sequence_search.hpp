// Sequences and sets on a GPU, in a cover tree or all compared with each other.
#pragma once

#include "engine/object_searcher.hpp"

#include <memory>

namespace kith::cuda {

/// The tree is the one that the CPU builds. Throws UsageError for sequences that the GPU does not measure (see
/// sequence_words.hpp), OutOfMemory before anything is allocated if the GPU has not enough memory, DeviceError.
std::unique_ptr<engine::SequenceSearcher> build_sequence_search(const engine::SequenceBuildRequest& request);

/// From the sections of a file, which the CPU checks. Throws CorruptFile.
std::unique_ptr<engine::SequenceSearcher> load_sequence_search(const engine::SequenceLoadRequest& request);

}  // namespace kith::cuda
