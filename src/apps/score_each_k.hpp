// What each k gives, from one list of neighbours per row: the j-th neighbour changes the sum of one class only, so the
// winner of k = j follows from that of k = j - 1 in one step.
#pragma once

#include "core/vote.hpp"
#include "runtime/parallel.hpp"

#include <kith/apps/choose_k.hpp>
#include <kith/neighbors.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace kith::apps::inline v0 {

/// Rows whose results are added up together: sums of errors must not depend on the threads.
inline constexpr std::uint64_t kRowsScoredTogether = 1024;

/// List i is that of row `first + i * step`; all of them are full.
struct ListsOfRows {
  const Neighbors& neighbors;
  std::uint64_t first = 0;
  std::uint64_t step = 1;

  std::uint64_t count() const { return neighbors.queries(); }
  std::uint64_t blocks() const { return (count() + kRowsScoredTogether - 1) / kRowsScoredTogether; }
  std::uint64_t row(std::uint64_t list) const { return first + list * step; }
  template <typename Task>
  void for_each_of_block(std::uint64_t block, Task&& task) const {
    const std::uint64_t end = std::min(count(), (block + 1) * kRowsScoredTogether);
    for (std::uint64_t i = block * kRowsScoredTogether; i < end; ++i) task(i);
  }
};

/// One row's neighbours with their weights.
template <typename T>
class WeightedList {
 public:
  WeightedList(const ListsOfRows& lists, std::uint64_t list, Weights weights)
      : indices_(lists.neighbors.indices().data() + list * lists.neighbors.k()),
        distances_(lists.neighbors.distances().values<T>().data() + list * lists.neighbors.k()),
        by_distance_(weights == Weights::distance) {}

  std::uint32_t index(std::uint32_t j) const { return indices_[j]; }
  double weight(std::uint32_t j) const {
    if (!by_distance_) return 1;
    return core::distance_weight(static_cast<double>(distances_[0]), static_cast<double>(distances_[j]));
  }

 private:
  const std::uint32_t* indices_;
  const T* distances_;
  bool by_distance_;
};

/// How many k are tried.
inline std::size_t count_of_k(const ChooseKOptions& options) { return std::size_t{options.most} - options.least + 1; }

/// How many rows each k labels right.
class RightLabels {
 public:
  RightLabels(LabelView labels, const ChooseKOptions& options)
      : options_(options), codes_(labels.codes), classes_(labels.classes), right_(count_of_k(options), 0) {
    if (classes_ > codes_.size()) number_used_classes();
  }
  RightLabels(const RightLabels&) = delete;
  RightLabels& operator=(const RightLabels&) = delete;

  void add(const ListsOfRows& lists) {
    lists.neighbors.dtype() == DType::f32 ? add_all<float>(lists) : add_all<double>(lists);
  }

  void finish(KChoice& choice) {
    const auto best = std::max_element(right_.begin(), right_.end());  // the first of several
    choice.best = options_.least + static_cast<std::uint32_t>(best - right_.begin());
    choice.right = std::move(right_);
  }

 private:
  /// What a class has among the neighbours of the row at hand.
  struct Tally {
    double weight = 0;
    std::uint32_t rank = 0;                                         ///< among classes of the same weight
    std::uint32_t first = 0;                                        ///< place of its nearest member
    std::uint32_t row = std::numeric_limits<std::uint32_t>::max();  ///< whose neighbours these are
  };
  /// Of one thread.
  struct Scratch {
    std::vector<Tally> tallies;
    std::vector<std::uint64_t> right;
  };

  /// There are more classes than rows, so most occur nowhere and need no room.
  void number_used_classes() {
    std::vector<std::uint32_t> used(codes_.begin(), codes_.end());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    own_codes_.reserve(codes_.size());
    for (const std::uint32_t code : codes_) {
      own_codes_.push_back(static_cast<std::uint32_t>(std::lower_bound(used.begin(), used.end(), code) - used.begin()));
    }
    codes_ = own_codes_;
    classes_ = static_cast<std::uint32_t>(used.size());
  }

