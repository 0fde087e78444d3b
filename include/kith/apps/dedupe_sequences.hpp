// Removes strings and sets that are equal to, or too near, one that is kept.
#pragma once

#include <kith/apps/dedupe.hpp>
#include <kith/progress.hpp>
#include <kith/sequence_metric.hpp>
#include <kith/sequence_set.hpp>

#include <optional>

namespace kith::apps::inline v0 {

struct SequenceDedupeOptions {
  /// Unset: only sequences equal to a kept one go. Set: those at a distance of at most this from one that was kept
  /// before.
  std::optional<double> tolerance = {};
  /// For `tolerance` only.
  SequenceMetric metric = SequenceMetric::edit;
  /// Threads; 0 means all cores. The result does not depend on it.
  int threads = 0;
  ProgressCallback progress = {};
};

/// The same as the plain loop: take the sequences in order, keep each unless a kept one is equal to it (or within the
/// tolerance). `Deduped::map` is filled. Equal ones: O(n log n) comparisons. With a tolerance: one radius search of
/// all, and 8 bytes for each pair that it finds. Throws as SequenceIndex::build and radius_self.
KITH_EXPORT Deduped dedupe(SequenceView sequences, const SequenceDedupeOptions& options = {});

}  // namespace kith::apps::inline v0
