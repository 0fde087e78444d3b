// See consistent_poses.hpp. Matches are the nodes of a graph, edges join those that some rigid motion moves together:
// a right match has many neighbours that are neighbours of each other, a wrong one few. So matches are taken by how
// many triangles they are in (second-order compatibility, after SC2-PCR), and each with its firmest neighbours gives a
// pose, which graduated weights then fit to all matches that agree.
#include "apps/register/global/consistent_poses.hpp"

#include "apps/for_each_row.hpp"
#include "core/cloud/vector3.hpp"
#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace kith::apps::inline v0 {
namespace {

/// Matches that a pose is computed from at first.
constexpr std::size_t kFirstMatches = 24;
/// Poses that are tried.
constexpr std::size_t kMostSeeds = 96;
/// Two matches whose points are nearer to each other than so many tolerances say nothing about a rotation.
constexpr double kLeastApart = 3;
/// How far cosines of angles between normals, and between normals and the line through the points, may differ.
constexpr double kCosineTolerance = 0.3;

double squared_apart(const core::Motion& motion, const double* from, const double* to) {
  double moved[3], step[3];
  core::move_point(motion, from, moved);
  core::step3(to, moved, step);
  return core::dot3(step, step);
}

/// One row of bits per match.
class MatchGraph {
 public:
  explicit MatchGraph(std::size_t nodes) : nodes_(nodes), words_((nodes + 63) / 64), bits_(nodes * words_) {}

  std::size_t nodes() const { return nodes_; }
  void join(std::size_t node, std::size_t other) {
    bits_[node * words_ + other / 64] |= std::uint64_t{1} << other % 64;
  }
  bool are_joined(std::size_t node, std::size_t other) const {
    return (bits_[node * words_ + other / 64] >> other % 64 & 1) != 0;
  }
  std::uint32_t common(std::size_t node, std::size_t other) const {
    const std::uint64_t* a = bits_.data() + node * words_;
    const std::uint64_t* b = bits_.data() + other * words_;
    int sum = 0;
    for (std::size_t w = 0; w < words_; ++w) sum += std::popcount(a[w] & b[w]);
    return static_cast<std::uint32_t>(sum);
  }
  template <typename With>
  void for_each_neighbor(std::size_t node, const With& with) const {
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t word = bits_[node * words_ + w]; word != 0; word &= word - 1) {
        with(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }

 private:
  std::size_t nodes_;
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

class PoseFinder {
 public:
  PoseFinder(const FeatureCloud& source, const FeatureCloud& target, std::span<const FeatureMatch> matches,
             double tolerance, const PoseFreedom& freedom, int threads)
      : source_(source),
        target_(target),
        matches_(matches),
        tolerance_(tolerance),
        freedom_(freedom),
        threads_(threads),
        graph_(matches.size()) {}

  std::vector<PoseCandidate> run(std::uint64_t most) {
    build_graph();
    const std::vector<std::uint64_t> triangles = count_triangles();
    std::vector<std::uint32_t> order(matches_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return triangles[a] > triangles[b]; });
    std::vector<PoseCandidate> found;
    std::vector<std::uint8_t> is_taken(matches_.size());
    for (const std::uint32_t seed : order) {
      runtime::look_for_stop();
      if (found.size() == kMostSeeds || triangles[seed] == 0) break;
      if (is_taken[seed]) continue;
      is_taken[seed] = 1;
      PoseCandidate candidate;
      if (!fit_around(seed, candidate.motion) || !fit_to_all(candidate.motion)) continue;
      for (std::size_t m = 0; m < matches_.size(); ++m) {
        if (!(squared_error(candidate.motion, m) <= tolerance_ * tolerance_)) continue;
        ++candidate.matches;
        is_taken[m] = 1;  // a seed of its own would lead here
      }
      if (candidate.matches >= 3) found.push_back(candidate);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const PoseCandidate& a, const PoseCandidate& b) { return a.matches > b.matches; });
    if (found.size() > most) found.resize(most);
    return found;
  }

 private:
  const double* from(std::size_t match) const { return source_.place(matches_[match].source); }
  const double* to(std::size_t match) const { return target_.place(matches_[match].target); }

