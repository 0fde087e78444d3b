// The ways to measure a distance between two sequences or sets.
#pragma once

#include <kith/export.hpp>

#include <cstdint>
#include <string_view>

namespace kith::inline v0 {

/// `edit`: the fewest insertions, deletions and replacements of single items that turn one into the other
/// (Levenshtein). `hamming`: how many places differ; all sequences have the same length. `jaccard`: of sets, the share
/// of the union that is not in both; 0 for two empty ones.
enum class SequenceMetric : std::uint8_t { edit, hamming, jaccard };

/// "edit", "hamming" or "jaccard".
KITH_EXPORT std::string_view name_of(SequenceMetric metric);
/// The reverse of `name_of`; also takes "levenshtein" for edit. Throws UsageError on anything else.
KITH_EXPORT SequenceMetric parse_sequence_metric(std::string_view text);

}  // namespace kith::inline v0
