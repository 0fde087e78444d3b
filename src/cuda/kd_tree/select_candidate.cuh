// Which of the candidates of a node is the first point of its right half: the one of a given rank by the super-key.
//
// Rounds of a histogram over the ordered keys narrow the list; candidates that are equal in one component of the
// super-key go on with the next one, so that ties cost at most dims + 1 times the rounds. What is left is ranked by
// comparing all pairs. A long list may be worked on by several blocks, which then meet after each look at the list.
#pragma once

#include "cuda/kd_tree/super_key.cuh"
#include "cuda/kd_tree/team.cuh"

namespace kith::cuda {

/// Candidates of one node, and the part of them that this block looks at.
template <typename T>
struct CandidateList {
  OrderedKey<T>* keys;
  std::uint32_t* places;
  std::uint32_t count;
  const T* values = nullptr;  ///< coordinate d of an entry at d * values_stride + entry; null: ask the source
  std::uint64_t values_stride = 0;
  bool is_staged = false;   ///< copied to shared memory
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

template <typename T>
class CandidateSelection {
 public:
  using Key = OrderedKey<T>;

  __device__ CandidateSelection(const PointSource<T>& source, std::uint32_t dims, std::uint32_t dim,
                                const CandidateList<T>& list)
      : source_(source), dims_(dims), dim_(dim), list_(list) {}

  /// The candidate that `rank` others precede.
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
    result.place = step_shared().few_places[chosen];
    result.key = static_cast<Key>(step_shared().few_keys[chosen]);
    result.meetings = meetings_;
    return result;
  }

 private:
  __device__ bool is_shared() const { return list_.blocks > 1; }
  __device__ void meet() {
    if (is_shared()) {
      meet_blocks(&list_.shared->arrived, list_.blocks, meetings_);
    } else {
      sync_block();
    }
  }
  /// Calls f(entry, key) for this block's part of the list.
  template <typename F>
  __device__ __forceinline__ void for_each_key(F&& f) {
    if (list_.is_staged) {
      for (std::uint32_t i = thread_number(); i < list_.count; i += threads_per_block()) f(i, list_.keys[i]);
      return;
    }
    constexpr std::uint32_t kTogether = 32 / sizeof(Key);  // so many keys are on their way at a time
    const std::uint32_t end = list_.end(), step = threads_per_block();
    for (std::uint32_t i = list_.first() + thread_number(); i < end; i += kTogether * step) {
      Key keys[kTogether];
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        if (i + k * step < end) keys[k] = list_.keys[i + k * step];
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        if (i + k * step < end) f(i + k * step, keys[k]);
      }
    }
  }

