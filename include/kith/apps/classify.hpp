// Labels by the votes of neighbours: all points at once, or one after the other.
#pragma once

#include <kith/apps/neighbor_options.hpp>
#include <kith/point_view.hpp>

#include <cstdint>
#include <vector>

namespace kith::apps::inline v0 {

struct ClassifyOptions : NeighborOptions {
  /// Whether `Classified::shares` is filled.
  bool want_shares = false;
};

/// What a point was labelled, and by how much.
struct Classified {
  std::vector<std::uint32_t> labels;  ///< one per query
  /// If wanted: per query and class the share of all weight that its neighbours of that class have; rows of `classes`.
  std::vector<double> shares;
  /// One after the other only. The longest chain of new points of which each counts in the vote on the next: 0 without
  /// new points, 1 if no new point is a neighbour of another. And how many passes over the points gave the labels.
  std::uint64_t depth = 0;
  std::uint64_t rounds = 0;
  NeighborWork work;
};

/// Labels each query by its k nearest points. The label with the most weight wins, of several the one that
/// `options.ties` says. The views may lie on a GPU (codes are the host's).
///
/// Throws UsageError if k is 0 or above the number of points, if a code is not below `classes`, if codes and points are
/// not as many; BadData on NaN or infinity or if there are queries but no points; else as Index::build and Index::knn.
KITH_EXPORT Classified classify(PointView points, LabelView labels, PointView queries,
                                const ClassifyOptions& options = {});

/// The same, but query i, once labelled, is a point for those after it: what a loop over the queries gives that adds
/// each one to the points, numbered on. The loop is not run: neighbours do not depend on labels, so they are found for
/// all at once, and labels follow along the chains. Where fewer than k points are there yet, all of them vote.
///
/// k may be up to points + queries - 1 (and up to the points without queries).
KITH_EXPORT Classified classify_sequential(PointView points, LabelView labels, PointView queries,
                                           const ClassifyOptions& options = {});

}  // namespace kith::apps::inline v0
