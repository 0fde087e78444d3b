// One level of the cover tree: the new centres, in the order of ranks, and the objects they win.
#pragma once

#include "cpu/cover_tree/build_state.hpp"
#include "cpu/cover_tree/contest.hpp"
#include "cpu/cover_tree/neighbor_cells.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"
#include "runtime/time_spent.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
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
    from_owner_ = state_.distances;
    worst_.resize(objects);
    for (std::size_t i = 0; i < objects; ++i) {
      limits_[i] = value_not_below(state_.values[i]);
      worst_[i] = 2 * state_.distances[i];
    }
    batch_members_.assign(state_.cells.size() + 1, 0);
    std::vector<std::uint32_t>& candidates = candidates_;
    candidates.clear();
    for (const std::uint32_t at : state_.by_rank) {
      if (state_.distances[at] > radius_ && state_.cells[state_.cell_at[at]].open) candidates.push_back(at);
    }
    std::size_t most = kFewestTaken;
    std::size_t next = 0;
    std::uint64_t since_sorted = 0, before_sorting = kSortAfter * objects;
    while (next < candidates.size()) {
      batch_.clear();
      for (; next < candidates.size() && batch_.size() < most; ++next) {
        if (state_.values[candidates[next]] > within_) batch_.push_back(candidates[next]);
      }
      if (batch_.empty()) break;
      const std::size_t before = centres.size();
      const std::uint64_t among_batch = choose_in_batch();
      claim(before);
      find_targets(before);
      const std::uint64_t among_objects = measure_targets();
      if (among_batch * 16 < among_objects) {
        most = std::min(2 * most, kMostTaken);
      } else if (among_batch * 8 > among_objects) {
        most = std::max(most / 2, kFewestTaken);
      }
      since_sorted += among_objects;
      if (!state_.by_few && since_sorted > before_sorting && next < candidates.size()) {
        sort_again();
        since_sorted = 0;
        before_sorting *= 2;
      }
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
    double distance = 0;  ///< between the two
  };

  static constexpr std::uint32_t kChunk = 256;
  static constexpr std::uint32_t kFewestContested = 128, kMostContested = 1024;
  static constexpr std::uint32_t kGap = 4;         ///< cells between two near ones are measured too
  static constexpr std::uint64_t kSortAfter = 64;  ///< distances per object, then twice as many
  static constexpr std::size_t kFewestTaken = 32;
  static constexpr std::size_t kMostTaken = 4096;

  /// The greedy choice among the batch. Returns how many distances it took.
  std::uint64_t choose_in_batch() {
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
      runtime::look_for_stop();
      const std::uint32_t at = batch_[i], cell = state_.cell_at[at];
      centres.push_back({state_.numbers[at], cell, state_.distances[at], at});
      space_.ask(query, state_.numbers[at]);
      const double in_radii = neighbors_.in_radii(state_.distances[at]);
      for (const auto& near : neighbors_.of(cell)) {
        const std::uint32_t begin = first[near.cell], end = first[near.cell + 1];
        if (begin == end || in_radii <= near.too_near) continue;
        rows.measure(query, begin, end - begin, within_, values.data());
        evaluations += end - begin;
        for (std::uint32_t s = begin; s < end; ++s) is_covered[s] |= values[s - begin] <= within_;
      }
    }
    state_.work->centres.evaluations += evaluations;
    return evaluations;
  }

  /// The centres since `before` own themselves.
  void claim(std::size_t before) {
    for (std::size_t c = before; c < centres.size(); ++c) {
      const std::uint32_t at = centres[c].position;
      owners[at] = static_cast<std::uint32_t>(c);
      state_.values[at] = 0;
      limits_[at] = -1;  // nothing is nearer
    }
  }

  /// Which cells the centres since `before` must be measured with, and how many objects of each.
  void find_targets(std::size_t before) {
    const runtime::TimeSpent time(&state_.work->centres.milliseconds);
    constexpr std::uint32_t kBlock = 8;
    std::vector<std::vector<Target>> found((centres.size() - before + kBlock - 1) / kBlock);
    runtime::parallel_for(found.size(), {.threads = threads_}, [&](std::uint64_t block) {
      typename S::Query query;
      const std::size_t end = std::min(centres.size(), before + (block + 1) * kBlock);
      std::uint64_t evaluations = 0;
      std::vector<Value> values;
      std::vector<std::uint32_t> near_cells;
      for (std::size_t c = before + block * kBlock; c < end; ++c) {
        runtime::look_for_stop();
        near_cells.clear();
        const double in_radii = neighbors_.in_radii(centres[c].distance);
        for (const auto& near : neighbors_.of(centres[c].cell)) {
          if (in_radii > near.too_near) near_cells.push_back(near.cell);
        }
        space_.ask(query, centres[c].number);
        for (std::size_t i = 0; i < near_cells.size();) {
          const std::uint32_t first = near_cells[i];
          std::size_t past = i + 1;
          while (past < near_cells.size() && near_cells[past] - near_cells[past - 1] <= kGap) ++past;
          const std::uint32_t count = near_cells[past - 1] - first + 1;
          values.resize(count);
          state_.centres.measure(query, first, count, std::numeric_limits<Value>::max(), values.data());
          evaluations += count;
          for (; i < past; ++i) {
            const double distance = space_.metric(values[near_cells[i] - first]);
            const std::uint32_t objects = how_many(near_cells[i], distance);
            if (objects > 0) found[block].push_back({near_cells[i], static_cast<std::uint32_t>(c), objects, distance});
          }
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

  /// How many objects of a cell a centre can win that is at `distance` from the cell's.
  std::uint32_t how_many(std::uint32_t of_cell, double distance) const {
    const CoverCell& cell = state_.cells[of_cell];
    if (!may_win(distance, 2 * cell.largest)) return 0;
    if (state_.by_few) return cell.count;
    const double* worst = worst_.data() + cell.first;
    const double* last =
        std::partition_point(worst, worst + cell.count, [&](double of) { return may_win(distance, of); });
    return static_cast<std::uint32_t>(last - worst);
  }

  /// Whether an object p of a cell b can be nearer to a centre c at `distance` from b than to its owner o, where `of`
  /// is m(b, p) + m(o, p): m(c, p) >= m(c, b) - m(b, p).
  bool may_win(double distance, double of) const {
    return distance - 4 * (rounding_.relative * (distance + of) + rounding_.absolute) < of;
  }

  /// The objects of each cell by what they have now: many are nearer to their owner than they were.
  void sort_again() {
    const std::size_t objects = state_.numbers.size();
    std::vector<std::uint32_t> from(objects), now_at(objects);
    runtime::parallel_for(state_.cells.size(), {.threads = threads_}, [&](std::uint64_t c) {
      const CoverCell& cell = state_.cells[c];
      std::vector<std::pair<double, std::uint32_t>> keys(cell.count);
      for (std::uint32_t i = 0; i < cell.count; ++i) {
        const std::uint32_t at = cell.first + i;
        double key = state_.distances[at] + space_.metric(state_.values[at]);
        // A tie goes to the lower number among new centres, but not from an old one to a new one.
        if (owners[at] != kNone) key = std::nextafter(key, std::numeric_limits<double>::infinity());
        keys[i] = {limits_[at] < 0 ? -1 : key, at};
      }
      std::sort(keys.begin(), keys.end(), std::greater<>());
      for (std::uint32_t i = 0; i < cell.count; ++i) {
        const std::uint32_t at = cell.first + i;
        worst_[at] = keys[i].first;
        from[at] = keys[i].second;
        now_at[keys[i].second] = at;
      }
    });
    take(state_.numbers, from);
    take(state_.values, from);
    take(state_.distances, from);
    take(owners, from);
    take(limits_, from);
    take(from_owner_, from);
    for (std::uint32_t& at : state_.by_rank) at = now_at[at];
    for (std::uint32_t& at : candidates_) at = now_at[at];
    state_.rows = space_.arrange(state_.numbers, threads_);
  }

  template <typename T>
  static void take(std::vector<T>& values, const std::vector<std::uint32_t>& from) {
    std::vector<T> taken(values.size());
    for (std::size_t i = 0; i < from.size(); ++i) taken[i] = values[from[i]];
    values.swap(taken);
  }

  struct Task {
    std::uint32_t cell, first, count;
  };

  /// Objects that some centre may win, at most `chunk` in a task.
  std::vector<Task> find_tasks(std::uint32_t chunk) const {
    std::vector<Task> tasks;
    for (std::uint32_t c = 0; c < state_.cells.size(); ++c) {
      std::uint32_t longest = 0;
      for (std::uint32_t t = batch_members_[c]; t < batch_members_[c + 1]; ++t) {
        longest = std::max(longest, targets_[t].count);
      }
      for (std::uint32_t at = 0; at < longest; at += chunk) tasks.push_back({c, at, std::min(chunk, longest - at)});
    }
    return tasks;
  }

  /// Returns how many distances it took.
  std::uint64_t measure_targets() {
    const std::uint64_t evaluations_before = state_.work->objects.evaluations;
    const runtime::TimeSpent time(&state_.work->objects.milliseconds);
    if constexpr (MeasuresFew<S>) {
      if (state_.by_few) contest_targets();
    }
    if (!state_.by_few) measure_all_targets();
    return state_.work->objects.evaluations - evaluations_before;
  }

  /// Where objects have no rows: kFew centres at a time against the objects of a cell, the nearest to the cell first.
  void contest_targets() requires MeasuresFew<S> {
    const std::vector<Task> tasks = find_tasks(std::clamp(space_.objects_at_hand(), kFewestContested, kMostContested));
    for (int i = static_cast<int>(contests_.size()); i < runtime::resolve_threads(threads_); ++i) {
      contests_.emplace_back(space_);
    }
    const Contested<Value> all = {state_.numbers.data(), state_.distances.data(), from_owner_.data(), limits_.data(),
                                  owners.data()};
    runtime::parallel_for_workers(tasks.size(), {.threads = threads_}, [&](std::uint64_t t, runtime::Worker& worker) {
      const Task& task = tasks[t];
      std::vector<typename Contest<S>::Rival> rivals;
      std::vector<Target> targets;
      for (std::uint32_t i = batch_members_[task.cell]; i < batch_members_[task.cell + 1]; ++i) {
        if (targets_[i].count > task.first) targets.push_back(targets_[i]);
      }
      std::stable_sort(targets.begin(), targets.end(),
                       [](const Target& a, const Target& b) { return a.distance < b.distance; });
      for (const Target& target : targets) {
        rivals.push_back({centres[target.centre].number, target.centre, target.distance});
      }
      Contest<S>& contest = contests_[static_cast<std::size_t>(worker.thread())];
      contest.start(all, state_.cells[task.cell].first + task.first, task.count,
                    [&](std::uint32_t centre) { return centres[centre].number; });
      std::uint64_t evaluations = 0;
      for (std::size_t i = 0; i < rivals.size(); i += kFew) {
        evaluations +=
            contest.run(std::span(rivals).subspan(i, std::min<std::size_t>(kFew, rivals.size() - i)),
                        std::min(task.count, targets[i].count - task.first),
                        [&](std::uint32_t at, std::uint32_t centre, Value value) { return offer(at, centre, value); });
      }
      state_.work->objects.evaluations += evaluations;
    });
  }

  void measure_all_targets() {
    const std::vector<Task> tasks = find_tasks(kChunk);
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
        offer_all(first, count, target.centre, values);
      }
      state_.work->objects.evaluations += evaluations;
    });
  }

  void offer_all(std::uint32_t first, std::uint32_t count, std::uint32_t centre, const Value* values) {
    constexpr std::uint32_t kBlock = 16;  // without branches: few blocks have a winner
    const Value* limits = limits_.data() + first;
    std::uint32_t p = 0;
    for (; p + kBlock <= count; p += kBlock) {
      std::uint32_t hits = 0;
      for (std::uint32_t i = 0; i < kBlock; ++i) hits += values[p + i] <= limits[p + i] ? 1u : 0u;
      if (hits == 0) continue;
      for (std::uint32_t i = p; i < p + kBlock; ++i) {
        if (values[i] <= limits[i]) offer(first + i, centre, values[i]);
      }
    }
    for (; p < count; ++p) {
      if (values[p] <= limits[p]) offer(first + p, centre, values[p]);
    }
  }

  bool offer(std::uint32_t at, std::uint32_t centre, Value value) {
    const double present = space_.metric(state_.values[at]), offered = space_.metric(value);
    const bool wins = offered < present || (offered == present && owners[at] != kNone &&
                                            centres[centre].number < centres[owners[at]].number);
    if (!wins) return false;
    owners[at] = centre;
    state_.values[at] = value;
    limits_[at] = value_not_below(value);
    from_owner_[at] = offered;
    return true;
  }

  const S& space_;
  CoverState<S>& state_;
  const NeighborCells& neighbors_;
  double radius_;
  Value within_;
  int threads_;
  core::CoverRounding rounding_ = space_.rounding();
  std::vector<std::uint32_t> candidates_;     ///< positions by rank
  std::vector<double> worst_;                 ///< by position, see may_win; descending in a cell, since it was sorted
  std::vector<Value> limits_;                 ///< by position: values above it do not win
  std::vector<double> from_owner_;            ///< by position: distances
  std::vector<std::uint32_t> batch_;          ///< positions by rank
  std::vector<std::uint32_t> batch_members_;  ///< by cell: where its members, or targets, begin
  std::vector<Target> targets_;               ///< by cell
  std::vector<typename ContestOf<S>::type> contests_;  ///< by thread
};

}  // namespace kith::cpu
