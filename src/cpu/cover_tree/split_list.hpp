// One step of the builder by lists: the objects of a centre that are near stay with it, the far ones find new centres
// among themselves.
#pragma once

#include "core/cover_geometry.hpp"
#include "cpu/cover_tree/build_state.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace kith::cpu {

/// An object and how far it is from the centre of its list.
struct ListedObject {
  double distance = 0;
  std::uint32_t number = 0;
};

/// A centre that came out of a list, and how many objects it took.
struct ListChild {
  std::uint32_t centre = 0;
  std::uint32_t count = 0;
  double to_parent = 0;
  double largest = 0;
};

/// Splits lists at one radius. Far objects are asked in the order of the list, which is by rank: one that no new centre
/// has taken becomes a centre and takes all far objects within the radius of it. An object goes to the first centre
/// that reaches it, which need not be the nearest, and is looked for in no other list: lists do not know of each other.
template <Space S>
class ListSplit {
 public:
  using Value = typename S::Value;

  /// `within`: the largest value of a distance not above the radius. `between`, if there is one, is called now and
  /// then.
  ListSplit(const S& space, double radius, Value within, CoverWork& work, int threads,
            std::function<void()> between = {})
      : space_(space), radius_(radius), within_(within), work_(work), threads_(threads), between_(std::move(between)) {}

  /// The centre of the list first, with what is near it, then the new centres by number; their objects lie in the list
  /// in the same order. Empty: the list does not pay to be split and is as it was.
  std::vector<ListChild> run(std::uint32_t centre, std::span<ListedObject> list) {
    if (!pays(list)) return {};
    std::vector<ListChild> children{{.centre = centre}};
    for (const ListedObject& object : list) {
      if (object.distance > radius_) {
        far_.push_back(object);
      } else {
        children[0].largest = std::max(children[0].largest, object.distance);
        list[children[0].count++] = object;  // never behind the one that is read
      }
    }
    choose_centres(children);
    place(children, list.subspan(children[0].count));
    return children;
  }

 private:
  static constexpr std::uint32_t kBlock = 1 << 12;

  /// By the same test as the other builder: the first of the list are those of the lowest rank.
  bool pays(std::span<const ListedObject> list) {
    const auto count = static_cast<std::uint32_t>(list.size());
    const std::uint32_t sample = std::min(count, core::cover_sample(count));
    std::vector<std::uint32_t> numbers(sample);
    for (std::uint32_t i = 0; i < sample; ++i) numbers[i] = list[i].number;
    const typename S::Rows rows = space_.arrange(numbers, 1);
    values_.resize(sample);
    std::uint64_t close = 0;
    for (std::uint32_t a = 1; a < sample; ++a) {
      space_.ask(query_, numbers[a]);
      rows.measure(query_, 0, a, within_, values_.data());
      for (std::uint32_t b = 0; b < a; ++b) close += values_[b] <= within_;
    }
    work_.tests.evaluations += std::uint64_t{sample} * (sample - 1) / 2;
    return core::cover_split_pays(count, sample, close);
  }

  void choose_centres(std::vector<ListChild>& children) {
    child_of_.assign(far_.size(), kNone);
    values_.resize(far_.size());
    std::uint32_t free = static_cast<std::uint32_t>(far_.size());
    arrange();
    for (std::uint32_t at = 0; at < arranged_.size(); ++at) {
      if (child_of_[arranged_[at]] != kNone) continue;
      if (free < (arranged_.size() - at) / 2) {  // no centre measures more than twice as many as are free
        arrange();
        at = 0;
      }
      const std::uint32_t first = arranged_[at];
      const auto child = static_cast<std::uint32_t>(children.size());
      children.push_back({.centre = far_[first].number, .to_parent = far_[first].distance});
      free -= take(child, at);
      if (between_) between_();
    }
  }

  /// The objects that no child has taken, side by side.
  void arrange() {
    arranged_.clear();
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < far_.size(); ++i) {
      if (child_of_[i] != kNone) continue;
      arranged_.push_back(i);
      numbers.push_back(far_[i].number);
    }
    rows_ = space_.arrange(numbers, threads_);
  }

  /// Measures from the centre, which is at `at`, everything behind it. Returns how many objects it took.
  std::uint32_t take(std::uint32_t child, std::uint32_t at) {
    const auto count = static_cast<std::uint32_t>(arranged_.size()) - at;
    const std::uint32_t centre = far_[arranged_[at]].number;
    std::atomic<std::uint32_t> taken{0};
    const auto take_block = [&](typename S::Query& query, std::uint64_t block) {
      const std::uint32_t first = at + static_cast<std::uint32_t>(block * kBlock);
      const std::uint32_t end = first + std::min(kBlock, at + count - first);
      rows_.measure(query, first, end - first, within_, values_.data() + first);
      std::uint32_t own = 0;
      for (std::uint32_t i = first; i < end; ++i) {
        const std::uint32_t object = arranged_[i];
        if (child_of_[object] != kNone || (i != at && !(values_[i] <= within_))) continue;
        child_of_[object] = child;
        far_[object].distance = i == at ? 0 : space_.metric(values_[i]);
        ++own;
      }
      taken += own;
    };
    const std::uint64_t blocks = (count + kBlock - 1) / kBlock;
    if (threads_ == 1 || blocks == 1) {
      space_.ask(query_, centre);
      for (std::uint64_t block = 0; block < blocks; ++block) take_block(query_, block);
    } else {
      runtime::parallel_for(blocks, {.threads = threads_}, [&](std::uint64_t block) {
        typename S::Query query;
        space_.ask(query, centre);
        take_block(query, block);
      });
    }
    work_.centres.evaluations += count;
    return taken;
  }

  /// New centres by number, and their objects one centre after the other, each in the order in which they were.
  void place(std::vector<ListChild>& children, std::span<ListedObject> out) {
    for (std::size_t i = 0; i < far_.size(); ++i) {
      ListChild& child = children[child_of_[i]];
      ++child.count;
      child.largest = std::max(child.largest, far_[i].distance);
    }
    std::vector<std::uint32_t> by_number(children.size() - 1);
    for (std::uint32_t i = 0; i < by_number.size(); ++i) by_number[i] = i + 1;
    std::sort(by_number.begin(), by_number.end(),
              [&](std::uint32_t a, std::uint32_t b) { return children[a].centre < children[b].centre; });
    std::vector<std::uint32_t> next(children.size());
    std::vector<ListChild> sorted{children[0]};
    std::uint32_t begin = 0;
    for (const std::uint32_t child : by_number) {
      next[child] = begin;
      begin += children[child].count;
      sorted.push_back(children[child]);
    }
    for (std::size_t i = 0; i < far_.size(); ++i) out[next[child_of_[i]]++] = far_[i];
    children = std::move(sorted);
  }

  const S& space_;
  double radius_;
  Value within_;
  CoverWork& work_;
  int threads_;
  std::function<void()> between_;
  typename S::Query query_;
  std::vector<Value> values_;
  std::vector<ListedObject> far_;
  std::vector<std::uint32_t> child_of_;  ///< by place in `far_`; kNone: not taken yet
  std::vector<std::uint32_t> arranged_;  ///< places in `far_`, as the rows lie
  typename S::Rows rows_ = space_.arrange({}, 1);
};

}  // namespace kith::cpu
