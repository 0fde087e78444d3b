// See dedupe_sequences.hpp.
#include <kith/apps/dedupe_sequences.hpp>

#include "runtime/memory_limit.hpp"

#include <kith/memory_limit.hpp>
#include <kith/sequence_index.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

/// Per sequence the lowest-numbered one that is equal to it.
std::vector<std::uint32_t> first_equal(SequenceView sequences) {
  std::vector<std::uint32_t> order(sequences.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  const auto compare = [&](std::uint32_t a, std::uint32_t b) {
    const auto left = sequences.sequence(a);
    const auto right = sequences.sequence(b);
    return std::lexicographical_compare_three_way(left.begin(), left.end(), right.begin(), right.end());
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto ordering = compare(a, b);
    return ordering != 0 ? ordering < 0 : a < b;
  });
  std::vector<std::uint32_t> first(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool repeats = i > 0 && compare(order[i - 1], order[i]) == 0;
    first[order[i]] = repeats ? first[order[i - 1]] : order[i];
  }
  return first;
}

/// Keeps sequence i unless `stands_for(i, map)` finds the place of a kept one.
template <typename StandsFor>
Deduped keep_in_order(std::uint64_t count, const StandsFor& stands_for) {
  Deduped deduped;
  deduped.map.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t place = stands_for(i, deduped.map);
    deduped.map[i] = place == kLeftOut ? static_cast<std::uint32_t>(deduped.kept.size()) : place;
    if (place == kLeftOut) deduped.kept.push_back(i);
  }
  return deduped;
}

}  // namespace

Deduped dedupe(SequenceView sequences, const SequenceDedupeOptions& options) {
  const std::uint64_t bytes = sequences.size() * 16;  // their order, the first of equal ones, what is kept, the map
  runtime::require_allowed(bytes, "removing duplicates");
  const MemoryLimit held(0, bytes);
  if (!options.tolerance) {
    const std::vector<std::uint32_t> first = first_equal(sequences);
    return keep_in_order(sequences.size(), [&](std::uint32_t i, const std::vector<std::uint32_t>& map) {
      return first[i] == i ? kLeftOut : map[first[i]];
    });
  }
  BuildOptions build{.device = Device::cpu()};
  build.threads = options.threads;
  build.progress = options.progress;
  SearchOptions search;
  search.threads = options.threads;
  search.progress = options.progress;
  search.earlier_only = true;
  const NeighborLists near =
      SequenceIndex::build(sequences, options.metric, build).radius_self(*options.tolerance, search);
  std::vector<bool> is_kept(sequences.size(), false);
  return keep_in_order(sequences.size(), [&](std::uint32_t i, const std::vector<std::uint32_t>& map) {
    std::uint32_t lowest = kLeftOut;
    for (std::uint64_t at = near.offsets()[i]; at < near.offsets()[i + 1]; ++at) {
      const std::uint32_t other = near.indices()[at];
      if (is_kept[other]) lowest = std::min(lowest, other);
    }
    is_kept[i] = lowest == kLeftOut;
    return lowest == kLeftOut ? kLeftOut : map[lowest];
  });
}

}  // namespace kith::apps::inline v0
