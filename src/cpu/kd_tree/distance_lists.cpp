// See distance_lists.hpp. Written once, compiled for each instruction set, chosen at run time.
#include "cpu/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kd_tree/distance_lists.cpp"
#include <hwy/foreach_target.h>
// The line above must come before the next ones.
#include <hwy/highway.h>

#include "cpu/kd_tree/distance_lists.hpp"
#include "cpu/kd_tree/sorted_vectors-inl.hpp"

#include <algorithm>
#include <bit>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <std::uint32_t kCapacity>
core::Candidate<double> log_hits(void* self, std::uint32_t query, std::uint64_t hits, const double* reduced,
                                 const std::uint32_t* indices) {
  auto& lists = *static_cast<DistanceLists*>(self);
  if (HWY_UNLIKELY(lists.is_picked(query))) return lists.insert_one_by_one(query, hits, reduced, indices);
  double* distances = lists.distances(query);
  double* log_distances = lists.log_distances(query);
  std::uint32_t* log_indices = lists.log_indices(query);
  std::uint32_t logged = lists.logged(query);
  const double before = lists.limit(query);
  SortedVectors<kCapacity> list(distances);
  for (; hits != 0; hits &= hits - 1) {
    const int i = __builtin_ctzll(hits);
    log_distances[logged] = reduced[i];
    log_indices[logged++] = indices[i];
    list.insert(reduced[i]);
  }
  list.store(distances);
  return lists.set_logged(query, logged, before);
}

LeafHitFunction<double> log_function(std::uint32_t capacity) {
  switch (capacity) {
    case 4:
      return &log_hits<4>;
    case 8:
      return &log_hits<8>;
    case 16:
      return &log_hits<16>;
    default:
      return &log_hits<32>;
  }
}

/// How many of the sorted distances are below one.
template <std::uint32_t kCapacity>
HWY_INLINE std::uint32_t count_below(const double* sorted, double distance) {
  const hn::CappedTag<double, (kCapacity < 8 ? kCapacity : 8)> lanes;
  std::size_t below = 0;
  for (std::uint32_t j = 0; j < kCapacity; j += hn::MaxLanes(lanes)) {
    below += hn::CountTrue(lanes, hn::Lt(hn::LoadU(lanes, sorted + j), hn::Set(lanes, distance)));
  }
  return static_cast<std::uint32_t>(below);
}

/// See DistanceLists::pick.
template <std::uint32_t kCapacity>
std::uint32_t pick_nearest(const double* sorted, std::uint32_t k, const double* log_distances,
                           const std::uint32_t* log_indices, std::uint32_t logged, std::uint32_t* indices) {
  std::uint8_t near[DistanceLists::kLog];
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < logged; ++i) {
    near[count] = static_cast<std::uint8_t>(i);
    count += log_distances[i] <= sorted[k - 1] ? 1 : 0;
  }
  std::uint8_t equal[kCapacity] = {};  // how many there are so far of those that begin at a place
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t index = log_indices[near[i]], first = count_below<kCapacity>(sorted, log_distances[near[i]]);
    // Equal ones in the order of their numbers; if more are at the limit than there are places, the last one leaves.
    std::uint32_t place = first + equal[first];
    if (place < k) {
      ++equal[first];
      ++found;
    } else if (index < indices[k - 1]) {
      place = k - 1;
    } else {
      continue;
    }
    for (; place > first && indices[place - 1] > index; --place) indices[place] = indices[place - 1];
    indices[place] = index;
  }
  return found;
}

