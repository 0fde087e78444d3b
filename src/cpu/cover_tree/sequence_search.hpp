// Sequences and sets on the CPU: by a cover tree, or each query with each of them.
#pragma once

#include "engine/object_searcher.hpp"

#include <memory>

namespace kith::cpu {

/// Throws OutOfMemory, Interrupted.
std::unique_ptr<engine::SequenceSearcher> build_sequence_search(const engine::SequenceBuildRequest& request);
/// Throws CorruptFile that names the first thing wrong with the tree, unless the file is trusted.
std::unique_ptr<engine::SequenceSearcher> load_sequence_search(const engine::SequenceLoadRequest& request);

}  // namespace kith::cpu
