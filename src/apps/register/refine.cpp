// See refine.hpp: matches, then sums in a fixed order, then a step, until the rule ends it.
#include "apps/register/refine.hpp"

#include "apps/for_each_row.hpp"
#include "apps/ordered_total.hpp"
#include "apps/register/nearest_matches.hpp"
#include "apps/register/sum_by_two.hpp"
#include "core/cloud/match_terms.hpp"
#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <cmath>

namespace kith::apps::inline v0 {
namespace {

template <typename T, int Unknowns>
class Refiner {
 public:
  Refiner(const Stage<T>& stage, const core::Frame& frame, const core::StepRule& rule, const PairChoice& choice,
          const MatchHints& hints, int threads)
      : stage_(stage),
        frame_(frame),
        rule_(rule),
        choice_(choice),
        threads_(threads),
        dims_(stage.dims()),
        source_(stage.source.template values<T>()),
        target_(stage.target->template values<T>()),
        matches_(source_, target_, *stage.target_index, frame, threads,
                 stage.target_surface ? &stage.target_surface->neighbors : nullptr, hints),
        squared_(stage.source.rows()) {}

  Refined run(const core::StageState& start, const ProgressCallback& progress) {
    runtime::ProgressMeter meter(&progress, "registering", rule_.max_iterations);
    Refined result;
    result.state = start;
    while (result.state.end == core::StageEnd::none) {
      choose_pairs(result.state);
      const Sums sums = add_up(result.state.motion, rule_.pair);
      result.records.emplace_back();
      core::advance<Unknowns>(rule_, sums.data(), result.state, result.records.back(), squared_in_reach_);
      meter.report(result.state.iteration);
      runtime::look_for_stop();
    }
    if (choice_.leads_on) {
      result.matches = std::move(matches_).take();
      meter.finish();
      return result;
    }
    const bool has_moved =
        result.state.end == core::StageEnd::converged || result.state.end == core::StageEnd::iterations;
    if (has_moved) choose_pairs(result.state);
    const Sums sums = add_up(result.state.motion, rule_.pair);
    result.sums.assign(sums.begin(), sums.end());
    if (rule_.pair.error == core::PairError::gicp) {
      core::PairRule along_normals = rule_.pair;
      along_normals.error = core::PairError::plane;
      const Sums surfaces = add_up(result.state.motion, along_normals);
      result.surfaces.assign(surfaces.begin(), surfaces.end());
    }
    if (choice_.want_pairs) {
      for (std::uint64_t i = 0; i < squared_.size(); ++i) {
        if (is_pair(i)) result.pairs.push_back({static_cast<std::uint32_t>(i), matches_.match(i)});
      }
    }
    meter.finish();
    return result;
  }

 private:
  using Sums = core::Terms<core::TermPlaces<Unknowns>::kCount>;

  /// Pairs have a squared distance, others infinity.
  bool is_pair(std::uint64_t point) const { return std::isfinite(squared_[point]); }

  void choose_pairs(const core::StageState& state) {
    matches_.update(state.motion, state.max_distance);
    const double most = state.max_distance * state.max_distance;
    for_each_row(squared_.size(), {.threads = threads_}, [&](std::uint64_t i) {
      squared_[i] = std::numeric_limits<double>::infinity();
      const std::uint32_t match = matches_.match(i);
      if (match == kNoMatch) return;
      const double squared = squared_distance(i, match);
      if (squared <= most) squared_[i] = squared;
    });
    if (choice_.reciprocal) drop_one_sided(state.motion);
    if (choice_.keep < 1) {
      squared_in_reach_ = mean_squared();
      drop_farthest();
    }
  }

  /// From the moved point as it was searched, so that every engine measures the same.
  double squared_distance(std::uint64_t point, std::uint32_t match) const {
    const std::uint32_t dims = dims_;
    const T* moved = matches_.moved(point);
    double squared = 0;
    for (std::uint32_t d = 0; d < dims; ++d) {
      const double step = static_cast<double>(moved[d]) - static_cast<double>(target_[std::uint64_t{match} * dims + d]);
      squared += step * step;
    }
    return squared;
  }

  /// Moves matches back and looks for the nearest point of the source; pairs whose point is another one are dropped.
  void drop_one_sided(const core::Motion& motion) {
    const std::uint32_t dims = stage_.dims();
    std::vector<std::uint32_t> points;
    for (std::uint64_t i = 0; i < squared_.size(); ++i) {
      if (is_pair(i)) points.push_back(static_cast<std::uint32_t>(i));
    }
    if (points.empty()) return;
    std::vector<T> queries(points.size() * dims);
    for (std::uint64_t q = 0; q < points.size(); ++q) {
      double y[3], x[3];
      load_row(target_, dims, matches_.match(points[q]), frame_.target, y);
      for (int d = 0; d < 3; ++d) y[d] = (y[d] - motion.shift[d]) / motion.scale;
      for (int d = 0; d < 3; ++d) {
        x[d] = motion.rotation[d] * y[0] + motion.rotation[3 + d] * y[1] + motion.rotation[6 + d] * y[2];
      }
      for (std::uint32_t d = 0; d < dims; ++d) queries[q * dims + d] = static_cast<T>(x[d] + frame_.source[d]);
    }
    SearchOptions options;
    options.skip_nonfinite = true;
    options.threads = threads_;
    const Neighbors nearest = stage_.source_index->knn(PointView(queries.data(), points.size(), dims), 1, options);
    for (std::uint64_t q = 0; q < points.size(); ++q) {
      if (nearest.index(q, 0) != points[q]) squared_[points[q]] = std::numeric_limits<double>::infinity();
    }
  }

