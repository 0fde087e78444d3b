// One level of the cover tree: the new centres, in the order of ranks, and the objects they win.
#pragma once

#include "cpu/cover_tree/build_state.hpp"
#include "cpu/cover_tree/neighbor_cells.hpp"
#include "runtime/parallel.hpp"
#include "runtime/time_spent.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::cpu {

/// Runs in rounds. A round takes the candidates of lowest rank that no centre covers, as many as are a small part of
/// all objects, finds the centres among them one after the other, and then measures all objects near the new centres at
/// once, on all threads. What is chosen does not depend on how many are taken.
template <Space S>
class CentreChoice {
 public:
  using Value = typename S::Value;

  struct Centre {
    std::uint32_t number = 0;
    std::uint32_t cell = 0;  ///< whose object it was
    double distance = 0;     ///< from that cell's centre
    std::uint32_t position = 0;
  };

  CentreChoice(const S& space, CoverState<S>& state, const NeighborCells& neighbors, double radius, Value within,
               int threads)
      : space_(space), state_(state), neighbors_(neighbors), radius_(radius), within_(within), threads_(threads) {}

  /// Afterwards `centres` has the new ones in the order of their choice, and `owners` for each position one of them or
  /// kNone, with `state.values` measured from the owner.
  void run() {
    const std::size_t objects = state_.numbers.size();
    owners.assign(objects, kNone);
    limits_.resize(objects);
    for (std::size_t i = 0; i < objects; ++i) limits_[i] = value_not_below(state_.values[i]);
    batch_members_.assign(state_.cells.size() + 1, 0);
    std::vector<std::uint32_t> candidates;
    for (const std::uint32_t at : state_.by_rank) {
      if (state_.distances[at] > radius_ && state_.cells[state_.cell_at[at]].open) candidates.push_back(at);
    }
    const std::size_t most = std::clamp<std::size_t>(objects / 32, 32, 4096);
    std::size_t next = 0;
    while (next < candidates.size()) {
      batch_.clear();
      for (; next < candidates.size() && batch_.size() < most; ++next) {
        if (state_.values[candidates[next]] > within_) batch_.push_back(candidates[next]);
      }
      if (batch_.empty()) break;
      const std::size_t before = centres.size();
      choose_in_batch();
      claim(before);
      find_targets(before);
      measure_targets();
    }
  }

  std::vector<Centre> centres;
  std::vector<std::uint32_t> owners;

 private:
  /// Objects of a cell that a centre may win: the first `count` of them.
  struct Target {
    std::uint32_t cell = 0;
    std::uint32_t centre = 0;
    std::uint32_t count = 0;
  };

  static constexpr std::uint32_t kChunk = 256;

