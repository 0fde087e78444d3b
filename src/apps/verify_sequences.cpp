// See verify_sequences.hpp.
#include <kith/apps/verify_sequences.hpp>

#include "apps/check_queries.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

using Items = std::span<const std::uint32_t>;

struct PlainSequenceNeighbor {
  float distance = 0;
  std::uint32_t index = 0;
  auto operator<=>(const PlainSequenceNeighbor&) const = default;
};

/// Levenshtein's table, a row at a time.
std::uint64_t plain_edits(Items a, Items b) {
  std::vector<std::uint64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::uint64_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint64_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::uint64_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

float plain_distance(Items a, Items b, SequenceMetric metric) {
  if (metric == SequenceMetric::edit) return static_cast<float>(plain_edits(a, b));
  std::uint64_t common = 0;
  if (metric == SequenceMetric::hamming) {
    for (std::size_t i = 0; i < a.size(); ++i) common += a[i] == b[i] ? 1 : 0;
    return static_cast<float>(a.size() - common);
  }
  for (const std::uint32_t member : a) common += std::ranges::binary_search(b, member) ? 1 : 0;
  const std::uint64_t either = a.size() + b.size() - common;
  return either == 0 ? 0.0F : static_cast<float>(either - common) / static_cast<float>(either);
}

void require_fit(SequenceView sequences, SequenceView queries, SequenceMetric metric, DType dtype,
                 std::uint64_t found_queries, std::uint64_t found_sequences, const VerifyOptions& options) {
  const bool are_sets = sequences.kind() == SequenceKind::sets;
  if (sequences.kind() != queries.kind() || are_sets != (metric == SequenceMetric::jaccard)) {
    throw UsageError(fmt::format("the sequences are {}, the queries {}, which {} does not compare",
                                 name_of(sequences.kind()), name_of(queries.kind()), name_of(metric)));
  }
  if (dtype != DType::f32) throw UsageError("the distances are f64, but those of strings and sets are f32");
  if (found_queries != queries.size()) {
    throw UsageError(fmt::format("the result has {} queries, the data {}; give the queries that were searched for",
                                 found_queries, queries.size()));
  }
  if (found_sequences != sequences.size()) {
    throw UsageError(fmt::format("the result is about {} sequences, the data has {}; give those that were searched",
                                 found_sequences, sequences.size()));
  }
  if (options.exclude_self && sequences.size() != queries.size()) {
    throw UsageError("exclude_self needs the sequences themselves as queries");
  }
  if (metric != SequenceMetric::hamming) return;
  for (const SequenceView& view : {sequences, queries}) {
    for (std::uint64_t i = 0; i < view.size(); ++i) {
      if (view.length(i) != sequences.length(0))
        throw BadData("hamming compares strings of one length, but these have several");
    }
  }
}

/// All sequences but the query itself, where that is excluded, sorted.
std::vector<PlainSequenceNeighbor> plain_list(SequenceView sequences, SequenceView queries, std::uint64_t query,
                                              SequenceMetric metric, bool exclude_self) {
  std::vector<PlainSequenceNeighbor> list;
  for (std::uint32_t i = 0; i < sequences.size(); ++i) {
    if (exclude_self && i == query) continue;
    list.push_back({plain_distance(queries.sequence(query), sequences.sequence(i), metric), i});
  }
  std::ranges::sort(list);
  return list;
}

/// What is wrong with a list; empty if nothing is.
std::string difference(std::span<const std::uint32_t> indices, std::span<const float> distances,
                       std::span<const PlainSequenceNeighbor> expected) {
  for (std::size_t rank = 0; rank < std::min(indices.size(), expected.size()); ++rank) {
    const PlainSequenceNeighbor found{distances[rank], indices[rank]};
    if (found == expected[rank]) continue;
    return fmt::format("rank {}: sequence {} at {} is listed, but it should be {} at {}", rank, found.index,
                       found.distance, expected[rank].index, expected[rank].distance);
  }
  if (indices.size() == expected.size()) return {};
  return fmt::format("{} neighbours are listed, but there should be {}", indices.size(), expected.size());
}

}  // namespace

Verdict verify_neighbors(const Neighbors& found, SequenceView sequences, SequenceView queries, SequenceMetric metric,
                         const VerifyOptions& options) {
  require_fit(sequences, queries, metric, found.dtype(), found.queries(), found.missing(), options);
  const std::span<const float> distances = found.distances().values<float>();
  return check_queries(queries.size(), options, [&](std::uint64_t query) {
    std::vector<PlainSequenceNeighbor> expected = plain_list(sequences, queries, query, metric, options.exclude_self);
    expected.resize(found.k(), {std::numeric_limits<float>::infinity(), found.missing()});
    return difference(found.indices().subspan(query * found.k(), found.k()),
                      distances.subspan(query * found.k(), found.k()), expected);
  });
}

Verdict verify_neighbors(const NeighborLists& found, double radius, SequenceView sequences, SequenceView queries,
                         SequenceMetric metric, const VerifyOptions& options) {
  require_fit(sequences, queries, metric, found.dtype(), found.queries(), found.points(), options);
  const std::span<const float> distances = found.distances().values<float>();
  return check_queries(queries.size(), options, [&](std::uint64_t query) {
    std::vector<PlainSequenceNeighbor> expected = plain_list(sequences, queries, query, metric, options.exclude_self);
    std::erase_if(expected, [&](const PlainSequenceNeighbor& neighbor) { return neighbor.distance > radius; });
    if (options.max_neighbors > 0 && expected.size() > options.max_neighbors) expected.resize(options.max_neighbors);
    const std::uint64_t start = found.offsets()[query];
    return difference(found.indices().subspan(start, found.count(query)), distances.subspan(start, found.count(query)),
                      expected);
  });
}

}  // namespace kith::apps::inline v0
