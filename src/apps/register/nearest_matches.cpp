// See nearest_matches.hpp.
#include "apps/register/nearest_matches.hpp"

#include "apps/for_each_row.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::apps::inline v0 {
namespace {

/// Searches look this much farther than pairs reach, so that points without a match need not be searched again at once.
constexpr double kFarther = 1.25;
/// Distances are rounded, also those that the index compares: a few units in the last place either way.
template <typename T>
constexpr double kSlack = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());

/// The ten bits of a number, each in front of two zeros.
std::uint64_t spread_bits(std::uint32_t bits) {
  std::uint64_t spread = 0;
  for (std::uint32_t i = 0; i < 10; ++i) spread |= std::uint64_t{bits >> i & 1} << 3 * i;
  return spread;
}

}  // namespace

template <typename T>
NearestMatches<T>::NearestMatches(std::span<const T> source, std::span<const T> target, const Index& index,
                                  core::Frame frame, int threads, const KeptNeighbors* neighbors, MatchHints hints)
    : source_(source),
      target_(target),
      index_(index),
      dims_(index.dims()),
      frame_(frame),
      threads_(threads),
      neighbors_(neighbors != nullptr && neighbors->count > 0 ? neighbors : nullptr),
      hints_(std::move(hints)),
      moved_(source.size()),
      place_(source.size()),
      gaps_(source.size() / index.dims()),
      known_(source.size() / index.dims()),
      matches_(known_.size(), kNoMatch),
      is_open_(known_.size()) {}

template <typename T>
double NearestMatches<T>::squared_to(std::uint64_t point, const T* place) const {
  const T* moved = moved_.data() + point * dims_;
  double squared = 0;
  for (std::uint32_t d = 0; d < dims_; ++d) {
    const double step = static_cast<double>(moved[d]) - static_cast<double>(place[d]);
    squared += step * step;
  }
  return squared;
}

/// Whether the index, too, would take the nearest of some points: one at a distance of at most `nearest` where all
/// others are at least `second` away.
template <typename T>
bool NearestMatches<T>::is_unique(double nearest, double second) const {
  // Below and above these, squares of distances are not normal numbers, and different ones may compare equal.
  static const double tiny = 2 * std::sqrt(static_cast<double>(std::numeric_limits<T>::min()));
  static const double huge = std::sqrt(static_cast<double>(std::numeric_limits<T>::max())) / 2;
  return second * (1 - kSlack<T>) > nearest * (1 + kSlack<T>)&&second > tiny && nearest < huge;
}

template <typename T>
double NearestMatches<T>::walked(std::uint64_t point) const {
  return std::sqrt(squared_to(point, place_.data() + point * dims_)) * (1 + kSlack<T>);
}

/// That the match is the nearest, and how far the others are at least.
template <typename T>
void NearestMatches<T>::take_match(std::uint64_t point, std::uint32_t match, double nearest, double second) {
  matches_[point] = match;
  gaps_[point] = {static_cast<T>(nearest * (1 + kSlack<T>)), static_cast<T>(second * (1 - kSlack<T>))};
  std::copy_n(moved_.data() + point * dims_, dims_, place_.data() + point * dims_);
}

template <typename T>
bool NearestMatches<T>::keeps_match(std::uint64_t point) const {
  const Gap& gap = gaps_[point];
  const double step = walked(point);
  return is_unique(static_cast<double>(gap.nearest) + step, static_cast<double>(gap.second) - step);
}

template <typename T>
bool NearestMatches<T>::find_among_few(std::uint64_t point, double reach) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Known& known = known_[point];
  if (known.others < 0) return false;  // never searched for
  const double others = static_cast<double>(known.others) * (1 - kSlack<T>)-walked(point);
  double nearest = kInfinity, second = kInfinity;
  std::uint32_t match = kNoMatch;
  for (const std::uint32_t candidate : known.few) {
    if (candidate == kNoMatch) break;
    const double squared = squared_to(point, target_.data() + std::uint64_t{candidate} * dims_);
    if (squared < nearest) {
      second = nearest;
      nearest = squared;
      match = candidate;
    } else {
      second = std::min(second, squared);
    }
  }
  if (match == kNoMatch) return others > reach;
  nearest = std::sqrt(nearest);
  second = std::min(std::sqrt(second), others);
  matches_[point] = match;
  if (!is_unique(nearest, second)) return false;
  known.others = static_cast<T>(others);
  take_match(point, match, nearest, second);
  return true;
}

