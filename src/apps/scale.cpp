// Fits and applies scales. See scale.hpp. Sums run over blocks of rows whose size is fixed, and the blocks are added in
// their order, so that threads change nothing. Three passes over the data; memory: dims numbers per block.
#include <kith/apps/scale.hpp>

#include "apps/usable_rows.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

namespace kith::apps::inline v0 {
namespace {

constexpr std::uint64_t kBlockRows = 4096;

/// Least and greatest value of each column, and whether all of them are finite.
struct Bounds {
  std::vector<double> lower;
  std::vector<double> upper;
  bool is_finite = true;
};

/// Beyond these, sums of squares would overflow or vanish.
bool is_moderate(double size) { return size < 1e140 && size > 1e-140; }

/// A power of two that brings numbers of that size near 1; 1 if they are moderate, as nearly always.
double factor_for(double size) {
  if (size == 0 || is_moderate(size)) return 1;
  return std::ldexp(1.0, -std::clamp(std::ilogb(size), -1000, 1000));
}

template <typename T>
class Fitting {
 public:
  Fitting(PointView points, int threads)
      : points_(points), threads_(threads), blocks_((points.rows() + kBlockRows - 1) / kBlockRows) {}

  Bounds bounds() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<Bounds> parts(blocks_);
    for_each_block([&](std::uint64_t block) {
      Bounds& part = parts[block];
      part.lower.assign(points_.dims(), kInfinity);
      part.upper.assign(points_.dims(), -kInfinity);
      for_each_row(block, [&](const T* row) {
        for (std::uint32_t d = 0; d < points_.dims(); ++d) {
          const auto value = static_cast<double>(row[d]);
          part.is_finite &= std::isfinite(value);
          part.lower[d] = std::min(part.lower[d], value);
          part.upper[d] = std::max(part.upper[d], value);
        }
      });
    });
    Bounds all = std::move(parts.front());
    for (std::uint64_t block = 1; block < blocks_; ++block) {
      const Bounds& part = parts[block];
      all.is_finite &= part.is_finite;
      for (std::uint32_t d = 0; d < points_.dims(); ++d) {
        all.lower[d] = std::min(all.lower[d], part.lower[d]);
        all.upper[d] = std::max(all.upper[d], part.upper[d]);
      }
    }
    return all;
  }

  /// The sum of `term(value, d)` over each column.
  template <typename Term>
  std::vector<double> sums(Term&& term) const {
    std::vector<double> parts(blocks_ * points_.dims(), 0.0);
    for_each_block([&](std::uint64_t block) {
      double* part = &parts[block * points_.dims()];
      for_each_row(block, [&](const T* row) {
        for (std::uint32_t d = 0; d < points_.dims(); ++d) part[d] += term(static_cast<double>(row[d]), d);
      });
    });
    std::vector<double> sums(points_.dims(), 0.0);
    for (std::size_t i = 0; i < parts.size(); ++i) sums[i % points_.dims()] += parts[i];
    return sums;
  }

 private:
  template <typename Task>
  void for_each_block(Task&& task) const {
    runtime::parallel_for(blocks_, {.threads = threads_}, task);
  }
  template <typename Task>
  void for_each_row(std::uint64_t block, Task&& task) const {
    const std::uint64_t end = std::min(points_.rows(), (block + 1) * kBlockRows);
    for (std::uint64_t i = block * kBlockRows; i < end; ++i) task(points_.row<T>(i));
  }