  /// The least and the greatest key in [low, high].
  __device__ void find_extremes(Key& low, Key& high) {
    StepShared& cells = step_shared();
    sync_block();
    if (thread_number() == 0) {
      cells.least = 0;
      cells.greatest = 0;
    }
    sync_block();
    Key least = static_cast<Key>(~Key{0}), greatest = 0;
    for_each_key([&](std::uint32_t, Key key) {
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
    sync_block();
    if (is_shared()) {
      const std::uint32_t round = extremes_++ % 3;
      if (thread_number() == 0) {
        atomic_max(&list_.shared->least[round], cells.least);
        atomic_max(&list_.shared->greatest[round], cells.greatest);
      }
      meet();
      if (thread_number() == 0) {
        cells.least = load_fresh(&list_.shared->least[round]);
        cells.greatest = load_fresh(&list_.shared->greatest[round]);
        if (list_.block == 0) {  // the round after the next one starts from zero; nobody looks at those cells now
          list_.shared->least[(round + 2) % 3] = 0;
          list_.shared->greatest[(round + 2) % 3] = 0;
        }
      }
      sync_block();
    }
    low = static_cast<Key>(~cells.least);
    high = static_cast<Key>(cells.greatest);
  }

  /// All candidates left are equal to `value`: they get their keys of the next component, those that are decided get
  /// keys that no component has.
  __device__ void go_on_with(std::uint32_t stage, Key value) {
    constexpr std::uint32_t kTogether = 4;
    const std::uint32_t end = list_.end(), step = threads_per_block();
    for (std::uint32_t i = list_.first() + thread_number(); i < end; i += kTogether * step) {
      Key keys[kTogether], next[kTogether];
      std::uint32_t places[kTogether];
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        if (i + k * step < end) {
          keys[k] = list_.keys[i + k * step];
          places[k] = list_.places[i + k * step];
        }
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        if (i + k * step < end) {
          next[k] = keys[k] < value ? Key{0} : static_cast<Key>(~Key{0});
          if (keys[k] == value) next[k] = key_of_entry(i + k * step, places[k], stage);
        }
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        if (i + k * step < end) list_.keys[i + k * step] = next[k];
      }
    }
    meet();
  }

  __device__ __forceinline__ Key key_of_entry(std::uint32_t entry, std::uint32_t place, std::uint32_t stage) const {
    if (list_.values == nullptr || stage >= dims_) return component_key(source_, dims_, place, dim_, stage);
    const std::uint32_t axis = dim_ + stage < dims_ ? dim_ + stage : dim_ + stage - dims_;
    return ordered_key(list_.values[axis * list_.values_stride + entry]);
  }

  /// Keeps the bin of [low, high] in which the rank lies.
  __device__ void narrow(Key& low, Key& high, std::uint32_t& rank, std::uint32_t& remaining) {
    std::uint32_t* histogram = step_shared().histogram;
    const std::uint32_t width = 8 * sizeof(Key) - leading_zeros(static_cast<Key>(high - low));
    const std::uint32_t shift = width > 10 ? width - 10 : 0;
    StepShared& cells = step_shared();
    for (std::uint32_t b = thread_number(); b < kSelectBins; b += threads_per_block()) histogram[b] = 0;
    sync_block();
    for_each_key([&](std::uint32_t, Key key) {
      if (key >= low && key <= high) atomic_add(&histogram[(key - low) >> shift], 1u);
    });
    sync_block();
    if (is_shared()) share_histogram();
    const std::uint32_t each = (kSelectBins + threads_per_block() - 1) / threads_per_block();
    const std::uint32_t first = thread_number() * each;
    std::uint64_t own = 0;
    for (std::uint32_t b = first; b < first + each && b < kSelectBins; ++b) own += histogram[b];
    std::uint64_t before = sum_before(own);
    for (std::uint32_t b = first; b < first + each && b < kSelectBins; ++b) {
      if (rank >= before && rank < before + histogram[b]) {
        cells.found_bin[0] = b;
        cells.found_below[0] = static_cast<std::uint32_t>(before);
        cells.found_count = histogram[b];
      }
      before += histogram[b];
    }
    sync_block();
    rank -= cells.found_below[0];
    remaining = cells.found_count;
    low += static_cast<Key>(static_cast<Key>(cells.found_bin[0]) << shift);
    const Key span = static_cast<Key>((Key{1} << shift) - 1);  // low + span may be too large for a key
    if (high - low > span) high = low + span;
    sync_block();
  }

  /// The sum of the histograms of all blocks.
  __device__ void share_histogram() {
    std::uint32_t* histogram = step_shared().histogram;
    const std::uint32_t round = histograms_++ % 3;
    for (std::uint32_t b = thread_number(); b < kSelectBins; b += threads_per_block()) {
      if (histogram[b] != 0) atomic_add(&list_.shared->histogram[round][b], histogram[b]);
    }
    meet();
    for (std::uint32_t b = thread_number(); b < kSelectBins; b += threads_per_block()) {
      histogram[b] = load_fresh(&list_.shared->histogram[round][b]);
      if (list_.block == 0) list_.shared->histogram[(round + 2) % 3][b] = 0;
    }
    sync_block();
  }

  /// Which of the few that are left has the rank.
  __device__ std::uint32_t rank_all_pairs(Key low, Key high, std::uint32_t rank, std::uint32_t stage) {
    StepShared& cells = step_shared();
    sync_block();
    if (thread_number() == 0) cells.few = 0;
    sync_block();
    std::uint32_t* count = is_shared() ? &list_.shared->few : &cells.few;
    std::uint32_t* places = is_shared() ? list_.shared->few_places : cells.few_places;
    std::uint64_t* keys = is_shared() ? list_.shared->few_keys : cells.few_keys;
    for_each_key([&](std::uint32_t i, Key key) {
      if (key < low || key > high) return;
      const std::uint32_t entry = atomic_add(count, 1u);
      places[entry] = list_.places[i];
      keys[entry] = key;
    });
    meet();
    if (is_shared()) {
      if (thread_number() < kFew) {
        cells.few_places[thread_number()] = load_fresh(&places[thread_number()]);
        cells.few_keys[thread_number()] = load_fresh(&keys[thread_number()]);
      }
      if (thread_number() == 0) cells.few = load_fresh(count);
      sync_block();
    }
    // Four threads for each of the few; whole warps, so that the four can add up.
    const std::uint32_t quarters = (4 * cells.few + kWarp - 1) / kWarp * kWarp;
    for (std::uint32_t i = thread_number(); i < quarters; i += threads_per_block()) {
      const std::uint32_t a = i / 4;
      std::uint32_t before = 0;
      const std::uint64_t own = a < cells.few ? cells.few_keys[a] : 0;
      for (std::uint32_t b = i % 4; a < cells.few && b < cells.few; b += 4) {
        const std::uint64_t other = cells.few_keys[b];
        bool is_before = other < own;
        if (other == own && a != b) {
          is_before = precedes(source_, dims_, cells.few_places[b], cells.few_places[a], dim_, stage + 1);
        }
        before += is_before ? 1 : 0;
      }
      sync_warp();
      before += shuffle_xor(before, 1);
      before += shuffle_xor(before, 2);
      if (a < cells.few && before == rank) cells.chosen = a;
    }
    sync_block();
    return cells.chosen;
  }

  const PointSource<T>& source_;
  std::uint32_t dims_, dim_;
  CandidateList<T> list_;
  std::uint32_t meetings_ = 0, extremes_ = 0, histograms_ = 0;
};

}  // namespace kith::cuda