template <typename T>
bool NearestMatches<T>::find_among_neighbors(std::uint64_t point, std::uint32_t start) {
  constexpr int kMostLists = 6;
  constexpr double kFarAway = 4;  // times as far as a list reaches: the index finds such points sooner
  const std::uint32_t count = neighbors_->count;
  std::uint32_t at = start;
  double squared_at = squared_to(point, target_.data() + std::uint64_t{at} * dims_);
  for (int lists = 0; lists < kMostLists; ++lists) {
    const std::uint32_t* indices = neighbors_->indices.data() + std::uint64_t{at} * count;
    const float* distances = neighbors_->distances.data() + std::uint64_t{at} * count;
    const double away = std::sqrt(squared_at);
    if (!(away < kFarAway * static_cast<double>(distances[count - 1]))) return false;
    double nearest = squared_at, second = std::numeric_limits<double>::infinity();
    double enough = 2 * away * (1 + kSlack<T>);  // that far from `at` no point is nearer than the nearest so far
    std::uint32_t match = at, j = 0;
    for (; j < count && static_cast<double>(distances[j]) <= enough; ++j) {
      if (indices[j] == at) continue;
      if (indices[j] >= index_.size()) return false;  // distances that overflow
      const double squared = squared_to(point, target_.data() + std::uint64_t{indices[j]} * dims_);
      if (squared < nearest) {
        second = nearest;
        nearest = squared;
        match = indices[j];
        enough = (away + std::sqrt(nearest)) * (1 + kSlack<T>);
      } else {
        second = std::min(second, squared);
      }
    }
    if (j < count) {
      nearest = std::sqrt(nearest);
      second = std::min(std::sqrt(second), static_cast<double>(distances[j]) - away * (1 + kSlack<T>));
      if (!is_unique(nearest, second)) return false;
      take_match(point, match, nearest, second);
      known_[point].others = -1;  // later matches are looked for from this one on
      return true;
    }
    if (match == at) return false;
    at = match;
    squared_at = nearest;
  }
  return false;
}

template <typename T>
bool NearestMatches<T>::find_without_search(std::uint64_t point, double reach) {
  if (keeps_match(point) || find_among_few(point, reach)) return true;
  return neighbors_ != nullptr && matches_[point] != kNoMatch && find_among_neighbors(point, matches_[point]);
}

/// The points so that those next to each other in the order mostly lie close together: along a curve through cells.
template <typename T>
std::vector<std::uint32_t> NearestMatches<T>::nearby_order() const {
  constexpr double kCells = 1024;
  double lower[3] = {}, side = 0;
  for (std::uint32_t d = 0; d < dims_; ++d) {
    T least = moved_[d], most = moved_[d];
    for (std::uint64_t i = d; i < moved_.size(); i += dims_) {
      least = std::min(least, moved_[i]);
      most = std::max(most, moved_[i]);
    }
    lower[d] = static_cast<double>(least);
    side = std::max(side, static_cast<double>(most) - lower[d]);
  }
  const double scale = kCells / side;
  std::vector<std::uint64_t> keys(known_.size());  // the cell's place on the curve above the point's number
  for_each_row(keys.size(), {.threads = threads_}, [&](std::uint64_t i) {
    std::uint64_t place = 0;
    for (std::uint32_t d = 0; d < dims_; ++d) {
      const double cell = (static_cast<double>(moved_[i * dims_ + d]) - lower[d]) * scale;
      place |= spread_bits(cell > 0 ? static_cast<std::uint32_t>(std::min(cell, kCells - 1)) : 0) << d;
    }
    keys[i] = place << 32 | i;
  });
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> order(keys.size());
  std::transform(keys.begin(), keys.end(), order.begin(),
                 [](std::uint64_t key) { return static_cast<std::uint32_t>(key); });
  return order;
}

