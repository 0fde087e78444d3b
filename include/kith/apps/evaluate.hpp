// How good labels or values are where the truth is known.
#pragma once

#include <kith/apps/neighbor_options.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {

/// How well one class was found.
struct KITH_EXPORT ClassScore {
  std::uint64_t members = 0;    ///< rows that are of it
  std::uint64_t predicted = 0;  ///< rows that were said to be
  std::uint64_t right = 0;      ///< both
  double precision() const { return predicted == 0 ? 0 : static_cast<double>(right) / static_cast<double>(predicted); }
  double recall() const { return members == 0 ? 0 : static_cast<double>(right) / static_cast<double>(members); }
  /// The harmonic mean of both; 0 if both are.
  double f1() const;
};

/// Two label columns compared.
struct LabelScore {
  std::uint64_t rows = 0;
  std::uint64_t right = 0;
  std::vector<ClassScore> classes;
  double accuracy() const { return rows == 0 ? 0 : static_cast<double>(right) / static_cast<double>(rows); }
};

/// Pairs of classes that occur together, ordered by (truth, predicted): the confusion matrix without its zeros.
struct Confusion {
  std::uint32_t truth = 0;
  std::uint32_t predicted = 0;
  std::uint64_t rows = 0;
};

/// Throws UsageError if the columns are not as long as each other, or a code is not below `classes`.
KITH_EXPORT LabelScore score_labels(LabelView truth, std::span<const std::uint32_t> predicted);
/// The same; O(rows log rows), whatever the number of classes.
KITH_EXPORT std::vector<Confusion> confusion_of(LabelView truth, std::span<const std::uint32_t> predicted);

/// Two columns of values compared.
struct ValueScore {
  std::uint64_t rows = 0;
  double mean_absolute_error = 0;
  double root_mean_squared_error = 0;
  double largest_error = 0;
  /// 1 - (squared errors / squared deviations of the truth from its mean); as is usual 1 if both are 0, 0 if only the
  /// latter, or without rows.
  double r_squared = 0;
};

/// Throws UsageError if the columns are not as long as each other.
KITH_EXPORT ValueScore score_values(std::span<const double> truth, std::span<const double> predicted);

}  // namespace kith::apps::inline v0