PickFunction pick_function(std::uint32_t capacity) {
  switch (capacity) {
    case 4:
      return &pick_nearest<4>;
    case 8:
      return &pick_nearest<8>;
    case 16:
      return &pick_nearest<16>;
    default:
      return &pick_nearest<32>;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(log_function);
HWY_EXPORT(pick_function);

namespace {

std::uint32_t count_equal(const double* values, std::uint32_t count, double value) {
  std::uint64_t equal = 0;  // as wide as a value, for vectors
  for (std::uint32_t i = 0; i < count; ++i) equal += values[i] == value ? 1 : 0;
  return static_cast<std::uint32_t>(equal);
}

}  // namespace

DistanceLists::DistanceLists(std::uint32_t k, std::uint32_t queries)
    : k_(k),
      capacity_(capacity_for(k)),
      on_hit_(HWY_DYNAMIC_DISPATCH(log_function)(capacity_)),
      pick_(HWY_DYNAMIC_DISPATCH(pick_function)(capacity_)),
      storage_(std::size_t{queries} * capacity_ + 1),
      log_distances_(std::size_t{queries} * kLog),
      log_indices_(std::size_t{queries} * kLog),
      logged_(queries),
      is_picked_(queries) {
  distances_ = storage_.data() + reinterpret_cast<std::uintptr_t>(storage_.data()) % 16 / sizeof(double);
}

core::Candidate<double> DistanceLists::set_logged(std::uint32_t query, std::uint32_t logged, double before) {
  const double farthest = limit(query);
  const double* log = log_distances(query);
  const std::uint32_t equal = count_equal(log + logged_[query], logged - logged_[query], farthest);
  logged_[query] = logged;
  const bool may_be_too_many = equal > 1 || (equal == 1 && farthest == before);
  is_picked_[query] =
      may_be_too_many && count_equal(log, logged, farthest) > count_equal(distances(query), k_, farthest);
  if (is_picked_[query] || logged > kLog - kMostHits) cut_back(query);
  return {farthest, is_picked_[query] ? log_indices(query)[k_ - 1] : core::kNoPoint};
}

core::Candidate<double> DistanceLists::insert_one_by_one(std::uint32_t query, std::uint64_t hits, const double* reduced,
                                                         const std::uint32_t* indices) {
  double* distances = log_distances(query);
  std::uint32_t* numbers = log_indices(query);
  const std::uint32_t last = k_ - 1;
  for (; hits != 0; hits &= hits - 1) {
    const int i = std::countr_zero(hits);
    const core::Candidate<double> hit{reduced[i], indices[i]};
    if (!(hit < core::Candidate<double>{distances[last], numbers[last]})) continue;
    std::uint32_t place = last;
    for (; place > 0 && hit < core::Candidate<double>{distances[place - 1], numbers[place - 1]}; --place) {
      distances[place] = distances[place - 1];
      numbers[place] = numbers[place - 1];
    }
    distances[place] = hit.distance;
    numbers[place] = hit.index;
  }
  return {distances[last], numbers[last]};
}

void DistanceLists::reset(std::uint32_t query, double farthest) {
  std::fill_n(distances(query), capacity_, farthest);
  logged_[query] = 0;
  is_picked_[query] = 0;
}

std::uint32_t DistanceLists::pick(std::uint32_t query, std::uint32_t* indices) const {
  return pick_(distances_ + std::size_t{query} * capacity_, k_, log_distances_.data() + std::size_t{query} * kLog,
               log_indices_.data() + std::size_t{query} * kLog, logged_[query], indices);
}

void DistanceLists::write(std::uint32_t query, std::uint32_t missing, std::uint32_t* indices, double* reduced) {
  std::uint32_t found = k_;
  if (is_picked_[query]) {
    std::copy_n(log_indices(query), k_, indices);
    std::copy_n(log_distances(query), k_, reduced);
  } else {
    found = pick(query, indices);
    std::copy_n(distances(query), found, reduced);
  }
  std::fill(indices + found, indices + k_, missing);
  std::fill(reduced + found, reduced + k_, std::numeric_limits<double>::infinity());
}

void DistanceLists::cut_back(std::uint32_t query) {
  std::uint32_t indices[kMost];
  const std::uint32_t found = pick(query, indices);
  std::copy_n(distances(query), found, log_distances(query));
  std::copy_n(indices, found, log_indices(query));
  logged_[query] = found;
}

}  // namespace kith::cpu
#endif  // HWY_ONCE
