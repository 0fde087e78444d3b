// The vote of one list of neighbours: by comparing labels with each other if it is short, else by a tally.
#pragma once

#include "apps/vote_tally.hpp"
#include "core/vote.hpp"

#include <kith/apps/classify.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace kith::apps {

/// Up to here comparing is faster than a tally.
inline constexpr std::uint32_t kMostOfFew = 16;

/// The most frequent of K labels, of several the first: no branch depends on them.
template <std::uint32_t K>
std::uint32_t most_frequent(const std::uint32_t* labels) {
  std::uint32_t best = 0;
  for (std::uint32_t j = 0; j < K; ++j) {
    std::uint32_t same = 0;
    for (std::uint32_t i = 0; i < K; ++i) same += labels[i] == labels[j] ? 1 : 0;
    const std::uint32_t rank = same * K + (K - 1 - j);
    best = rank > best ? rank : best;
  }
  return labels[K - 1 - best % K];
}

using MostFrequent = std::uint32_t (*)(const std::uint32_t*);

/// For 1 to kMostOfFew labels.
inline MostFrequent most_frequent_of(std::uint32_t count) {
  static constexpr auto kFunctions = []<std::uint32_t... K>(std::integer_sequence<std::uint32_t, K...>) {
    return std::array<MostFrequent, kMostOfFew>{&most_frequent<K + 1>...};
  }
  (std::make_integer_sequence<std::uint32_t, kMostOfFew>());
  return kFunctions[count - 1];
}

/// Votes of lists, one after the other; one of these per thread.
class ListVotes {
 public:
  ListVotes(std::uint32_t k, std::uint32_t classes, Weights weights, bool want_shares)
      : weights_(weights), want_shares_(want_shares) {
    if (want_shares || k > kMostOfFew) tally_ = std::make_unique<VoteTally>(k, classes);
  }

  /// `label(j)` is that of the j-th nearest, whose distance is distances[j]; `count` is 1 to k. Shares are written into
  /// zeros, if they are wanted.
  template <typename Label, typename T>
  std::uint32_t winner(std::uint32_t count, Label&& label, const T* distances, double* shares) {
    if (want_shares_ || count > kMostOfFew) return winner_of_many(count, label, distances, shares);
    std::array<std::uint32_t, kMostOfFew> labels;
    for (std::uint32_t j = 0; j < count; ++j) labels[j] = label(j);
    if (weights_ == Weights::uniform) return most_frequent_of(count)(labels.data());
    std::array<double, kMostOfFew> weights;
    for (std::uint32_t j = 0; j < count; ++j) weights[j] = core::distance_weight(distances[0], distances[j]);
    return core::vote_of_few(
        count, [&](std::uint32_t j) { return labels[j]; }, [&](std::uint32_t j) { return weights[j]; });
  }

 private:
  template <typename Label, typename T>
  std::uint32_t winner_of_many(std::uint32_t count, Label&& label, const T* distances, double* shares) {
    VoteTally& tally = *tally_;
    tally.clear();
    if (weights_ == Weights::uniform) {
      for (std::uint32_t j = 0; j < count; ++j) tally.add(label(j), 1);
    } else {
      for (std::uint32_t j = 0; j < count; ++j) tally.add(label(j), core::distance_weight(distances[0], distances[j]));
    }
    if (want_shares_) {
      for (const VoteTally::Entry& entry : tally.entries()) shares[entry.label] = entry.weight / tally.total();
    }
    return tally.winner();
  }

  Weights weights_;
  bool want_shares_;
  std::unique_ptr<VoteTally> tally_;
};

/// One for each of so many threads. Throws OutOfMemory.
inline std::vector<ListVotes> make_votes(int threads, std::uint32_t classes, const ClassifyOptions& options) {
  try {
    std::vector<ListVotes> votes;
    for (int i = 0; i < threads; ++i) votes.emplace_back(options.k, classes, options.weights, options.want_shares);
    return votes;
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(
        fmt::format("votes of {} neighbours on {} threads need more memory than there is; choose a lower "
                    "k or fewer threads",
                    options.k, threads));
  }
}

}  // namespace kith::apps
