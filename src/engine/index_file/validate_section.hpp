// Checks of contents that several engines share. All throw CorruptFile and name the first thing that is wrong.
#pragma once

#include "engine/index_file/index_file.hpp"
#include "core/metric/metric_params.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::engine {

/// Parameters from `first` on are not used by the engine and must be zero.
void require_zero_parameters(const IndexFile& file, std::uint32_t first);

/// Every value is a finite number.
template <typename T>
void require_finite(const IndexFile& file, SectionId id, std::span<const T> values, int threads);

/// Every coordinate of the rows lies in [0, length) of its axis, where that is finite. No lengths: no axis is periodic.
template <typename T>
void require_inside(const IndexFile& file, std::span<const T> rows, const std::vector<T>& lengths, int threads);

/// How rows are prepared: the parameters of the metric fit it.
core::RowPreparation load_preparation(const IndexFile& file);

/// The lengths of periodic axes, infinity where one does not wrap; empty if the file has none.
std::vector<double> load_period(const IndexFile& file);

}  // namespace kith::engine
