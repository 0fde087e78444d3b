// Strings by edit or Hamming distance, sets by Jaccard distance. Build once, search many times.
#pragma once

#include <kith/index.hpp>
#include <kith/sequence_metric.hpp>
#include <kith/sequence_set.hpp>

#include <cstdint>
#include <memory>

namespace kith::inline v0 {

/// An immutable set of sequences prepared for search. Distances are f32: whole numbers, or for Jaccard the IEEE
/// quotient of two. Queries are of the kind of the sequences; under Hamming of another length they throw BadData.
class KITH_EXPORT SequenceIndex : public SearchIndex<SequenceIndex, SequenceView> {
 public:
  /// The most items of a sequence: every count is an f32 without rounding.
  static constexpr std::uint64_t kMostItems = 1 << 23;

  /// Copies the sequences. The engine is `brute_force` or `cover_tree`; `automatic` takes the tree unless there are few
  /// sequences or queries. Throws UsageError for a metric that is not for their kind (Jaccard is for sets, the others
  /// for the rest), an engine or a device that cannot search them; BadData for sequences of several lengths under
  /// Hamming, longer than kMostItems, or with items that their kind does not have; DeviceError, OutOfMemory,
  /// Interrupted.
  static SequenceIndex build(SequenceView sequences, SequenceMetric metric, const BuildOptions& options = {});

  /// The sequences, as long as this index or a copy of it lives.
  SequenceView sequences() const;
  SequenceKind kind() const;
  SequenceMetric metric() const;

 private:
  friend class SearchIndex<SequenceIndex, SequenceView>;
  explicit SequenceIndex(std::shared_ptr<const StateOf<SequenceView>> state);
};

}  // namespace kith::inline v0
