// The lists of all points by whole searches, then every k from them. See choose_k.hpp and score_each_k.hpp.
#include <kith/apps/choose_k.hpp>

#include "apps/neighbor_checks.hpp"
#include "apps/neighbor_search.hpp"
#include "apps/score_each_k.hpp"
#include "runtime/progress_meter.hpp"
#include "runtime/time_spent.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <new>

namespace kith::apps::inline v0 {
namespace {

void require_range(std::uint64_t rows, const ChooseKOptions& options) {
  if (options.least == 0) throw UsageError("k must be at least 1; let the range start there");
  if (options.least > options.most) {
    throw UsageError(fmt::format("no k is in {}..{}; the lower end comes first", options.least, options.most));
  }
  if (options.folds == 1) throw UsageError("one fold leaves no other points; choose 2 or more, or 0 to leave one out");
  if (options.folds > rows) {
    throw UsageError(fmt::format("{} folds of {} points; choose no more folds than points", options.folds, rows));
  }
  const std::uint64_t part = options.folds == 0 ? 1 : (rows + options.folds - 1) / options.folds;
  const std::uint64_t others = rows < part ? 0 : rows - part;
  if (options.most <= others) return;
  throw UsageError(
      fmt::format("k up to {}, but of {} points only {} are left to be a point's neighbours{}; choose a "
                  "lower k",
                  options.most, rows, others, options.folds == 0 ? "" : " when its fold is left out"));
}

using TakeListsOfRows = std::function<void(const ListsOfRows&)>;

void leave_one_out(const Index& index, const ChooseKOptions& options, NeighborWork& work, const TakeListsOfRows& take) {
  SearchOptions search;
  search.exclude_self = true;
  search.threads = options.threads;
  search.progress = options.progress;
  const Neighbors found = [&] {
    const runtime::TimeSpent time(&work.search_ms);
    return index.knn_self(options.most, search);
  }();
  const runtime::TimeSpent time(&work.vote_ms);
  take({found, 0, 1});
}

/// All points but those of a part, as bits.
std::vector<std::uint64_t> others_of_part(std::uint64_t rows, std::uint64_t part, std::uint64_t parts) {
  std::vector<std::uint64_t> others((rows + 63) / 64, ~std::uint64_t{0});
  for (std::uint64_t i = part; i < rows; i += parts) others[i / 64] &= ~(std::uint64_t{1} << (i % 64));
  return others;
}

void leave_parts_out(const Index& index, PointView points, const ChooseKOptions& options, NeighborWork& work,
                     const TakeListsOfRows& take) {
  runtime::ProgressMeter meter(&options.progress, "searching", points.rows());
  std::uint64_t done = 0;
  SearchOptions search;
  search.threads = options.threads;
  if (options.progress) {
    search.progress = [&](const Progress&) {  // to who watches, the searches of all parts are one stage
      meter.report(done);
      return true;
    };
  }
  const std::uint64_t parts = options.folds;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::vector<std::uint64_t> others = others_of_part(points.rows(), part, parts);
    search.allowed = others;
    const std::uint64_t rows = (points.rows() - part + parts - 1) / parts;
    const PointView queries(points.slice(part, 1).data(), points.dtype(), rows, points.dims(),
                            points.row_stride() * static_cast<std::int64_t>(parts), points.device());
    const Neighbors found = [&] {
      const runtime::TimeSpent time(&work.search_ms);
      return index.knn(queries, options.most, search);
    }();
    const runtime::TimeSpent time(&work.vote_ms);
    take({found, part, parts});
    done += rows;
  }
  meter.finish();
}

template <typename Score>
KChoice choose(PointView points, const ChooseKOptions& options, Score&& score) {
  KChoice choice;
  choice.least = options.least;
  const Index index = build_index(points, points.rows(), options, choice.work);
  const TakeListsOfRows take = [&](const ListsOfRows& lists) { score.add(lists); };
  if (options.folds == 0) {
    leave_one_out(index, options, choice.work, take);
  } else {
    leave_parts_out(index, points, options, choice.work, take);
  }
  score.finish(choice);
  return choice;
}

}  // namespace

KChoice choose_k(PointView points, LabelView labels, const ChooseKOptions& options) {
  require_labels(labels, points.rows());
  require_range(points.rows(), options);
  require_weights(options);
  try {
    return choose(points, options, RightLabels(labels, options));
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("not enough memory: votes of the neighbours of {} points", points.rows()));
  }
}

KChoice choose_k(PointView points, std::span<const double> values, const ChooseKOptions& options) {
  require_values(values, points.rows());
  require_range(points.rows(), options);
  require_weights(options);
  try {
    return choose(points, options, ValueErrors(values, options));
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("not enough memory: means of the neighbours of {} points", points.rows()));
  }
}

}  // namespace kith::apps::inline v0
