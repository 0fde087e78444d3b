// See metric_params.hpp. All in double and in a fixed order, so that an index has the same bytes on every machine.
#include "core/metric/metric_params.hpp"

#include "core/metric/metrics.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kith::core {
namespace {

RowForm form_of(Metric metric, bool has_params) {
  const RowForm form = visit_metric(metric, [](auto each) { return decltype(each)::kRows; });
  return form == RowForm::plain && has_params ? RowForm::scaled : form;
}

/// The upper triangular U with U^T U = `matrix`, dims x dims. False if there is none: the matrix must be positive
/// definite.
bool take_root(std::vector<double>& matrix, std::uint32_t dims) {
  for (std::uint32_t k = 0; k < dims; ++k) {
    double* row = &matrix[std::size_t{k} * dims];
    if (!(row[k] > 0 && std::isfinite(row[k]))) return false;
    row[k] = std::sqrt(row[k]);
    for (std::uint32_t j = k + 1; j < dims; ++j) row[j] /= row[k];
    for (std::uint32_t i = k + 1; i < dims; ++i) {
      double* below = &matrix[std::size_t{i} * dims];
      for (std::uint32_t j = i; j < dims; ++j) below[j] = std::fma(-row[i], row[j], below[j]);
    }
    std::fill(row, row + k, 0.0);
  }
  return true;
}

/// The inverse of U^T U, from U.
std::vector<double> inverse_of_square(const std::vector<double>& root, std::uint32_t dims) {
  std::vector<double> inverse(root.size(), 0.0), result(root.size(), 0.0);  // of U, upper triangular like it
  for (std::uint32_t j = 0; j < dims; ++j) {
    for (std::uint32_t i = j + 1; i-- > 0;) {
      double sum = i == j ? 1 : 0;
      for (std::uint32_t k = i + 1; k <= j; ++k) {
        sum = std::fma(-root[std::size_t{i} * dims + k], inverse[std::size_t{k} * dims + j], sum);
      }
      inverse[std::size_t{i} * dims + j] = sum / root[std::size_t{i} * dims + i];
    }
  }
  for (std::uint32_t i = 0; i < dims; ++i) {
    for (std::uint32_t j = i; j < dims; ++j) {
      double sum = 0;
      for (std::uint32_t k = j; k < dims; ++k) {
        sum = std::fma(inverse[std::size_t{i} * dims + k], inverse[std::size_t{j} * dims + k], sum);
      }
      result[std::size_t{i} * dims + j] = result[std::size_t{j} * dims + i] = sum;
    }
  }
  return result;
}

void require_params(Metric metric, const std::vector<double>& params, std::uint32_t dims, bool is_matrix) {
  const std::string who = fmt::format("metric_params of {}", metric.name());
  if (metric.info().params.empty()) throw UsageError(fmt::format("{}: this metric has none", who));
  if (params.size() != (is_matrix ? std::size_t{dims} * dims : dims)) {
    throw UsageError(fmt::format("{}: {} for {} {}; give {}", who, params.size(), dims,
                                 dims == 1 ? "dimension" : "dimensions",
                                 is_matrix ? "a matrix with a row and a column for each" : "one number for each"));
  }
  const bool may_be_zero = metric.info().params == "weights";
  for (const double value : params) {
    if (std::isfinite(value) && (is_matrix || value > 0 || (may_be_zero && value == 0))) continue;
    throw UsageError(fmt::format("{}: {} is not {}", who, value,
                                 is_matrix     ? "finite"
                                 : may_be_zero ? "a finite weight of at least 0"
                                               : "a finite variance above 0"));
  }
}

/// visit(row - origin) for each row where that is finite.
template <typename Visit>
void for_each_offset(PointView points, const std::vector<double>& origin, const Visit& visit) {
  std::vector<double> row(points.dims());
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    for (std::uint32_t d = 0; d < points.dims(); ++d) row[d] = points.at(i, d) - origin[d];
    if (all_finite(row.data(), points.dims())) visit(row);
  }
}

