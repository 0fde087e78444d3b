// See validate_sequences.hpp.
#include "engine/validate_sequences.hpp"

#include "engine/validate.hpp"
#include "runtime/first_match.hpp"
#include "runtime/utf8.hpp"

#include <kith/error.hpp>
#include <kith/sequence_index.hpp>

#include <fmt/format.h>

namespace kith::engine {
namespace {

constexpr std::uint64_t kSequencesPerTask = 4096;

/// The place of the first item that the kind does not have; the length if there is none.
std::uint64_t first_bad_item(SequenceKind kind, std::span<const std::uint32_t> items) {
  for (std::uint64_t i = 0; i < items.size(); ++i) {
    if (kind == SequenceKind::bytes && items[i] > 0xFF) return i;
    if (kind == SequenceKind::text && !runtime::is_code_point(items[i])) return i;
    if (kind == SequenceKind::sets && i > 0 && items[i] <= items[i - 1]) return i;
  }
  return items.size();
}

}  // namespace

void require_sequences_view(SequenceView sequences, SequenceMetric metric, std::string_view what) {
  const bool are_sets = sequences.kind() == SequenceKind::sets;
  if (are_sets != (metric == SequenceMetric::jaccard)) {
    throw UsageError(are_sets ? fmt::format("{}: the metric {} is not for sets; use jaccard", what, name_of(metric))
                              : fmt::format("{}: the metric jaccard is for sets, not for sequences of {}", what,
                                            name_of(sequences.kind())));
  }
  if (sequences.size() > kMostPoints) {
    throw UsageError(fmt::format("{}: {} sequences; an index holds at most {}", what, sequences.size(), kMostPoints));
  }
  if (sequences.empty()) return;
  if (sequences.offsets() == nullptr || (sequences.items() == nullptr && sequences.item_count() > 0)) {
    throw UsageError(fmt::format("{}: a pointer to the data is null", what));
  }
}

std::string first_bad_sequence(SequenceView sequences, SequenceMetric metric, std::uint64_t length, int threads) {
  if (sequences.empty()) return {};
  // The ends first: before that nothing may be looked at.
  const std::uint64_t* offsets = sequences.offsets();
  const std::uint64_t count = sequences.size();
  const std::uint64_t out_of_order = runtime::first_match(count, kSequencesPerTask, threads,
                                                          [&](std::uint64_t i) { return offsets[i] > offsets[i + 1]; });
  if (out_of_order < count) {
    return fmt::format("row {} ends before it begins: offset {} is {}, the next {}", out_of_order, out_of_order,
                       offsets[out_of_order], offsets[out_of_order + 1]);
  }
  const bool is_hamming = metric == SequenceMetric::hamming;
  const std::uint64_t wanted = length == kAnyLength ? sequences.length(0) : length;
  const std::uint64_t wrong = runtime::first_match(count, kSequencesPerTask, threads, [&](std::uint64_t i) {
    const std::span<const std::uint32_t> items = sequences.sequence(i);
    return items.size() > SequenceIndex::kMostItems || (is_hamming && items.size() != wanted) ||
           (sequences.kind() != SequenceKind::numbers && first_bad_item(sequences.kind(), items) < items.size());
  });
  if (wrong == count) return {};
  const std::span<const std::uint32_t> items = sequences.sequence(wrong);
  if (items.size() > SequenceIndex::kMostItems) {
    return fmt::format("row {} (counted from 0) has {} items; a sequence has at most {}", wrong, items.size(),
                       SequenceIndex::kMostItems);
  }
  if (is_hamming && items.size() != wanted) {
    return fmt::format(
        "row {} (counted from 0) has {} items, not {}; the Hamming distance compares sequences of one length (use edit "
        "for others)",
        wrong, items.size(), wanted);
  }
  const std::uint64_t place = first_bad_item(sequences.kind(), items);
  switch (sequences.kind()) {
    case SequenceKind::sets:
      return fmt::format("row {} (counted from 0), item {}: {} after {}; sets are ascending and without repetitions",
                         wrong, place, items[place], items[place - 1]);
    case SequenceKind::bytes:
      return fmt::format("row {} (counted from 0), item {}: {} is not a byte", wrong, place, items[place]);
    default:
      return fmt::format("row {} (counted from 0), item {}: {:#x} is not a code point", wrong, place, items[place]);
  }
}

}  // namespace kith::engine
