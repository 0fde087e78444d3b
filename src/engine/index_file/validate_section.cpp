// See validate_section.hpp.
#include "engine/index_file/validate_section.hpp"

#include "core/metric/metric_params.hpp"
#include "runtime/first_match.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::engine {

void require_zero_parameters(const IndexFile& file, std::uint32_t first) {
  for (std::uint32_t i = first; i < kEngineParameters; ++i) {
    if (file.facts().parameters[i] == 0) continue;
    file.refuse(fmt::format("engine parameter {} is {}, but engine {} has no such parameter", i,
                            file.facts().parameters[i], kith::name_of(file.facts().engine)));
  }
}

template <typename T>
void require_finite(const IndexFile& file, SectionId id, std::span<const T> values, int threads) {
  constexpr std::uint64_t kValuesPerTask = std::uint64_t{1} << 16;
  const std::uint64_t wrong = runtime::first_match(values.size(), kValuesPerTask, threads,
                                                   [&](std::uint64_t i) { return !std::isfinite(values[i]); });
  if (wrong < values.size()) file.refuse(fmt::format("section {}: value {} is not finite", name_of(id), wrong));
}

template <typename T>
void require_inside(const IndexFile& file, std::span<const T> rows, const std::vector<T>& lengths, int threads) {
  constexpr std::uint64_t kValuesPerTask = std::uint64_t{1} << 16;
  if (lengths.empty()) return;
  const std::uint64_t wrong = runtime::first_match(rows.size(), kValuesPerTask, threads, [&](std::uint64_t i) {
    const T length = lengths[i % lengths.size()];
    return length != std::numeric_limits<T>::infinity() && !(rows[i] >= 0 && rows[i] < length);
  });
  if (wrong < rows.size()) {
    file.refuse(fmt::format("point {} lies outside [0, {}) of periodic axis {}", wrong / lengths.size(),
                            lengths[wrong % lengths.size()], wrong % lengths.size()));
  }
}

core::RowPreparation load_preparation(const IndexFile& file) {
  const IndexFacts& facts = file.facts();
  const std::uint32_t dims = facts.points == 0 && facts.dims == 0 ? 0 : core::callers_dims(facts.metric, facts.dims);
  std::vector<double> params;
  if (file.has(SectionId::metric_params)) {
    const bool is_matrix = facts.metric.kind() == Metric::Kind::mahalanobis;
    const std::span<const double> stored =
        file.values<double>(SectionId::metric_params, is_matrix ? std::uint64_t{dims} * dims : dims);
    params.assign(stored.begin(), stored.end());
    if (file.has(SectionId::period)) file.refuse("section metric_params: not with periodic axes");
  }
  try {
    core::RowPreparation preparation(facts.metric, std::move(params), dims);
    if (preparation.map().searched_dims() == facts.dims) return preparation;
  } catch (const UsageError& error) {
    file.refuse(fmt::format("section metric_params: {}", error.what()));
  }
  file.refuse(fmt::format("{} dims, but metric {} has 3", facts.dims, facts.metric.name()));
}

std::vector<double> load_period(const IndexFile& file) {
  if (!file.has(SectionId::period)) return {};
  const IndexFacts& facts = file.facts();
  const std::span<const double> stored = file.values<double>(SectionId::period, facts.dims);
  if (!facts.metric.info().wraps) {
    file.refuse(fmt::format("section period: metric {} knows no periodic axes", facts.metric.name()));
  }
  std::vector<double> lengths;
  for (const double length : stored) {
    const bool is_rounded = facts.dtype == DType::f64 || static_cast<double>(static_cast<float>(length)) == length;
    if (!std::isfinite(length) || std::signbit(length) || !is_rounded) {
      file.refuse(fmt::format("section period: {} is not a length of type {}", length, kith::name_of(facts.dtype)));
    }
    lengths.push_back(length == 0 ? std::numeric_limits<double>::infinity() : length);
  }
  if (std::all_of(stored.begin(), stored.end(), [](double length) { return length == 0; })) {
    file.refuse("section period: no axis is periodic");
  }
  return lengths;
}

template void require_inside(const IndexFile&, std::span<const float>, const std::vector<float>&, int);
template void require_inside(const IndexFile&, std::span<const double>, const std::vector<double>&, int);
template void require_finite(const IndexFile&, SectionId, std::span<const float>, int);
template void require_finite(const IndexFile&, SectionId, std::span<const double>, int);

}  // namespace kith::engine
