// Which of the candidates of a node is the first point of its right half: the one of a given rank by the super-key.
//
// Rounds of a histogram over the ordered keys narrow the list; candidates that are equal in one component of the
// super-key go on with the next one, so that ties cost at most dims + 1 times the rounds. What is left is ranked by
// comparing all pairs. A long list may be worked on by several blocks, which then meet after each look at the list.
#pragma once

#include "cuda/kd_tree/super_key.cuh"
#include "cuda/kd_tree/team.cuh"

namespace kith::cuda {

/// Candidates of one node in global memory, and the part of them that this block looks at.
template <typename T>
struct CandidateList {
  OrderedKey<T>* keys;
  std::uint32_t* places;
  std::uint32_t count;
  std::uint32_t block = 0;  ///< of `blocks` that share the list
  std::uint32_t blocks = 1;
  ListCells* shared = nullptr;  ///< if there are several

  __device__ std::uint32_t first() const { return static_cast<std::uint32_t>(std::uint64_t{count} * block / blocks); }
  __device__ std::uint32_t end() const {
    return static_cast<std::uint32_t>(std::uint64_t{count} * (block + 1) / blocks);
  }
};

/// Where the search for a rank ended.
template <typename T>
struct Selected {
  std::uint32_t place = 0;  ///< of the candidate
  std::uint32_t stage = 0;  ///< the component that the keys of the list hold now
  OrderedKey<T> key = 0;    ///< the candidate's own in that component
  std::uint32_t meetings = 0;
};

template <typename T, typename Team>
class CandidateSelection {
 public:
  using Key = OrderedKey<T>;

  __device__ CandidateSelection(const Team& team, const PointSource<T>& source, std::uint32_t dims, std::uint32_t dim,
                                const CandidateList<T>& list, std::uint32_t* histogram)
      : team_(team), source_(source), dims_(dims), dim_(dim), list_(list), histogram_(histogram) {}

  /// The candidate that `rank` others precede. `histogram` has kSelectBins counters unless the list has few entries.
  __device__ Selected<T> run(std::uint32_t rank) {
    Selected<T> result;
    result.stage = dim_ < dims_ ? 0 : dims_;
    Key low = 1, high = static_cast<Key>(~Key{0}) - 1;
    std::uint32_t remaining = list_.count;
    while (remaining > kFew) {
      find_extremes(low, high);
      if (low == high) {
        ++result.stage;
        go_on_with(result.stage, low);
        low = 1;
        high = static_cast<Key>(~Key{0}) - 1;
      } else {
        narrow(low, high, rank, remaining);
      }
    }
    const std::uint32_t chosen = rank_all_pairs(low, high, rank, result.stage);
    result.place = team_.cells->few_places[chosen];
    result.key = static_cast<Key>(team_.cells->few_keys[chosen]);
    result.meetings = meetings_;
    return result;
  }

 private:
  __device__ bool is_shared() const { return list_.blocks > 1; }
  __device__ void meet() {
    if (is_shared()) {
      meet_blocks(&list_.shared->arrived, list_.blocks, meetings_);
    } else {
      team_.sync();
    }
  }
  template <typename F>
  __device__ void for_each(F&& f) {
    for (std::uint32_t i = list_.first() + team_.rank(); i < list_.end(); i += team_.size()) f(i);
  }

  /// The least and the greatest key in [low, high].
  __device__ void find_extremes(Key& low, Key& high) {
    TeamCells& cells = *team_.cells;
    team_.sync();
    if (team_.rank() == 0) {
      cells.least = 0;
      cells.greatest = 0;
    }
    team_.sync();
    Key least = static_cast<Key>(~Key{0}), greatest = 0;
    for_each([&](std::uint32_t i) {
      const Key key = list_.keys[i];
      if (key < low || key > high) return;
      least = key < least ? key : least;
      greatest = key > greatest ? key : greatest;
    });
    sync_warp();
    least = min_of_warp(least);
    greatest = max_of_warp(greatest);
    if (lane_number() == 0) {
      atomic_max(&cells.least, ~static_cast<std::uint64_t>(least));
      atomic_max(&cells.greatest, static_cast<std::uint64_t>(greatest));
    }
    team_.sync();
    if (is_shared()) {
      const std::uint32_t round = extremes_++ % 3;
      if (team_.rank() == 0) {
        atomic_max(&list_.shared->least[round], cells.least);
        atomic_max(&list_.shared->greatest[round], cells.greatest);
      }
      meet();
      if (team_.rank() == 0) {
        cells.least = load_fresh(&list_.shared->least[round]);
        cells.greatest = load_fresh(&list_.shared->greatest[round]);
        if (list_.block == 0) {  // the round after the next one starts from zero; nobody looks at those cells now
          list_.shared->least[(round + 2) % 3] = 0;
          list_.shared->greatest[(round + 2) % 3] = 0;
        }
      }
      team_.sync();
    }
    low = static_cast<Key>(~cells.least);
    high = static_cast<Key>(cells.greatest);
  }

