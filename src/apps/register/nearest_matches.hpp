// The nearest point of the target for every point of a source that moves a little from search to search.
//
// A search finds the two nearest points. While a point has moved by less than half of what the second is farther away than
// the first, the first stays the nearest, and no new search is needed: after a few iterations most points are like that.
#pragma once

#include "apps/register/stage.hpp"
#include "core/cloud/motion.hpp"

#include <kith/index.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {

/// No point of the target within reach.
inline constexpr std::uint32_t kNoMatch = 0xffffffff;

template <typename T>
class NearestMatches {
 public:
  NearestMatches(std::span<const T> source, const Index& target, core::Frame frame, int threads);

  /// Moves the source and finds the nearest point of the target for each that has one within `reach`. Others may have a
  /// match, too, or kNoMatch.
  void update(const core::Motion& motion, double reach);

  /// The number of the match, or kNoMatch.
  std::uint32_t match(std::uint64_t point) const { return state_[point].nearest; }
  /// The moved point, as it was searched: rounded to the type of the clouds.
  const T* moved(std::uint64_t point) const { return moved_.data() + point * dims_; }
  /// How many points were searched for by the last update.
  std::uint64_t searched() const { return open_.size(); }

 private:
  /// What is known of a point since its last search.
  struct Known {
    std::uint32_t nearest = kNoMatch;
    T first = 0;    ///< distance of the nearest; without one, no point was nearer than this
    T second = -1;  ///< no other point was nearer than this; -1: never searched
  };

  bool is_still_nearest(std::uint64_t point, double reach) const;
  void search(double reach);

  std::span<const T> source_;
  const Index& target_;
  std::uint32_t dims_;
  core::Frame frame_;
  int threads_;
  std::vector<T> moved_;
  std::vector<T> place_;  ///< where each point was when it was searched for
  std::vector<Known> state_;
  std::vector<std::uint8_t> is_open_;  ///< whether a point must be searched for
  std::vector<std::uint32_t> open_;    ///< those
  std::vector<T> queries_;
  std::vector<std::uint32_t> found_;
  std::vector<T> distances_;
};

}  // namespace kith::apps::inline v0
