// The vote of one list of neighbours: by comparing labels with each other if it is short and ties go to the nearest,
// else by a tally.
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

namespace kith::apps::inline v0 {

/// Up to here comparing is faster than a tally.
inline constexpr std::uint32_t kMostOfFew = 16;

/// The label of K with the most weight, of several the first. No branch depends on labels; adding 0 changes no sum.
template <std::uint32_t K, typename Weight>
std::uint32_t heaviest(const std::uint32_t* labels, const Weight* weights) {
  Weight most = -1;
  std::uint32_t winner = 0;
  for (std::uint32_t j = 0; j < K; ++j) {
    Weight sum = 0;
    for (std::uint32_t i = 0; i < K; ++i) sum += labels[i] == labels[j] ? weights[i] : Weight{0};
    winner = sum > most ? labels[j] : winner;
    most = sum > most ? sum : most;
  }
  return winner;
}

/// The same for 1 to kMostOfFew labels.
template <typename Weight>
std::uint32_t heaviest_of_few(std::uint32_t count, const std::uint32_t* labels, const Weight* weights) {
  using Function = std::uint32_t (*)(const std::uint32_t*, const Weight*);
  static constexpr auto kFunctions = []<std::uint32_t... K>(std::integer_sequence<std::uint32_t, K...>) {
    return std::array<Function, kMostOfFew>{&heaviest<K + 1, Weight>...};
  }
  (std::make_integer_sequence<std::uint32_t, kMostOfFew>());
  return kFunctions[count - 1](labels, weights);
}

/// Votes of lists, one after the other; one of these per thread.
class ListVotes {
 public:
  ListVotes(std::uint32_t classes, const ClassifyOptions& options)
      : weights_(options.weights),
        most_compared_(options.want_shares || options.ties != Ties::nearest ? 0 : kMostOfFew) {
    ones_.fill(1);
    if (options.k > most_compared_) {
      tally_ = std::make_unique<VoteTally>(options.k, classes, core::TieRule(options.ties));
    }
  }

  /// `count` neighbours, 1 to k, nearest first. Shares are written into zeros, if they are wanted.
  template <typename T>
  std::uint32_t winner(std::uint32_t count, const std::uint32_t* labels, const T* distances, double* shares) {
    const auto by_distance = [=](std::uint32_t j) { return core::distance_weight(distances[0], distances[j]); };
    if (count > most_compared_) {
      if (weights_ == Weights::distance) return tally_->winner(labels, count, by_distance, shares);
      return tally_->winner(
          labels, count, [](std::uint32_t) { return 1.0; }, shares);
    }
    if (weights_ == Weights::uniform) return heaviest_of_few(count, labels, ones_.data());
    std::array<double, kMostOfFew> weights;
    for (std::uint32_t j = 0; j < count; ++j) weights[j] = by_distance(j);
    return heaviest_of_few(count, labels, weights.data());
  }

  /// Scratch space for the labels of some lists.
  std::vector<std::uint32_t>& labels() { return labels_; }

 private:
  Weights weights_;
  std::uint32_t most_compared_;  // longer lists take the tally
  std::array<std::int32_t, kMostOfFew> ones_;
  std::unique_ptr<VoteTally> tally_;
  std::vector<std::uint32_t> labels_;
};

/// One for each of so many threads. Throws OutOfMemory.
inline std::vector<ListVotes> make_votes(int threads, std::uint32_t classes, const ClassifyOptions& options) {
  try {
    std::vector<ListVotes> votes;
    for (int i = 0; i < threads; ++i) votes.emplace_back(classes, options);
    return votes;
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format(
        "votes of {} neighbours on {} threads need more memory than there is; choose a lower k or fewer threads",
        options.k, threads));
  }
}

}  // namespace kith::apps::inline v0