  /// All candidates left are equal to `value`: they get their keys of the next component, those that are decided get
  /// keys that no component has.
  __device__ void go_on_with(std::uint32_t stage, Key value) {
    for_each([&](std::uint32_t i) {
      const Key key = list_.keys[i];
      Key next = key < value ? Key{0} : static_cast<Key>(~Key{0});
      if (key == value) next = component_key(source_, dims_, list_.places[i], dim_, stage);
      list_.keys[i] = next;
    });
    meet();
  }

  /// Keeps the bin of [low, high] in which the rank lies.
  __device__ void narrow(Key& low, Key& high, std::uint32_t& rank, std::uint32_t& remaining) {
    const std::uint32_t width = 8 * sizeof(Key) - leading_zeros(static_cast<Key>(high - low));
    const std::uint32_t shift = width > 10 ? width - 10 : 0;
    TeamCells& cells = *team_.cells;
    for (std::uint32_t b = team_.rank(); b < kSelectBins; b += team_.size()) histogram_[b] = 0;
    team_.sync();
    for_each([&](std::uint32_t i) {
      const Key key = list_.keys[i];
      if (key >= low && key <= high) atomic_add(&histogram_[(key - low) >> shift], 1u);
    });
    team_.sync();
    if (is_shared()) share_histogram();
    const std::uint32_t each = (kSelectBins + team_.size() - 1) / team_.size();
    const std::uint32_t first = team_.rank() * each;
    std::uint64_t own = 0;
    for (std::uint32_t b = first; b < first + each && b < kSelectBins; ++b) own += histogram_[b];
    std::uint64_t before = team_.sum_before(own);
    for (std::uint32_t b = first; b < first + each && b < kSelectBins; ++b) {
      if (rank >= before && rank < before + histogram_[b]) {
        cells.found_bin[0] = b;
        cells.found_below[0] = static_cast<std::uint32_t>(before);
        cells.found_below[1] = histogram_[b];
      }
      before += histogram_[b];
    }
    team_.sync();
    rank -= cells.found_below[0];
    remaining = cells.found_below[1];
    low += static_cast<Key>(static_cast<Key>(cells.found_bin[0]) << shift);
    const Key last = low + static_cast<Key>((Key{1} << shift) - 1);
    high = last < high ? last : high;
    team_.sync();
  }

  /// The sum of the histograms of all blocks.
  __device__ void share_histogram() {
    const std::uint32_t round = histograms_++ % 3;
    for (std::uint32_t b = team_.rank(); b < kSelectBins; b += team_.size()) {
      if (histogram_[b] != 0) atomic_add(&list_.shared->histogram[round][b], histogram_[b]);
    }
    meet();
    for (std::uint32_t b = team_.rank(); b < kSelectBins; b += team_.size()) {
      histogram_[b] = load_fresh(&list_.shared->histogram[round][b]);
      if (list_.block == 0) list_.shared->histogram[(round + 2) % 3][b] = 0;
    }
    team_.sync();
  }

  /// Which of the few that are left has the rank.
  __device__ std::uint32_t rank_all_pairs(Key low, Key high, std::uint32_t rank, std::uint32_t stage) {
    TeamCells& cells = *team_.cells;
    team_.sync();
    if (team_.rank() == 0) cells.few = 0;
    team_.sync();
    std::uint32_t* count = is_shared() ? &list_.shared->few : &cells.few;
    std::uint32_t* places = is_shared() ? list_.shared->few_places : cells.few_places;
    std::uint64_t* keys = is_shared() ? list_.shared->few_keys : cells.few_keys;
    for_each([&](std::uint32_t i) {
      const Key key = list_.keys[i];
      if (key < low || key > high) return;
      const std::uint32_t entry = atomic_add(count, 1u);
      places[entry] = list_.places[i];
      keys[entry] = key;
    });
    meet();
    if (is_shared()) {
      if (team_.rank() < kFew) {
        cells.few_places[team_.rank()] = load_fresh(&places[team_.rank()]);
        cells.few_keys[team_.rank()] = load_fresh(&keys[team_.rank()]);
      }
      if (team_.rank() == 0) cells.few = load_fresh(count);
      team_.sync();
    }
    for (std::uint32_t a = team_.rank(); a < cells.few; a += team_.size()) {
      std::uint32_t before = 0;
      for (std::uint32_t b = 0; b < cells.few; ++b) {
        bool is_before = cells.few_keys[b] < cells.few_keys[a];
        if (cells.few_keys[b] == cells.few_keys[a] && a != b) {
          is_before = precedes(source_, dims_, cells.few_places[b], cells.few_places[a], dim_, stage + 1);
        }
        before += is_before ? 1 : 0;
      }
      if (before == rank) cells.chosen = a;
    }
    team_.sync();
    return cells.chosen;
  }

  Team team_;
  PointSource<T> source_;
  std::uint32_t dims_, dim_;
  CandidateList<T> list_;
  std::uint32_t* histogram_;
  std::uint32_t meetings_ = 0, extremes_ = 0, histograms_ = 0;
};

}  // namespace kith::cuda