  /// The greedy choice among the batch.
  void choose_in_batch() {
    const runtime::TimeSpent time(&state_.work->centres.milliseconds);
    const auto size = static_cast<std::uint32_t>(batch_.size());
    // By cell, and in a cell by rank, so that the members of a cell can be measured side by side.
    std::vector<std::uint32_t>& first = batch_members_;
    std::fill(first.begin(), first.end(), 0);
    for (const std::uint32_t at : batch_) ++first[state_.cell_at[at] + 1];
    for (std::size_t c = 1; c < first.size(); ++c) first[c] += first[c - 1];
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1), slot(size), numbers(size);
    for (std::uint32_t i = 0; i < size; ++i) {
      slot[i] = next[state_.cell_at[batch_[i]]]++;
      numbers[slot[i]] = state_.numbers[batch_[i]];
    }
    const typename S::Rows rows = space_.arrange(numbers, threads_);
    std::vector<std::uint8_t> is_covered(size, 0);
    std::vector<Value> values(size);
    typename S::Query query;
    std::uint64_t evaluations = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
      if (is_covered[slot[i]]) continue;
      const std::uint32_t at = batch_[i], cell = state_.cell_at[at];
      centres.push_back({state_.numbers[at], cell, state_.distances[at], at});
      space_.ask(query, state_.numbers[at]);
      for (const auto& near : neighbors_.of(cell)) {
        const std::uint32_t begin = first[near.cell], end = first[near.cell + 1];
        if (begin == end) continue;
        rows.measure(query, begin, end - begin, within_, values.data());
        evaluations += end - begin;
        for (std::uint32_t s = begin; s < end; ++s) is_covered[s] |= values[s - begin] <= within_;
      }
    }
    state_.work->centres.evaluations += evaluations;
  }

  /// The centres since `before` own themselves.
  void claim(std::size_t before) {
    for (std::size_t c = before; c < centres.size(); ++c) {
      const std::uint32_t at = centres[c].position;
      owners[at] = static_cast<std::uint32_t>(c);
      state_.values[at] = 0;
      limits_[at] = -1;  // nobody is nearer
    }
  }

  /// Which cells the centres since `before` must be measured with, and how many objects of each.
  void find_targets(std::size_t before) {
    const runtime::TimeSpent time(&state_.work->centres.milliseconds);
    const auto count = centres.size() - before;
    constexpr std::uint32_t kBlock = 8;
    std::vector<std::vector<Target>> found((count + kBlock - 1) / kBlock);
    runtime::parallel_for(found.size(), {.threads = threads_}, [&](std::uint64_t block) {
      typename S::Query query;
      const std::size_t end = std::min(centres.size(), before + (block + 1) * kBlock);
      std::uint64_t evaluations = 0;
      for (std::size_t c = before + block * kBlock; c < end; ++c) {
        space_.ask(query, centres[c].number);
        for (const auto& near : neighbors_.of(centres[c].cell)) {
          const CoverCell& cell = state_.cells[near.cell];
          if (!cell.open) continue;
          double distance = centres[c].distance;
          if (near.cell != centres[c].cell) {
            if (!may_win(rounding_.apart(near.distance, distance), cell.largest)) continue;
            Value value;
            state_.centres.measure(query, near.cell, 1, std::numeric_limits<Value>::max(), &value);
            ++evaluations;
            distance = space_.metric(value);
          }
          const double* distances = state_.distances.data() + cell.first;
          const double* last =
              std::partition_point(distances, distances + cell.count, [&](double of) { return may_win(distance, of); });
          if (last == distances) continue;
          found[block].push_back(
              {near.cell, static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(last - distances)});
        }
      }
      state_.work->centres.evaluations += evaluations;
    });
    std::vector<std::uint32_t>& first = batch_members_;
    std::fill(first.begin(), first.end(), 0);
    std::size_t total = 0;
    for (const auto& list : found) {
      for (const Target& target : list) ++first[target.cell + 1];
      total += list.size();
    }
    for (std::size_t c = 1; c < first.size(); ++c) first[c] += first[c - 1];
    targets_.resize(total);
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (const auto& list : found) {
      for (const Target& target : list) targets_[next[target.cell]++] = target;
    }
  }

  /// Whether an object at `of` from the centre of its cell can be nearer to a centre that is `distance` from there.
  bool may_win(double distance, double of) const { return !(distance > 0) || rounding_.nearest(distance, of) < of; }

  void measure_targets() {
    const runtime::TimeSpent time(&state_.work->objects.milliseconds);
    struct Task {
      std::uint32_t cell, first, count;
    };
    std::vector<Task> tasks;
    for (std::uint32_t c = 0; c < state_.cells.size(); ++c) {
      std::uint32_t longest = 0;
      for (std::uint32_t t = batch_members_[c]; t < batch_members_[c + 1]; ++t) {
        longest = std::max(longest, targets_[t].count);
      }
      for (std::uint32_t at = 0; at < longest; at += kChunk) tasks.push_back({c, at, std::min(kChunk, longest - at)});
    }
    runtime::parallel_for(tasks.size(), {.threads = threads_}, [&](std::uint64_t t) {
      const Task& task = tasks[t];
      const std::uint32_t first = state_.cells[task.cell].first + task.first;
      typename S::Query query;
      Value values[kChunk];
      std::uint64_t evaluations = 0;
      const Value limit = *std::max_element(limits_.begin() + first, limits_.begin() + first + task.count);
      for (std::uint32_t i = batch_members_[task.cell]; i < batch_members_[task.cell + 1]; ++i) {
        const Target& target = targets_[i];
        if (target.count <= task.first) continue;
        const std::uint32_t count = std::min(task.count, target.count - task.first);
        space_.ask(query, centres[target.centre].number);
        state_.rows.measure(query, first, count, limit, values);
        evaluations += count;
        for (std::uint32_t p = 0; p < count; ++p) {
          if (values[p] <= limits_[first + p]) offer(first + p, target.centre, values[p]);
        }
      }
      state_.work->objects.evaluations += evaluations;
    });
  }

  void offer(std::uint32_t at, std::uint32_t centre, Value value) {
    const double present = space_.metric(state_.values[at]), offered = space_.metric(value);
    const bool wins = offered < present || (offered == present && owners[at] != kNone &&
                                            centres[centre].number < centres[owners[at]].number);
    if (!wins) return;
    owners[at] = centre;
    state_.values[at] = value;
    limits_[at] = value_not_below(value);
  }

  const S& space_;
  CoverState<S>& state_;
  const NeighborCells& neighbors_;
  double radius_;
  Value within_;
  int threads_;
  core::CoverRounding rounding_ = space_.rounding();
  std::vector<Value> limits_;                 ///< by position: values above it do not win
  std::vector<std::uint32_t> batch_;          ///< positions by rank
  std::vector<std::uint32_t> batch_members_;  ///< by cell: where its members, or targets, begin
  std::vector<Target> targets_;               ///< by cell
};

}  // namespace kith::cpu