/// From points with a hint to those next to them, and on from there, forwards and then backwards.
template <typename T>
void NearestMatches<T>::follow_hints() {
  constexpr std::uint64_t kPointsPerTask = 512;
  const std::vector<std::uint32_t> order = nearby_order();
  runtime::parallel_for(
      (order.size() + kPointsPerTask - 1) / kPointsPerTask, {.threads = threads_}, [&](std::uint64_t task) {
        const std::uint64_t first = task * kPointsPerTask,
                            end = std::min<std::uint64_t>(order.size(), first + kPointsPerTask);
        std::uint32_t before = kNoMatch;
        const auto find = [&](std::uint32_t point) {
          if (is_open_[point] != 0) {
            const bool has_hint = point % hints_.step == 0 && point / hints_.step < hints_.matches.size();
            const std::uint32_t hint = has_hint ? hints_.matches[point / hints_.step] : kNoMatch;
            const std::uint32_t start = hint == kNoMatch ? before : hint;
            if (start != kNoMatch && find_among_neighbors(point, start)) is_open_[point] = 0;
          }
          if (is_open_[point] == 0) before = matches_[point];
        };
        for (std::uint64_t i = first; i < end; ++i) {
          is_open_[order[i]] = 1;
          find(order[i]);
        }
        for (std::uint64_t i = end; i-- > first;) find(order[i]);
      });
  hints_ = {};
}

template <typename T>
void NearestMatches<T>::update(const core::Motion& motion, double reach) {
  const std::uint64_t points = known_.size();
  for_each_row(points, {.threads = threads_}, [&](std::uint64_t i) {
    double x[3], y[3];
    load_row(source_, dims_, i, frame_.source, x);
    core::move_point(motion, x, y);
    for (std::uint32_t d = 0; d < dims_; ++d) moved_[i * dims_ + d] = static_cast<T>(y[d] + frame_.target[d]);
  });
  if (neighbors_ != nullptr && !hints_.matches.empty()) {
    follow_hints();
  } else {
    for_each_row(points, {.threads = threads_},
                 [&](std::uint64_t i) { is_open_[i] = find_without_search(i, reach) ? 0 : 1; });
  }
  open_.clear();
  for (std::uint64_t i = 0; i < points; ++i) {
    if (is_open_[i] != 0) open_.push_back(static_cast<std::uint32_t>(i));
  }
  if (!open_.empty()) search(reach);
}

template <typename T>
void NearestMatches<T>::search(double reach) {
  const double farthest = reach * kFarther;
  queries_.resize(open_.size() * dims_);
  found_.resize(open_.size() * kFew);
  distances_.resize(open_.size() * kFew);
  for (std::uint64_t q = 0; q < open_.size(); ++q) {
    std::copy_n(moved_.data() + std::uint64_t{open_[q]} * dims_, dims_, queries_.data() + q * dims_);
  }
  SearchOptions options;
  options.max_distance = std::min(farthest, std::numeric_limits<double>::max());
  options.skip_nonfinite = true;  // a point that a step threw out of the range of the type
  options.threads = threads_;
  index_.knn(PointView(queries_.data(), open_.size(), dims_), kFew, std::span(found_), std::span(distances_), options);
  const auto missing = static_cast<std::uint32_t>(index_.size());
  // What was not found is farther than the search looked, but for how that rounds; squares that overflow are found
  // nowhere.
  const double most = std::sqrt(static_cast<double>(std::numeric_limits<T>::max()));
  const T beyond = static_cast<T>(std::min(farthest, most) * (1 - 1e-5));
  for_each_row(open_.size(), {.threads = threads_}, [&](std::uint64_t q) {
    const std::uint64_t point = open_[q];
    Known& known = known_[point];
    known.others = distances_[q * kFew + kFew - 1];
    for (std::uint32_t j = 0; j < kFew; ++j) {
      const std::uint32_t found = found_[q * kFew + j];
      known.few[j] = found == missing ? kNoMatch : found;
      if (found == missing) known.others = beyond;
    }
    known.others = std::min(known.others, static_cast<T>(most * (1 - 1e-5)));
    const bool has_second = known.few[1] != kNoMatch;
    take_match(point, known.few[0], static_cast<double>(distances_[q * kFew]),
               static_cast<double>(has_second ? distances_[q * kFew + 1] : known.others));
  });
}

template class NearestMatches<float>;
template class NearestMatches<double>;

}  // namespace kith::apps::inline v0