  bool agree(std::size_t a, std::size_t b) const {
    const double *p = from(a), *q = from(b), *s = to(a), *t = to(b);
    double here[3], there[3];
    core::step3(p, q, here);
    core::step3(s, t, there);
    const double length = std::sqrt(core::dot3(here, here)), other = std::sqrt(core::dot3(there, there));
    if (!(std::abs(length - other) <= tolerance_)) return false;
    if (!(std::min(length, other) >= kLeastApart * tolerance_)) return false;
    if (freedom_.fit == core::FitFreedom::level && !(std::abs(here[2] - there[2]) <= tolerance_)) return false;
    const double *np = source_.normal(matches_[a].source), *nq = source_.normal(matches_[b].source);
    const double *ns = target_.normal(matches_[a].target), *nt = target_.normal(matches_[b].target);
    const auto differ = [](double x, double y) { return std::abs(std::abs(x) - std::abs(y)) > kCosineTolerance; };
    if (differ(core::dot3(np, nq), core::dot3(ns, nt))) return false;
    return !differ(core::dot3(np, here) / length, core::dot3(ns, there) / other) &&
           !differ(core::dot3(nq, here) / length, core::dot3(nt, there) / other);
  }

  void build_graph() {
    // Rows, not edges, are shared out: a bit is written by the thread of its row alone.
    for_each_row(matches_.size(), {.threads = threads_}, [&](std::uint64_t i) {
      for (std::size_t j = 0; j < matches_.size(); ++j) {
        if (i != j && agree(std::min<std::size_t>(i, j), std::max<std::size_t>(i, j))) graph_.join(i, j);
      }
    });
  }

  std::vector<std::uint64_t> count_triangles() const {
    std::vector<std::uint64_t> triangles(matches_.size());
    for_each_row(matches_.size(), {.threads = threads_}, [&](std::uint64_t i) {
      graph_.for_each_neighbor(i, [&](std::size_t j) { triangles[i] += graph_.common(i, j); });
    });
    return triangles;
  }

  /// From a match and those of its neighbours that it has the most neighbours in common with.
  bool fit_around(std::size_t seed, core::Motion& motion) const {
    struct Firm {
      std::uint32_t common;
      std::uint32_t match;
    };
    std::vector<Firm> firm;
    graph_.for_each_neighbor(seed, [&](std::size_t j) {
      firm.push_back({graph_.common(seed, j), static_cast<std::uint32_t>(j)});
    });
    std::sort(firm.begin(), firm.end(), [](const Firm& a, const Firm& b) {
      return a.common != b.common ? a.common > b.common : a.match < b.match;
    });
    if (firm.size() < 2) return false;
    if (firm.size() > kFirstMatches) firm.resize(kFirstMatches);
    core::RigidFit fit;
    fit.add(from(seed), to(seed), 1);
    for (const Firm& each : firm) fit.add(from(each.match), to(each.match), 1);
    return solve(fit, motion);
  }

  bool solve(const core::RigidFit& fit, core::Motion& motion) const {
    if (!fit.solve(freedom_.fit, motion)) return false;
    if (freedom_.keeps_z) motion.shift[2] = freedom_.z;
    return true;
  }

  /// Graduated non-convexity: every match counts by 1 / (1 + (r/c)^2)^2, at a scale that shrinks to the tolerance.
  bool fit_to_all(core::Motion& motion) const {
    constexpr double kScales[] = {4, 3, 2, 1.5, 1, 1};
    for (const double scale : kScales) {
      const double c = scale * tolerance_;
      core::RigidFit fit;
      for (std::size_t m = 0; m < matches_.size(); ++m) {
        const double ratio = squared_error(motion, m) / (c * c);
        if (ratio > 9) continue;
        fit.add(from(m), to(m), 1 / ((1 + ratio) * (1 + ratio)));
      }
      if (!solve(fit, motion)) return false;
    }
    return true;
  }

  double squared_error(const core::Motion& motion, std::size_t match) const {
    return squared_apart(motion, from(match), to(match));
  }

  const FeatureCloud& source_;
  const FeatureCloud& target_;
  std::span<const FeatureMatch> matches_;
  double tolerance_;
  PoseFreedom freedom_;
  int threads_;
  MatchGraph graph_;
};

}  // namespace

std::vector<PoseCandidate> consistent_poses(const FeatureCloud& source, const FeatureCloud& target,
                                            std::span<const FeatureMatch> matches, double tolerance,
                                            const PoseFreedom& freedom, std::uint64_t most, int threads) {
  return PoseFinder(source, target, matches, tolerance, freedom, threads).run(most);
}

std::uint64_t count_consistent(const FeatureCloud& source, const FeatureCloud& target,
                               std::span<const FeatureMatch> matches, const core::Motion& motion, double tolerance) {
  return static_cast<std::uint64_t>(std::count_if(matches.begin(), matches.end(), [&](const FeatureMatch& match) {
    return squared_apart(motion, source.place(match.source), target.place(match.target)) <= tolerance * tolerance;
  }));
}

}  // namespace kith::apps::inline v0
