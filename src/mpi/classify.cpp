// Labels by the votes of neighbours, whose labels other ranks may have. See kith/mpi/distributed_index.hpp.
#include "apps/list_votes.hpp"
#include "mpi/index_state.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kith::mpi::inline v0 {
namespace {

using State = DistributedIndex::State;

void require_sound(const State& state, apps::LabelView labels, std::uint64_t queries, const ClassifyOptions& options) {
  if (labels.codes.size() != state.local_size()) {
    throw UsageError(fmt::format("labels: {} for {} points of this rank; give one for each", labels.codes.size(),
                                 state.local_size()));
  }
  const auto bad = std::find_if(labels.codes.begin(), labels.codes.end(),
                                [&](std::uint32_t code) { return code >= labels.classes; });
  if (bad != labels.codes.end()) {
    throw UsageError(
        fmt::format("labels: that of point {} (counted from 0) is {}, but with {} classes it must be below",
                    bad - labels.codes.begin(), *bad, labels.classes));
  }
  const std::uint64_t points = state.map.points();
  if (options.k == 0) throw UsageError("k must be at least 1, not 0");
  if (points == 0 && queries > 0) {
    throw BadData(fmt::format("{} queries, but no points that could be their neighbours; give at least one", queries));
  }
  if (options.k > points) {
    throw UsageError(fmt::format("k is {}, but there are at most {} neighbours; choose a lower k", options.k, points));
  }
  const Metric metric = state.map.rules.metric;
  if (options.weights == apps::Weights::distance && !metric.info().has_distances) {
    throw UsageError(fmt::format(
        "weights by distance: not for the metric {}, which has none; choose uniform weights or another metric",
        metric.name()));
  }
}

Bytes bytes_of(const std::vector<std::uint64_t>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

template <typename T>
std::vector<T> numbers_of(const Bytes& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

/// The labels of some points of all ranks, from the ranks that have them.
std::vector<std::uint32_t> fetch_labels(const State& state, apps::LabelView labels,
                                        std::span<const std::uint64_t> numbers) {
  std::vector<std::uint64_t> wanted;  // each once, ascending: so those of a rank are together
  const Incoming asked = state.ranks.exchange([&] {
    wanted.assign(numbers.begin(), numbers.end());
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    Outgoing outgoing = state.ranks.outgoing();
    auto first = wanted.begin();
    for (std::size_t rank = 0; rank < outgoing.to.size(); ++rank) {
      const auto behind = std::lower_bound(first, wanted.end(), state.starts[rank + 1]);
      outgoing.to[rank] = bytes_of({first, behind});
      first = behind;
    }
    return outgoing;
  });
  const Incoming told = state.ranks.exchange([&] {
    Outgoing outgoing = state.ranks.outgoing();
    for (std::size_t rank = 0; rank < outgoing.to.size(); ++rank) {
      std::vector<std::uint32_t> codes;
      for (const std::uint64_t number : numbers_of<std::uint64_t>(asked.from[rank])) {
        codes.push_back(labels.codes[number - state.first_number()]);
      }
      const auto bytes = std::as_bytes(std::span(codes));
      outgoing.to[rank].assign(bytes.begin(), bytes.end());
    }
    return outgoing;
  });
  return state.ranks.agree([&] {
    std::vector<std::uint32_t> codes;
    for (const Bytes& bytes : told.from) {
      const std::vector<std::uint32_t> some = numbers_of<std::uint32_t>(bytes);
      codes.insert(codes.end(), some.begin(), some.end());
    }
    std::vector<std::uint32_t> result(numbers.size());
    std::transform(numbers.begin(), numbers.end(), result.begin(), [&](std::uint64_t number) {
      return codes[static_cast<std::size_t>(std::lower_bound(wanted.begin(), wanted.end(), number) - wanted.begin())];
    });
    return result;
  });
}

template <typename T>
std::vector<std::uint32_t> vote(const WideNeighbors& found, const std::vector<std::uint32_t>& labels,
                                std::uint32_t classes, const ClassifyOptions& options) {
  apps::ClassifyOptions rules;
  rules.k = options.k;
  rules.weights = options.weights;
  rules.ties = options.ties;
  apps::ListVotes votes(classes, rules);
  const T* distances = found.distances().values<T>().data();
  std::vector<std::uint32_t> winners(found.queries());
  for (std::uint64_t q = 0; q < winners.size(); ++q) {
    const std::uint64_t first = q * found.k();
    winners[q] = votes.winner(found.k(), labels.data() + first, distances + first, nullptr);
  }
  return winners;
}

}  // namespace

std::vector<std::uint32_t> DistributedIndex::classify(apps::LabelView labels, PointView queries,
                                                      const ClassifyOptions& options) const {
  const State& state = *state_;
  state.ranks.agree([&] { require_sound(state, labels, queries.rows(), options); });
  const auto classes = std::as_bytes(std::span(&labels.classes, 1));
  state.ranks.require_same({classes.begin(), classes.end()}, "numbers of classes");
  shards::ShardSearchOptions search;
  search.threads = options.threads;
  search.progress = options.progress;
  const WideNeighbors found = knn(queries, options.k, search);
  const std::vector<std::uint32_t> of_neighbors = fetch_labels(state, labels, found.indices());
  return state.ranks.agree([&] {
    return dtype() == DType::f32 ? vote<float>(found, of_neighbors, labels.classes, options)
                                 : vote<double>(found, of_neighbors, labels.classes, options);
  });
}

}  // namespace kith::mpi::inline v0
