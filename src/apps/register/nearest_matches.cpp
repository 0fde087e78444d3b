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
NearestMatches<T>::NearestMatches(std::span<const T> source, const Index& target, core::Frame frame, int threads)
    : source_(source),
      target_(target),
      dims_(target.dims()),
      frame_(frame),
      threads_(threads),
      moved_(source.size()),
      place_(source.size()),
      state_(source.size() / target.dims()),
      is_open_(state_.size()) {}

template <typename T>
bool NearestMatches<T>::is_still_nearest(std::uint64_t point, double reach) const {
  // Distances are rounded, also those that the index compares: a few units in the last place either way.
  constexpr double kSlack = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
  // Below this, squares of distances are not normal numbers, and different ones may compare equal.
  const double tiny = std::sqrt(static_cast<double>(std::numeric_limits<T>::min()));
  const Known& known = state_[point];
  if (known.second < 0) return false;
  double squared = 0;
  for (std::uint32_t d = 0; d < dims_; ++d) {
    const double step =
        static_cast<double>(moved_[point * dims_ + d]) - static_cast<double>(place_[point * dims_ + d]);
    squared += step * step;
  }
  const double walked = std::sqrt(squared);
  const double first = static_cast<double>(known.first);
  if (known.nearest == kNoMatch) return first - walked > reach * (1 + kSlack);
  const double others = (static_cast<double>(known.second) - walked) * (1 - kSlack);
  return others > tiny && (first + walked) * (1 + kSlack) < others;
}

template <typename T>
void NearestMatches<T>::update(const core::Motion& motion, double reach) {
  const std::uint64_t points = state_.size();
  for_each_row(points, {.threads = threads_}, [&](std::uint64_t i) {
    double x[3], y[3];
    load_row(source_, dims_, i, frame_.source, x);
    core::move_point(motion, x, y);
    for (std::uint32_t d = 0; d < dims_; ++d) moved_[i * dims_ + d] = static_cast<T>(y[d] + frame_.target[d]);
    is_open_[i] = is_still_nearest(i, reach) ? 0 : 1;
  });
  open_.clear();
  for (std::uint64_t i = 0; i < points; ++i) {
    if (is_open_[i] != 0) open_.push_back(static_cast<std::uint32_t>(i));
  }
  if (!open_.empty()) search(reach);
}

template <typename T>
void NearestMatches<T>::search(double reach) {
  constexpr std::uint32_t kTwo = 2;
  const double farthest = reach * kFarther;
  queries_.resize(open_.size() * dims_);
  found_.resize(open_.size() * kTwo);
  distances_.resize(open_.size() * kTwo);
  for (std::uint64_t q = 0; q < open_.size(); ++q) {
    for (std::uint32_t d = 0; d < dims_; ++d) queries_[q * dims_ + d] = moved_[std::uint64_t{open_[q]} * dims_ + d];
  }
  SearchOptions options;
  options.max_distance = farthest;
  options.skip_nonfinite = true;  // a point that a step threw out of the range of the type
  options.threads = threads_;
  target_.knn(PointView(queries_.data(), open_.size(), dims_), kTwo, std::span(found_), std::span(distances_), options);
  const auto missing = static_cast<std::uint32_t>(target_.size());
  // What was not found is farther than the search looked, by how it rounds at most.
  const T beyond = static_cast<T>(std::min(farthest * (1 - 1e-5), static_cast<double>(std::numeric_limits<T>::max())));
  for (std::uint64_t q = 0; q < open_.size(); ++q) {
    const std::uint64_t point = open_[q];
    Known& known = state_[point];
    const bool has_first = found_[q * kTwo] != missing;
    const bool has_second = found_[q * kTwo + 1] != missing;
    known.nearest = has_first ? found_[q * kTwo] : kNoMatch;
    known.first = has_first ? distances_[q * kTwo] : beyond;
    known.second = has_second ? distances_[q * kTwo + 1] : beyond;
    std::copy_n(queries_.data() + q * dims_, dims_, place_.data() + point * dims_);
  }
}

template class NearestMatches<float>;
template class NearestMatches<double>;

}  // namespace kith::apps::inline v0