  PointView points_;
  int threads_;
  std::uint64_t blocks_;
};

void require_span(const Bounds& bounds) {
  for (std::size_t d = 0; d < bounds.lower.size(); ++d) {
    if (std::isfinite(bounds.upper[d] - bounds.lower[d])) continue;
    throw BadData(
        fmt::format("points: column {} (counted from 0) goes from {} to {}, a range that is too wide to "
                    "be scaled; divide it by something first",
                    d, bounds.lower[d], bounds.upper[d]));
  }
}

template <typename T>
Scale fit(PointView points, Scaling scaling, int threads) {
  const std::uint32_t dims = points.dims();
  Scale scale{std::vector<double>(dims, 0.0), std::vector<double>(dims, 1.0)};
  if (points.empty()) return scale;
  const Fitting<T> fitting(points, threads);
  const Bounds bounds = fitting.bounds();
  if (!bounds.is_finite) usable_rows(points, {.threads = threads});  // throws and says which row
  if (scaling == Scaling::none) return scale;
  require_span(bounds);
  scale.shift = bounds.lower;
  if (scaling == Scaling::minmax) {
    for (std::uint32_t d = 0; d < dims; ++d) {
      if (bounds.lower[d] < bounds.upper[d]) scale.divisor[d] = bounds.upper[d] - bounds.lower[d];
    }
    return scale;
  }

  const auto rows = static_cast<double>(points.rows());
  std::vector<double> factor(dims);
  for (std::uint32_t d = 0; d < dims; ++d) {
    factor[d] = factor_for(std::max(std::abs(bounds.lower[d]), std::abs(bounds.upper[d])));
  }
  std::vector<double> mean = fitting.sums([&](double value, std::uint32_t d) { return value * factor[d]; });
  for (double& sum : mean) sum /= rows;
  const std::vector<double> squares = fitting.sums([&](double value, std::uint32_t d) {
    const double deviation = value * factor[d] - mean[d];
    return deviation * deviation;
  });
  for (std::uint32_t d = 0; d < dims; ++d) {
    if (bounds.lower[d] == bounds.upper[d]) continue;  // its mean may differ from it by rounding
    scale.shift[d] = mean[d] / factor[d];
    scale.divisor[d] = std::max(std::sqrt(squares[d] / rows) / factor[d], std::numeric_limits<double>::denorm_min());
  }
  return scale;
}

template <typename T>
PointSet scaled(PointView points, const Scale& scale, int threads) {
  PointSet result(points.dtype(), points.rows(), points.dims());
  T* const to = result.values<T>().data();
  const std::uint64_t blocks = (points.rows() + kBlockRows - 1) / kBlockRows;
  runtime::parallel_for(blocks, {.threads = threads}, [&](std::uint64_t block) {
    const std::uint64_t end = std::min(points.rows(), (block + 1) * kBlockRows);
    for (std::uint64_t i = block * kBlockRows; i < end; ++i) {
      const T* row = points.row<T>(i);
      for (std::uint32_t d = 0; d < points.dims(); ++d) {
        to[i * points.dims() + d] = static_cast<T>((static_cast<double>(row[d]) - scale.shift[d]) / scale.divisor[d]);
      }
    }
  });
  return result;
}

}  // namespace

std::string_view name_of(Scaling scaling) {
  switch (scaling) {
    case Scaling::standard:
      return "standard";
    case Scaling::minmax:
      return "minmax";
    case Scaling::none:
      break;
  }
  return "none";
}

Scaling parse_scaling(std::string_view text) {
  for (const Scaling scaling : {Scaling::none, Scaling::standard, Scaling::minmax}) {
    if (text == name_of(scaling)) return scaling;
  }
  throw UsageError(fmt::format("unknown scaling \"{}\"; choose none, standard or minmax", text));
}

PointSet Scale::apply(PointView points, int threads) const {
  require_host_points(points, "scale them");
  if (!points.empty() && (points.dims() != shift.size() || points.dims() != divisor.size())) {
    throw UsageError(fmt::format("points: {} dimensions, but the scale was fitted on {}", points.dims(), shift.size()));
  }
  return points.dtype() == DType::f32 ? scaled<float>(points, *this, threads) : scaled<double>(points, *this, threads);
}

Scale fit_scale(PointView points, Scaling scaling, int threads) {
  require_host_points(points, "scale them");
  try {
    return points.dtype() == DType::f32 ? fit<float>(points, scaling, threads) : fit<double>(points, scaling, threads);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(
        fmt::format("not enough memory: fitting a scale on {} points of {} dimensions", points.rows(), points.dims()));
  }
}

}  // namespace kith::apps::inline v0
