// All checks of sequences that a caller hands in or that a file holds.
#pragma once

#include <kith/sequence_metric.hpp>
#include <kith/sequence_set.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace kith::engine {

/// Throws UsageError for a metric that is not for the kind of sequences, or for pointers and numbers that are none.
void require_sequences_view(SequenceView sequences, SequenceMetric metric, std::string_view what);

/// What is wrong first with the contents, or nothing: sequences that are too long, offsets that do not ascend, items
/// that the kind does not have, and under Hamming another length than `length` (that of the first one if it is
/// kAnyLength). The offsets of the last sequence are believed.
std::string first_bad_sequence(SequenceView sequences, SequenceMetric metric, std::uint64_t length, int threads);

inline constexpr std::uint64_t kAnyLength = ~std::uint64_t{0};

}  // namespace kith::engine
