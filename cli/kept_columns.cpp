// See kept_columns.hpp.
#include "kept_columns.hpp"

#include <kith/apps/take_rows.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace kith::cli {
namespace {

io::Labels labels_of(const io::Labels& labels, const std::vector<std::uint32_t>& rows) {
  io::Labels kept;
  kept.names = labels.names;
  for (const std::uint32_t row : rows) kept.codes.push_back(labels.codes[row]);
  return kept;
}

template <typename T>
PointSet side_by_side(const io::PointFile& file, const std::vector<std::uint32_t>& rows,
                      const std::vector<std::uint32_t>& carried) {
  const std::uint32_t dims = file.points.dims();
  PointSet all(dtype_of<T>, rows.size(), dims + static_cast<std::uint32_t>(carried.size()));
  T* out = all.values<T>().data();
  for (const std::uint32_t row : rows) {
    for (std::uint32_t d = 0; d < dims; ++d) *out++ = static_cast<T>(file.view().at(row, d));
    for (const std::uint32_t column : carried) *out++ = static_cast<T>(file.extras.view().at(row, column));
  }
  return all;
}

}  // namespace

KeptColumns::KeptColumns(const std::string& score, const std::vector<std::string>& carried, const io::ReadOptions& read)
    : has_score_(!score.empty()) {
  const auto is_coordinate = [&](const std::string& name) {
    return std::ranges::find(read.columns, name) != read.columns.end();
  };
  if (has_score_) {
    extras_.push_back(score);
    if (!is_coordinate(score)) carried_.push_back(0);
  }
  for (const std::string& name : carried) {
    if (is_coordinate(name) || std::ranges::find(extras_, name) != extras_.end()) continue;
    carried_.push_back(static_cast<std::uint32_t>(extras_.size()));
    extras_.push_back(name);
  }
}

void KeptColumns::require_in(const io::PointFile& file, const std::string& path) const {
  if (file.extras.rows() == file.points.rows() && file.extras.dims() == extras_.size()) return;
  if (extras_.empty() || file.points.rows() == 0) return;
  throw UsageError(
      fmt::format("{} holds nothing beside its coordinates, so there is no column \"{}\"", path, extras_[0]));
}

std::vector<double> KeptColumns::scores(const io::PointFile& file) const {
  std::vector<double> scores;
  if (!has_score_) return scores;
  scores.reserve(file.extras.rows());
  for (std::uint64_t row = 0; row < file.extras.rows(); ++row) scores.push_back(file.extras.view().at(row, 0));
  return scores;
}

KeptRows KeptColumns::take(const io::PointFile& file, const std::vector<std::uint32_t>& rows, int threads) const {
  KeptRows kept;
  if (file.labels) kept.labels = labels_of(*file.labels, rows);
  kept.names = file.columns;
  if (carried_.empty()) {
    kept.points = apps::take_rows(file.view(), rows, threads);
    return kept;
  }
  const bool both_f32 = file.points.dtype() == DType::f32 && file.extras.dtype() == DType::f32;
  kept.points = both_f32 ? side_by_side<float>(file, rows, carried_) : side_by_side<double>(file, rows, carried_);
  if (!kept.names.empty() && !file.extra_columns.empty()) {
    for (const std::uint32_t column : carried_) kept.names.push_back(file.extra_columns[column]);
  }
  return kept;
}

}  // namespace kith::cli
