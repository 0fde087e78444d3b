// See nearest_matches.hpp.
#include "apps/register/nearest_matches.hpp"

#include "apps/for_each_row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::apps::inline v0 {
namespace {

/// Searches look this much farther than pairs reach, so that points without a match need not be searched again at once.
constexpr double kFarther = 1.25;

}  // namespace

template <typename T>
NearestMatches<T>::NearestMatches(std::span<const T> source, std::span<const T> target, const Index& index,
                                  core::Frame frame, int threads)
    : source_(source),
      target_(target),
      index_(index),
      dims_(index.dims()),
      frame_(frame),
      threads_(threads),
      moved_(source.size()),
      place_(source.size()),
      known_(source.size() / index.dims()),
      matches_(known_.size(), kNoMatch),
      is_open_(known_.size()) {}

template <typename T>
bool NearestMatches<T>::find_among_few(std::uint64_t point, double reach) {
  // Distances are rounded, also those that the index compares: a few units in the last place either way.
  constexpr double kSlack = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
  // Below and above these, squares of distances are not normal numbers, and different ones may compare equal.
  const double tiny = std::sqrt(static_cast<double>(std::numeric_limits<T>::min()));
  const double huge = std::sqrt(static_cast<double>(std::numeric_limits<T>::max())) / 2;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Known& known = known_[point];
  if (known.others < 0) return false;  // never searched for
  const T* moved = moved_.data() + point * dims_;
  const auto squared_to = [&](const T* place) {
    double squared = 0;
    for (std::uint32_t d = 0; d < dims_; ++d) {
      const double step = static_cast<double>(moved[d]) - static_cast<double>(place[d]);
      squared += step * step;
    }
    return squared;
  };
  const double walked = std::sqrt(squared_to(place_.data() + point * dims_));
  const double others = static_cast<double>(known.others) * (1 - kSlack) - walked * (1 + kSlack);
  double nearest = kInfinity, second = kInfinity;
  std::uint32_t match = kNoMatch;
  for (const std::uint32_t candidate : known.few) {
    if (candidate == kNoMatch) break;
    const double squared = squared_to(target_.data() + std::uint64_t{candidate} * dims_);
    if (squared < nearest) {
      second = nearest;
      nearest = squared;
      match = candidate;
    } else {
      second = std::min(second, squared);
    }
  }
  if (match == kNoMatch) {
    matches_[point] = kNoMatch;
    return others > reach;
  }
  const double distance = std::sqrt(nearest) * (1 + kSlack);
  matches_[point] = match;
  return distance > tiny && distance < huge && distance < others && distance < std::sqrt(second) * (1 - kSlack);
}

template <typename T>
void NearestMatches<T>::update(const core::Motion& motion, double reach) {
  const std::uint64_t points = known_.size();
  for_each_row(points, {.threads = threads_}, [&](std::uint64_t i) {
    double x[3], y[3];
    load_row(source_, dims_, i, frame_.source, x);
    core::move_point(motion, x, y);
    for (std::uint32_t d = 0; d < dims_; ++d) moved_[i * dims_ + d] = static_cast<T>(y[d] + frame_.target[d]);
    is_open_[i] = find_among_few(i, reach) ? 0 : 1;
  });
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
    matches_[point] = known.few[0];
    std::copy_n(queries_.data() + q * dims_, dims_, place_.data() + point * dims_);
  });
}

template class NearestMatches<float>;
template class NearestMatches<double>;

}  // namespace kith::apps::inline v0