  /// Of all pairs; 0 without any.
  double mean_squared() const {
    const auto sums =
        ordered_total<2>(squared_.size(), {.threads = threads_}, [&](std::uint64_t i, core::Terms<2>& terms) {
          if (is_pair(i)) terms = {squared_[i], 1};
        });
    return sums[1] > 0 ? sums[0] / sums[1] : 0;
  }

  /// Keeps the share of nearest pairs, and those that are as far as the last of them.
  void drop_farthest() {
    std::vector<double> pairs;
    std::copy_if(squared_.begin(), squared_.end(), std::back_inserter(pairs),
                 [](double x) { return std::isfinite(x); });
    if (pairs.empty()) return;
    const auto kept = static_cast<std::uint64_t>(std::ceil(choice_.keep * static_cast<double>(pairs.size())));
    const auto last = pairs.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::uint64_t>(kept, 1, pairs.size()) - 1);
    std::nth_element(pairs.begin(), last, pairs.end());
    const double most = *last;
    for_each_row(squared_.size(), {.threads = threads_}, [&](std::uint64_t i) {
      if (squared_[i] > most) squared_[i] = std::numeric_limits<double>::infinity();
    });
  }

  Sums add_up(const core::Motion& motion, const core::PairRule& pair) const {
    constexpr int kTerms = core::TermPlaces<Unknowns>::kCount;
    return ordered_total_of_blocks<kTerms>(
        squared_.size(), {.threads = threads_}, [&](std::uint64_t first, std::uint64_t last) {
          return sum_of_block_by_two<kTerms>(first, last, [&](std::uint64_t i, Two* terms) {
            const bool has_second = i + 1 < last && is_pair(i + 1);
            if (!is_pair(i) && !has_second) return 0u;
            // Where one of the two is no pair, the other stands for it.
            const std::uint64_t one = is_pair(i) ? i : i + 1, two = has_second ? i + 1 : i;
            set_terms(motion, pair, one, two, terms);
            return (is_pair(i) ? 1u : 0u) | (has_second ? 2u : 0u);
          });
        });
  }

  /// Those of two pairs.
  void set_terms(const core::Motion& motion, const core::PairRule& pair, std::uint64_t one, std::uint64_t two,
                 Two* terms) const {
    constexpr double kNowhere[3] = {};
    const std::uint64_t match_of_one = matches_.match(one), match_of_two = matches_.match(two);
    Two x[3], moved[3], to[3], normal[3], source_normal[3] = {}, target_normal[3] = {};
    load_two(source_, one, two, frame_.source, x);
    core::move_point(motion, x, moved);
    load_two(target_, match_of_one, match_of_two, frame_.target, to);
    if (pair.error == core::PairError::gicp) {
      load_two(stage_.source_normals.template values<T>(), one, two, kNowhere, normal);
      core::rotate(motion.rotation, normal, source_normal);
    }
    if (pair.error != core::PairError::point) {
      load_two(stage_.target_surface->normals.template values<T>(), match_of_one, match_of_two, kNowhere,
               target_normal);
    }
    core::pair_terms<Unknowns>(pair, moved, to, source_normal, target_normal, terms);
  }

  void load_two(std::span<const T> rows, std::uint64_t one, std::uint64_t two, const double* centre, Two* to) const {
    const std::uint32_t dims = dims_;
    const T* first = rows.data() + one * dims;
    const T* second = rows.data() + two * dims;
    for (int d = 0; d < 2; ++d) to[d] = Two{static_cast<double>(first[d]), static_cast<double>(second[d])} - centre[d];
    to[2] = Two{};
    if (dims == 3) to[2] = Two{static_cast<double>(first[2]), static_cast<double>(second[2])} - centre[2];
  }

  const Stage<T>& stage_;
  core::Frame frame_;
  core::StepRule rule_;
  PairChoice choice_;
  int threads_;
  std::uint32_t dims_;
  std::span<const T> source_;
  std::span<const T> target_;
  NearestMatches<T> matches_;
  std::vector<double> squared_;   ///< of pairs; infinity for other points
  double squared_in_reach_ = -1;  ///< mean of all pairs where only the nearest count; else -1
};

}  // namespace

template <typename T>
Refined refine(const Stage<T>& stage, const core::Frame& frame, const core::StepRule& rule, const PairChoice& choice,
               int unknowns, const core::StageState& start, const MatchHints& hints, int threads,
               const ProgressCallback& progress) {
  if (unknowns == 7) return Refiner<T, 7>(stage, frame, rule, choice, hints, threads).run(start, progress);
  return Refiner<T, 6>(stage, frame, rule, choice, hints, threads).run(start, progress);
}

template Refined refine<float>(const Stage<float>&, const core::Frame&, const core::StepRule&, const PairChoice&, int,
                               const core::StageState&, const MatchHints&, int, const ProgressCallback&);
template Refined refine<double>(const Stage<double>&, const core::Frame&, const core::StepRule&, const PairChoice&, int,
                                const core::StageState&, const MatchHints&, int, const ProgressCallback&);

}  // namespace kith::apps::inline v0
