// The nearest point of the target for every point of a source that moves a little from search to search.
//
// A search finds the few nearest points, and all others are at least as far as the last of them. When the point has
// moved, they are that much nearer at most: if one of the few is nearer still, it is the nearest, and no new search is
// needed. After the first iterations that holds for most points.
//
// Where the neighbours of each point of the target are known, they do the same for points near the target from the
// first iteration on: a point c of the list of t is at least as far from a point q as c is from t less q from t, and
// so are all that come after c. The list is read until that is farther than the nearest so far, which may be any
// point near q to begin with: that of its last place, or that of another point next to it.
#pragma once

#include "apps/register/stage.hpp"
#include "core/cloud/motion.hpp"

#include <kith/index.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith::apps::inline v0 {

/// No point of the target within reach.
inline constexpr std::uint32_t kNoMatch = 0xffffffff;

/// The matches of every so many points at another pose, or none.
struct MatchHints {
  std::vector<std::uint32_t> matches;
  std::uint64_t step = 1;
};

template <typename T>
class NearestMatches {
 public:
  /// `neighbors` are those of the target, or null; they and the hints change the time alone.
  NearestMatches(std::span<const T> source, std::span<const T> target, const Index& index, core::Frame frame,
                 int threads, const KeptNeighbors* neighbors = nullptr, MatchHints hints = {});

  /// Moves the source and finds the nearest point of the target for each that has one within `reach`. Others may have a
  /// match, too, or kNoMatch.
  void update(const core::Motion& motion, double reach);

  /// The number of the match, or kNoMatch.
  std::uint32_t match(std::uint64_t point) const { return matches_[point]; }
  /// The moved point, as it was searched: rounded to the type of the clouds.
  const T* moved(std::uint64_t point) const { return moved_.data() + point * dims_; }
  /// How many points were searched for by the last update.
  std::uint64_t searched() const { return open_.size(); }
  /// All matches, once no more are looked for.
  std::vector<std::uint32_t> take() && { return std::move(matches_); }

 private:
  /// Points that a search finds: more of them last longer, but take longer.
  static constexpr std::uint32_t kFew = 6;
  /// What is known of a point since its last search.
  struct Known {
    std::uint32_t few[kFew];  ///< the nearest points, or kNoMatch
    T others = -1;            ///< no other point was nearer than this; -1: never searched
  };

  /// At the point's place: how far its match is at most, and all others at least. At first nothing is known.
  struct Gap {
    T nearest = 0;
    T second = 0;
  };

  /// Whether the point has walked too little for another match.
  bool keeps_match(std::uint64_t point) const;
  /// Finds the match among the few nearest of the last search; false if it may be another point.
  bool find_among_few(std::uint64_t point, double reach);
  /// Finds the match from the neighbours of `start` on, of theirs if one of them is nearer, and so on; false if it may
  /// be another point.
  bool find_among_neighbors(std::uint64_t point, std::uint32_t start);
  bool find_without_search(std::uint64_t point, double reach);
  std::vector<std::uint32_t> nearby_order() const;
  void follow_hints();
  bool is_unique(double nearest, double second) const;
  void take_match(std::uint64_t point, std::uint32_t match, double nearest, double second);
  double squared_to(std::uint64_t point, const T* place) const;
  double walked(std::uint64_t point) const;
  void search(double reach);

  std::span<const T> source_;
  std::span<const T> target_;
  const Index& index_;
  std::uint32_t dims_;
  core::Frame frame_;
  int threads_;
  const KeptNeighbors* neighbors_;  ///< null: unknown
  MatchHints hints_;
  std::vector<T> moved_;
  std::vector<T> place_;  ///< where each point was when its match was found
  std::vector<Gap> gaps_;
  std::vector<Known> known_;
  std::vector<std::uint32_t> matches_;
  std::vector<std::uint8_t> is_open_;  ///< whether a point must be searched for
  std::vector<std::uint32_t> open_;    ///< those
  std::vector<T> queries_;
  std::vector<std::uint32_t> found_;
  std::vector<T> distances_;
};

}  // namespace kith::apps::inline v0