  template <typename T>
  void add_all(const ListsOfRows& lists) {
    std::vector<Scratch> scratch(static_cast<std::size_t>(runtime::resolve_threads(options_.threads)));
    runtime::parallel_for_workers(
        lists.blocks(), {.threads = options_.threads}, [&](std::uint64_t block, runtime::Worker& worker) {
          Scratch& own = scratch[static_cast<std::size_t>(worker.thread())];
          own.tallies.resize(classes_);
          own.right.resize(right_.size());
          lists.for_each_of_block(block, [&](std::uint64_t list) {
            add_one(WeightedList<T>(lists, list, options_.weights), static_cast<std::uint32_t>(lists.row(list)), own);
          });
        });
    for (const Scratch& own : scratch) {
      for (std::size_t i = 0; i < own.right.size(); ++i) right_[i] += own.right[i];
    }
  }

  template <typename T>
  void add_one(const WeightedList<T>& list, std::uint32_t row, Scratch& scratch) const {
    const core::TieRule ties(options_.ties);
    Tally leader;
    std::uint32_t winner = 0;
    for (std::uint32_t j = 0; j < options_.most; ++j) {
      const std::uint32_t code = codes_[list.index(j)];
      Tally& tally = scratch.tallies[code];
      if (tally.row != row) tally = {0, ties.rank(code), j, row};
      tally.weight += list.weight(j);
      // Weights are never negative, so no other class can have come to lead.
      if (tally.weight > leader.weight ||
          (tally.weight == leader.weight && std::tie(tally.rank, tally.first) < std::tie(leader.rank, leader.first))) {
        leader = tally;
        winner = code;
      }
      if (j + 1 >= options_.least) scratch.right[j + 1 - options_.least] += winner == codes_[row] ? 1 : 0;
    }
  }

  const ChooseKOptions& options_;
  std::span<const std::uint32_t> codes_;
  std::uint32_t classes_;
  std::vector<std::uint32_t> own_codes_;
  std::vector<std::uint64_t> right_;  // per k
};

/// How far the means of each k are off.
class ValueErrors {
 public:
  ValueErrors(std::span<const double> values, const ChooseKOptions& options)
      : options_(options), values_(values), squares_(count_of_k(options), 0.0) {}

  void add(const ListsOfRows& lists) {
    lists.neighbors.dtype() == DType::f32 ? add_all<float>(lists) : add_all<double>(lists);
  }

  void finish(KChoice& choice) {
    for (double& sum : squares_) sum = std::sqrt(sum / static_cast<double>(values_.size()));
    const auto best = std::min_element(squares_.begin(), squares_.end());  // the first of several
    choice.best = options_.least + static_cast<std::uint32_t>(best - squares_.begin());
    choice.error = std::move(squares_);
  }

 private:
  template <typename T>
  void add_all(const ListsOfRows& lists) {
    const std::size_t count = squares_.size();
    std::vector<double> sums(lists.blocks() * count, 0.0);  // blocks x k
    runtime::parallel_for(lists.blocks(), {.threads = options_.threads}, [&](std::uint64_t block) {
      lists.for_each_of_block(block, [&](std::uint64_t list) {
        add_one(WeightedList<T>(lists, list, options_.weights), values_[lists.row(list)], &sums[block * count]);
      });
    });
    for (std::size_t i = 0; i < sums.size(); ++i) squares_[i % count] += sums[i];
  }

  template <typename T>
  void add_one(const WeightedList<T>& list, double truth, double* squares) const {
    double sum = 0, weights = 0;
    for (std::uint32_t j = 0; j < options_.most; ++j) {
      const double weight = list.weight(j);
      sum += weight * values_[list.index(j)];
      weights += weight;
      if (j + 1 < options_.least) continue;
      const double error = sum / weights - truth;
      squares[j + 1 - options_.least] += error * error;
    }
  }

  const ChooseKOptions& options_;
  std::span<const double> values_;
  std::vector<double> squares_;  // per k
};

}  // namespace kith::apps::inline v0
