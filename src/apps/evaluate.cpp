// Labels and values against the truth. See evaluate.hpp. Everything runs in the order of the rows on one thread: it is
// one pass over short columns.
#include <kith/apps/evaluate.hpp>

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace kith::apps::inline v0 {
namespace {

void require_same_length(std::uint64_t truth, std::uint64_t predicted) {
  if (truth == predicted) return;
  throw UsageError(fmt::format("{} rows of truth, but {} of predictions; give one for each row", truth, predicted));
}

void require_codes(std::string_view what, std::span<const std::uint32_t> codes, std::uint32_t classes) {
  const auto bad = std::find_if(codes.begin(), codes.end(), [&](std::uint32_t code) { return code >= classes; });
  if (bad == codes.end()) return;
  throw UsageError(fmt::format("{}: row {} (counted from 0) is class {}, but classes are numbered from 0 to below {}",
                               what, bad - codes.begin(), *bad, classes));
}

void require_comparable(LabelView truth, std::span<const std::uint32_t> predicted) {
  require_same_length(truth.codes.size(), predicted.size());
  require_codes("truth", truth.codes, truth.classes);
  require_codes("predictions", predicted, truth.classes);
}

double squared(double x) { return x * x; }

}  // namespace

double ClassScore::f1() const {
  return right == 0 ? 0 : 2 * static_cast<double>(right) / static_cast<double>(members + predicted);
}

LabelScore score_labels(LabelView truth, std::span<const std::uint32_t> predicted) {
  require_comparable(truth, predicted);
  LabelScore score;
  score.rows = predicted.size();
  score.classes.resize(truth.classes);
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    ++score.classes[truth.codes[i]].members;
    ++score.classes[predicted[i]].predicted;
    if (truth.codes[i] != predicted[i]) continue;
    ++score.classes[predicted[i]].right;
    ++score.right;
  }
  return score;
}

std::vector<Confusion> confusion_of(LabelView truth, std::span<const std::uint32_t> predicted) {
  require_comparable(truth, predicted);
  std::vector<std::uint64_t> pairs(predicted.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = std::uint64_t{truth.codes[i]} << 32 | predicted[i];
  std::sort(pairs.begin(), pairs.end());
  std::vector<Confusion> confusion;
  for (std::size_t first = 0, last = 0; first < pairs.size(); first = last) {
    while (last < pairs.size() && pairs[last] == pairs[first]) ++last;
    confusion.push_back(
        {static_cast<std::uint32_t>(pairs[first] >> 32), static_cast<std::uint32_t>(pairs[first]), last - first});
  }
  return confusion;
}

ValueScore score_values(std::span<const double> truth, std::span<const double> predicted) {
  require_same_length(truth.size(), predicted.size());
  ValueScore score;
  score.rows = truth.size();
  if (truth.empty()) return score;

  const auto rows = static_cast<double>(truth.size());
  double absolute_errors = 0, squared_errors = 0, sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = std::abs(truth[i] - predicted[i]);
    absolute_errors += error;
    squared_errors += squared(error);
    sum += truth[i];
    score.largest_error = std::max(score.largest_error, error);
  }
  score.mean_absolute_error = absolute_errors / rows;
  score.root_mean_squared_error = std::sqrt(squared_errors / rows);

  // The mean of equal values may differ from them by rounding; they deviate by nothing all the same.
  const auto [least, most] = std::minmax_element(truth.begin(), truth.end());
  double deviations = 0;
  if (*least != *most) {
    for (const double value : truth) deviations += squared(value - sum / rows);
  }
  if (deviations > 0) {
    score.r_squared = 1 - squared_errors / deviations;
  } else {
    score.r_squared = squared_errors == 0 ? 1 : 0;
  }
  return score;
}

}  // namespace kith::apps::inline v0
