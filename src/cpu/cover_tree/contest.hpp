// Objects of one cell and a few centres that may win some of them: which pairs are measured, given the owners.
#pragma once

#include "cpu/cover_tree/build_state.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kith::cpu {

/// By position, for all objects of open cells.
template <typename Value>
struct Contested {
  const std::uint32_t* numbers;
  const double* from_cell;      ///< distances from the centre of the cell
  const double* from_owner;     ///< the same as long as that owns the object
  const Value* limits;          ///< values above it do not win
  const std::uint32_t* owners;  ///< centres of this level, or kNone
};

/// Used again for other objects; one for each thread.
///
/// A centre c wins an object p of the cell of b from its owner o only if m(c, p) <= m(o, p), so that
/// m(c, o) <= 2 m(o, p) and m(c, b) <= m(b, p) + m(o, p). Owners are few: they are measured from all new centres.
template <MeasuresFew S>
class Contest {
 public:
  using Value = typename S::Value;

  explicit Contest(const S& space) : space_(&space) {}

  struct Rival {
    std::uint32_t number;  ///< of the object
    std::uint32_t centre;
    double from_cell;  ///< distance from the cell's centre
  };

  /// For the objects from position `first` on. `number_of(centre)` is the number of a centre's object.
  template <typename NumberOf>
  void start(const Contested<Value>& all, std::uint32_t first, std::uint32_t count, NumberOf&& number_of) {
    all_ = all;
    first_ = first;
    owners_.assign(1, 0);
    slots_.assign(count, 0);
    kept_.resize(count);
    numbers_.resize(count);
    limits_.resize(count);
    found_.resize(std::max<std::size_t>(count, found_.size()));
    values_.resize(found_.size() * kFew);
    table_.assign(std::bit_ceil(std::size_t{2} * count), {kNone, 0});
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t owner = all.owners[first + i];
      if (owner == kNone) continue;
      std::size_t at = owner * 0x9E3779B1u & (table_.size() - 1);
      while (table_[at].owner != kNone && table_[at].owner != owner) at = (at + 1) & (table_.size() - 1);
      if (table_[at].owner == kNone) table_[at] = {owner, add_owner(number_of(owner))};
      slots_[i] = table_[at].slot;
    }
  }

  /// At most kFew rivals against the first `count` objects. `offer(position, rival, value)` is asked where a value is
  /// not above the limit, and says whether the rival wins. Returns how many distances it took.
  template <typename Offer>
  std::uint64_t run(std::span<const Rival> rivals, std::uint32_t count, Offer&& offer) {
    const auto few = static_cast<std::uint32_t>(rivals.size());
    std::uint32_t rival_numbers[kFew], rival_slots[kFew] = {};
    double nearest = std::numeric_limits<double>::infinity();
    for (std::uint32_t j = 0; j < few; ++j) {
      rival_numbers[j] = rivals[j].number;
      nearest = std::min(nearest, rivals[j].from_cell);
    }
    few_.set(*space_, {rival_numbers, few});
    std::uint64_t evaluations = bound_owners(few, count);
    const std::uint32_t kept = keep(count, 2 * least_half(nearest));
    const std::uint32_t hits = few_.measure(numbers_.data(), limits_.data(), kept, found_.data(), values_.data());
    evaluations += std::uint64_t{few} * kept;
    for (std::uint32_t h = 0; h < hits; ++h) {
      const std::uint32_t i = kept_[found_[h]];
      for (std::uint32_t j = 0; j < few; ++j) {
        const Value value = values_[std::size_t{h} * kFew + j];
        if (!(value <= all_.limits[first_ + i]) || !offer(first_ + i, rivals[j].centre, value)) continue;
        if (rival_slots[j] == 0) rival_slots[j] = add_owner(rivals[j].number);
        slots_[i] = rival_slots[j];
      }
    }
    return evaluations;
  }

 private:
  /// Objects for each owner, or its distances cost more than they spare.
  static constexpr std::size_t kObjectsPerOwner = 4;

  std::uint32_t add_owner(std::uint32_t number) {
    owners_.push_back(number);
    return static_cast<std::uint32_t>(owners_.size() - 1);
  }

  /// Not above the distance of an object from its owner, if a centre at `distance` from the owner wins it.
  double least_half(double distance) const {
    const core::CoverRounding rounding = space_->rounding();
    return (distance * (1 - 5 * rounding.relative) - 5 * rounding.absolute) / (2 + 10 * rounding.relative);
  }

  std::uint64_t bound_owners(std::uint32_t few, std::uint32_t count) {
    bounds_.assign(owners_.size(), -std::numeric_limits<double>::infinity());
    const auto owners = static_cast<std::uint32_t>(owners_.size() - 1);
    if (owners == 0 || owners * kObjectsPerOwner > count) return 0;
    no_limits_.resize(owners, std::numeric_limits<Value>::infinity());
    if (found_.size() < owners) {
      found_.resize(owners);
      values_.resize(owners * std::size_t{kFew});
    }
    few_.measure(owners_.data() + 1, no_limits_.data(), owners, found_.data(), values_.data());
    for (std::uint32_t o = 0; o < owners; ++o) {
      const Value* values = values_.data() + std::size_t{o} * kFew;
      bounds_[o + 1] = least_half(space_->metric(*std::min_element(values, values + few)));
    }
    return std::uint64_t{few} * owners;
  }

  /// Those of the first `count` objects that may be won.
  std::uint32_t keep(std::uint32_t count, double least_from_both) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t at = first_ + i;
      kept_[kept] = i;
      numbers_[kept] = all_.numbers[at];
      limits_[kept] = all_.limits[at];
      const double from_owner = all_.from_owner[at];
      kept += static_cast<std::uint32_t>(from_owner >= bounds_[slots_[i]]) &
              static_cast<std::uint32_t>(all_.from_cell[at] + from_owner >= least_from_both) &
              static_cast<std::uint32_t>(all_.limits[at] >= 0);
    }
    return kept;
  }

  struct Entry {
    std::uint32_t owner;
    std::uint32_t slot;
  };

  const S* space_;
  Contested<Value> all_ = {};
  std::uint32_t first_ = 0;
  typename S::Few few_;
  std::vector<std::uint32_t> owners_;  ///< numbers of their objects by slot; slot 0 is the cell's centre
  std::vector<double> bounds_;         ///< by slot
  std::vector<std::uint32_t> slots_;   ///< by object
  std::vector<Entry> table_;           ///< slots of owners
  std::vector<std::uint32_t> kept_, numbers_, found_;
  std::vector<Value> limits_, no_limits_, values_;
};

/// Contest<S>, where there is one.
template <Space S>
struct ContestOf {
  struct type {};
};
template <MeasuresFew S>
struct ContestOf<S> {
  using type = Contest<S>;
};

}  // namespace kith::cpu