/// The variances of the columns, or with `is_matrix` all covariances, in the upper triangle.
std::vector<double> covariances_of(PointView points, bool is_matrix) {
  const std::uint32_t dims = points.dims();
  std::vector<double> means(dims, 0.0), sums(is_matrix ? std::size_t{dims} * dims : dims, 0.0);
  std::uint64_t count = 0;
  for_each_offset(points, std::vector<double>(dims, 0.0), [&](const std::vector<double>& row) {
    ++count;
    for (std::uint32_t d = 0; d < dims; ++d) means[d] += row[d];
  });
  if (count < 2) throw UsageError("metric_params: fewer than two points have no variance; give the parameters");
  for (double& mean : means) mean /= static_cast<double>(count);
  for_each_offset(points, means, [&](const std::vector<double>& row) {
    for (std::uint32_t d = 0; d < dims; ++d) {
      for (std::uint32_t e = d; e < (is_matrix ? dims : d + 1); ++e) {
        double& sum = sums[is_matrix ? std::size_t{d} * dims + e : d];
        sum = std::fma(row[d], row[e], sum);
      }
    }
  });
  for (double& sum : sums) sum /= static_cast<double>(count - 1);
  return sums;
}

}  // namespace

bool has_plain_rows(Metric metric) { return form_of(metric, false) == RowForm::plain; }

RowPreparation::RowPreparation(Metric metric, std::vector<double> params, std::uint32_t dims)
    : params_(std::move(params)) {
  if (metric.info().dims != 0 && dims != 0 && dims != metric.info().dims) {
    throw UsageError(fmt::format("metric {}: rows of {} are needed, latitude and longitude, not of {}", metric.name(),
                                 metric.info().dims, dims));
  }
  const bool is_sphere = form_of(metric, false) == RowForm::sphere;
  map_ = {.form = form_of(metric, !params_.empty()),
          .is_degrees = is_sphere && Haversine::is_degrees(metric.p()),
          .dims = dims};
  if (params_.empty() && map_.size() == 0) return;
  const bool is_matrix = map_.form == RowForm::linear;
  require_params(metric, params_, dims, is_matrix);
  values_ = params_;
  if (is_matrix) {
    for (std::size_t i = 0; i < dims; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (params_[i * dims + j] == params_[j * dims + i]) continue;
        throw UsageError(fmt::format("metric_params of {}: the matrix is not symmetric", metric.name()));
      }
    }
    if (!take_root(values_, dims)) {
      throw UsageError(fmt::format("metric_params of {}: the matrix is not positive definite", metric.name()));
    }
  } else if (metric.kind() == Metric::Kind::seuclidean) {
    for (double& value : values_) value = 1 / std::sqrt(value);
  } else if (metric.kind() == Metric::Kind::l2) {
    for (double& value : values_) value = std::sqrt(value);
  } else if (metric.kind() == Metric::Kind::linf) {
    for (double& value : values_) value = value > 0 ? 1 : 0;  // the limit of the others
  } else if (metric.kind() == Metric::Kind::lp) {
    for (double& value : values_) value = any_power(value, 1 / metric.p());
  }
}

RowMap RowPreparation::map() const {
  RowMap map = map_;
  map.values = values_.data();
  return map;
}

std::vector<double> params_for(Metric metric, std::span<const double> params, PointView points) {
  const RowForm form = form_of(metric, false);
  const bool is_matrix = form == RowForm::linear;
  if (!params.empty() || (form != RowForm::scaled && !is_matrix) || points.dims() == 0) {
    return {params.begin(), params.end()};
  }
  std::vector<double> found = covariances_of(points, is_matrix);
  if (const auto zero = std::find(found.begin(), found.end(), 0.0); !is_matrix && zero != found.end()) {
    throw UsageError(
        fmt::format("metric_params of {}: column {} (counted from 0) of the points has the variance 0; leave "
                    "the column out, or give the variances",
                    metric.name(), zero - found.begin()));
  }
  if (!is_matrix) return found;
  if (!take_root(found, points.dims())) {
    throw UsageError(
        "metric_params of mahalanobis: the covariance of the points has no inverse, because a column is a "
        "combination of others, or there are too few points; give an inverse covariance matrix");
  }
  return inverse_of_square(found, points.dims());
}

}  // namespace kith::core
