// See packed_points.hpp.
#include "cpu/brute_force/packed_points.hpp"

#include "core/metric/metrics.hpp"
#include "cpu/brute_force/scan.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::cpu {
namespace {

constexpr std::uint64_t kPanelsPerTask = 256;

bool filter_helps(Metric metric, bool is_periodic) { return why_no_filter(metric, is_periodic) == nullptr; }

}  // namespace

const char* why_no_filter(Metric metric, bool is_periodic) {
  if (core::kind_of_reduction(metric) != Metric::Kind::l2) return "the filter is for metrics that L2 searches";
  return is_periodic ? "the filter takes no periodic axes" : nullptr;
}

template <typename T>
PackedPoints<T>::PackedPoints(const T* rows, std::uint64_t count, std::uint32_t dims, Metric metric, bool is_periodic,
                              int threads)
    : count_(count), dims_(dims), width_(panel_width()), has_filter_(filter_helps(metric, is_periodic)) {
  panels_ = PointSet(dtype_of<T>, panels() * dims_, width_);
  if (has_filter_) {
    centred_ = PointSet(DType::f32, panels() * dims_, width_);
    terms_ = PointSet(DType::f32, panels() * width_, 1);
    find_centre(rows, threads);
  }
  const std::uint64_t tasks = (panels() + kPanelsPerTask - 1) / kPanelsPerTask;
  runtime::parallel_for(tasks, {.threads = threads}, [&](std::uint64_t task) {
    const std::uint64_t end = std::min(panels(), (task + 1) * kPanelsPerTask);
    for (std::uint64_t panel = task * kPanelsPerTask; panel < end; ++panel) {
      pack_panel(rows, panel);
      if (has_filter_) centre_panel(panel);
    }
  });
}

template <typename T>
std::uint64_t PackedPoints<T>::bytes_of(std::uint64_t count, std::uint32_t dims, Metric metric, bool is_periodic) {
  const std::uint64_t width = panel_width(), padded = (count + width - 1) / width * width;
  const std::uint64_t filter_bytes = filter_helps(metric, is_periodic) ? sizeof(float) * (std::uint64_t{dims} + 1) : 0;
  return padded * (sizeof(T) * dims + filter_bytes);
}

/// The mean of (a sample of) the points, and how far they are from it. Any values are right; good ones make the filter
/// sharp.
template <typename T>
void PackedPoints<T>::find_centre(const T* rows, int threads) {
  constexpr std::uint64_t kSample = 1 << 16;
  const std::uint64_t step = std::max<std::uint64_t>(1, count_ / kSample);
  const std::uint64_t taken = (count_ + step - 1) / step;
  centre_.assign(dims_, 0.0);
  std::vector<double> farthest(dims_, 0.0);
  const double share = 1.0 / static_cast<double>(std::max<std::uint64_t>(1, taken));
  constexpr std::uint32_t kDimsPerTask = 64;
  runtime::parallel_for((dims_ + kDimsPerTask - 1) / kDimsPerTask, {.threads = threads}, [&](std::uint64_t task) {
    const auto first = static_cast<std::uint32_t>(task * kDimsPerTask);
    const std::uint32_t end = std::min(dims_, first + kDimsPerTask);
    for (std::uint64_t i = 0; i < count_; i += step) {
      for (std::uint32_t d = first; d < end; ++d) centre_[d] += static_cast<double>(rows[i * dims_ + d]) * share;
    }
    for (std::uint32_t d = first; d < end; ++d) centre_[d] = std::isfinite(centre_[d]) ? centre_[d] : 0.0;
    for (std::uint64_t i = 0; i < count_; i += 16 * step) {  // a few will do
      for (std::uint32_t d = first; d < end; ++d) {
        const double away = std::abs(static_cast<double>(rows[i * dims_ + d]) - centre_[d]);
        farthest[d] = away > farthest[d] ? away : farthest[d];
      }
    }
  });
  units_ = filter_units<T>(dims_ == 0 ? 0.0 : *std::max_element(farthest.begin(), farthest.end()), dims_);
}

template <typename T>
void PackedPoints<T>::pack_panel(const T* rows, std::uint64_t panel) {
  T* out = panels_.template values<T>().data() + panel * dims_ * width_;
  const std::uint64_t first = panel * width_;
  const auto filled = static_cast<std::uint32_t>(std::min<std::uint64_t>(width_, count_ - first));
  for (std::uint32_t i = 0; i < filled; ++i) {
    const T* row = rows + (first + i) * dims_;
    for (std::uint32_t d = 0; d < dims_; ++d) out[d * width_ + i] = row[d];
  }
  for (std::uint32_t d = 0; d < dims_; ++d) std::fill(out + d * width_ + filled, out + (d + 1) * width_, T(0));
}

