// The nearest point of the target for every point of a source that moves a little from search to search.
//
// A search finds the few nearest points, and all others are at least as far as the last of them. When the point has
// moved, they are that much nearer at most: if one of the few is nearer still, it is the nearest, and no new search is
// needed. After the first iterations that holds for most points.
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
  NearestMatches(std::span<const T> source, std::span<const T> target, const Index& index, core::Frame frame,
                 int threads);

  /// Moves the source and finds the nearest point of the target for each that has one within `reach`. Others may have a
  /// match, too, or kNoMatch.
  void update(const core::Motion& motion, double reach);

  /// The number of the match, or kNoMatch.
  std::uint32_t match(std::uint64_t point) const { return matches_[point]; }
  /// The moved point, as it was searched: rounded to the type of the clouds.
  const T* moved(std::uint64_t point) const { return moved_.data() + point * dims_; }
  /// How many points were searched for by the last update.
  std::uint64_t searched() const { return open_.size(); }

 private:
  /// Points that a search finds: more of them last longer, but take longer.
  static constexpr std::uint32_t kFew = 6;
  /// What is known of a point since its last search.
  struct Known {
    std::uint32_t few[kFew];  ///< the nearest points, or kNoMatch
    T others = -1;            ///< no other point was nearer than this; -1: never searched
  };

  /// Finds the match among the few nearest of the last search; false if it may be another point.
  bool find_among_few(std::uint64_t point, double reach);
  void search(double reach);

  std::span<const T> source_;
  std::span<const T> target_;
  const Index& index_;
  std::uint32_t dims_;
  core::Frame frame_;
  int threads_;
  std::vector<T> moved_;
  std::vector<T> place_;  ///< where each point was when it was searched for
  std::vector<Known> known_;
  std::vector<std::uint32_t> matches_;
  std::vector<std::uint8_t> is_open_;  ///< whether a point must be searched for
  std::vector<std::uint32_t> open_;    ///< those
  std::vector<T> queries_;
  std::vector<std::uint32_t> found_;
  std::vector<T> distances_;
};

}  // namespace kith::apps::inline v0
