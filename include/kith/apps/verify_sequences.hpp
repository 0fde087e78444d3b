// Checks the result of a search of strings or sets against the plain definition, one pair at a time.
#pragma once

#include <kith/apps/verify_neighbors.hpp>
#include <kith/sequence_metric.hpp>
#include <kith/sequence_set.hpp>

namespace kith::apps::inline v0 {

/// Checks k nearest neighbours. `queries` may be the sequences themselves. Of the options `exclude_self`, `sample`,
/// `seed`, `threads` and `progress` count. Throws UsageError if the sizes or the kinds do not match. Each pair costs
/// its distance: for edits the product of the lengths.
KITH_EXPORT Verdict verify_neighbors(const Neighbors& found, SequenceView sequences, SequenceView queries,
                                     SequenceMetric metric, const VerifyOptions& options = {});

/// Checks a radius search; `max_neighbors` counts, too.
KITH_EXPORT Verdict verify_neighbors(const NeighborLists& found, double radius, SequenceView sequences,
                                     SequenceView queries, SequenceMetric metric, const VerifyOptions& options = {});

}  // namespace kith::apps::inline v0