template <typename T>
void PackedPoints<T>::centre_panel(std::uint64_t panel) {
  const T* in = panels_.template values<T>().data() + panel * dims_ * width_;
  float* out = centred_.values<float>().data() + panel * dims_ * width_;
  float* terms = terms_.values<float>().data() + panel * width_;
  for (std::uint32_t d = 0; d < dims_; ++d) {
    for (std::uint32_t i = 0; i < width_; ++i) {
      out[d * width_ + i] = filter_value(in[d * width_ + i], centre_[d], units_.scale);
    }
  }
  double norms[kWidestPanel];
  filter_norms(out, dims_, width_, norms);
  for (std::uint32_t i = 0; i < width_; ++i) {
    const bool is_padding = panel * width_ + i >= count_;
    terms[i] = is_padding ? std::numeric_limits<float>::infinity() : point_term(norms[i], dims_);
    if (std::isfinite(terms[i])) continue;
    for (std::uint32_t d = 0; d < dims_; ++d) out[d * width_ + i] = 0;  // sums stay what they are
  }
}

template <typename T>
void PackedPoints<T>::unpack(std::uint64_t i, T* out, std::uint32_t stride) const {
  const T* in = panel_values() + i / width_ * dims_ * width_ + i % width_;
  for (std::uint32_t d = 0; d < dims_; ++d) out[std::size_t{d} * stride] = in[std::size_t{d} * width_];
}

template <typename T>
void PackedPoints<T>::unpack_all(T* rows, int threads) const {
  const std::uint64_t tasks = (panels() + kPanelsPerTask - 1) / kPanelsPerTask;
  runtime::parallel_for(tasks, {.threads = threads}, [&](std::uint64_t task) {
    const std::uint64_t end = std::min(count_, (task + 1) * kPanelsPerTask * width_);
    for (std::uint64_t i = task * kPanelsPerTask * width_; i < end; ++i) unpack(i, rows + i * dims_, 1);
  });
}

template <typename T>
PackedQueries<T>::PackedQueries(const PackedPoints<T>& points, std::uint32_t queries)
    : points_(points), dims_(points.dims()) {
  const std::size_t groups = (queries + kGroup - 1) / kGroup;
  values_.resize(groups * dims_ * kGroup);
  bounds_.resize(groups * kGroup);
  if (points.has_filter()) {
    centred_.resize(values_.size());
    terms_.resize(bounds_.size());
    filter_bounds_.resize(bounds_.size());
  }
}

template <typename T>
void PackedQueries<T>::start(std::uint32_t count) {
  count_ = count;
  groups_ = (count + kGroup - 1) / kGroup;
  for (std::uint32_t i = count; i < groups_ * kGroup; ++i) {
    bounds_[i] = -std::numeric_limits<T>::infinity();
    for (std::uint32_t d = 0; d < dims_; ++d) place_of(i)[d * kGroup] = T(0);
  }
}

template <typename T>
void PackedQueries<T>::finish() {
  if (!points_.has_filter()) return;
  const std::vector<double>& centre = points_.centre();
  for (std::uint32_t group = 0; group < groups_; ++group) {
    const T* values = values_.data() + std::size_t{group} * dims_ * kGroup;
    float* centred = centred_.data() + std::size_t{group} * dims_ * kGroup;
    double* terms = &terms_[std::size_t{group} * kGroup];
    for (std::uint32_t d = 0; d < dims_; ++d) {
      for (std::uint32_t q = 0; q < kGroup; ++q) {
        centred[d * kGroup + q] = filter_value(values[d * kGroup + q], centre[d], points_.units().scale);
      }
    }
    filter_norms(centred, dims_, kGroup, terms);
    for (std::uint32_t q = 0; q < kGroup; ++q) {
      terms[q] = query_term(terms[q], dims_);
      const bool is_safe = std::isfinite(terms[q]);  // else sums could overflow
      for (std::uint32_t d = 0; d < dims_; ++d) {
        centred[d * kGroup + q] = is_safe ? -2 * centred[d * kGroup + q] : 0;
      }
    }
  }
  refresh_filter_bounds();
}

template <typename T>
void PackedQueries<T>::refresh_filter_bounds() {
  for (std::uint32_t i = 0; i < groups_ * kGroup; ++i) {
    filter_bounds_[i] = filter_bound(bounds_[i], terms_[i], points_.units());
  }
}

template class PackedPoints<float>;
template class PackedPoints<double>;
template class PackedQueries<float>;
template class PackedQueries<double>;

}  // namespace kith::cpu
