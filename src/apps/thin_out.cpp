// Equal to the loop "keep a point unless a kept one is within the radius", but made of whole searches.
//
// Where points are sparse, one search for the few nearest earlier ones within the radius shows all that a point depends
// on, and a walk in order over those short lists is the loop itself. Where points are crowded, such lists would be cut
// (or, uncut, grow with the square of the points); there the first half is thinned out first, and one search for the
// nearest kept point removes most of the second half. So each point takes part in at most 2 log2(n) searches for a
// fixed number of neighbours, whatever the radius and the order of the points, and memory does not depend on the
// radius.
#include "apps/thin_out.hpp"

#include "runtime/progress_meter.hpp"

#include <kith/apps/take_rows.hpp>
#include <kith/index.hpp>
#include <kith/memory_limit.hpp>
#include <kith/point_set.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace kith::apps::inline v0 {
namespace {

/// Up to this many points all pairs are looked at, so that nothing stays open.
constexpr std::uint64_t kFewPoints = 256;
/// Earlier neighbours asked for per point. More make cut lists rarer, but each search slower and its result larger.
constexpr std::uint32_t kListLength = 4;
/// Points whose lists show how crowded it is.
constexpr std::uint64_t kSample = 256;
/// Entries of lists in memory at one time.
constexpr std::uint64_t kListedAtOnce = std::uint64_t{1} << 24;

/// Smaller sets are searched on the CPU, so that the many small ones of crowded points are not copied one by one. An
/// estimate.
constexpr std::uint64_t kFewestOnDevice = std::uint64_t{1} << 15;

BuildOptions build_options(const ThinOutOptions& options, std::uint64_t points, std::uint64_t queries,
                           const ProgressCallback& progress) {
  BuildOptions build{.device = points < kFewestOnDevice ? Device::cpu() : options.device};
  build.metric = options.metric;
  build.metric_params = options.metric_params;
  build.expected_queries = queries;
  build.threads = options.threads;
  build.progress = progress;
  return build;
}

/// A place is a position in the order of the loop.
using Places = std::vector<std::uint32_t>;

class ThinOut {
 public:
  ThinOut(PointView points, Places rows, const ThinOutOptions& options)
      : points_(points),
        rows_(std::move(rows)),
        options_(options),
        meter_(options.progress, "thinning out", rows_.size()),
        watch_([this](const Progress&) {
          meter_.report(decided_);
          return true;
        }) {}

  std::vector<std::uint32_t> run() {
    Places all(rows_.size());
    std::iota(all.begin(), all.end(), 0u);
    Places kept = resolve(std::move(all));
    std::sort(kept.begin(), kept.end());
    for (std::uint32_t& place : kept) place = rows_[place];
    meter_.finish();
    return kept;
  }

 private:
  enum class State : std::uint8_t { open, kept, removed };

  /// The places that the loop keeps of `places` (ascending), none of which is within the radius of an earlier kept
  /// place that is not among them. The order of the result means nothing.
  Places resolve(Places places) {
    const std::uint64_t count = places.size();
    Places kept;
    if (count == 0) return kept;
    {
      const PointSet points = gather(places);
      const MemoryLimit held(0, points.bytes());
      const Index index = build(points.view(), count);
      if (count <= kFewPoints || !is_crowded(index, points.view())) {
        places = walk_lists(index, places, kept);
      }
    }
    // A kept place within the radius of an open one comes before it: were it later, it would be open itself.
    places = uncovered(std::move(places), kept);
    if (places.empty()) return kept;
    if (places.size() <= count / 2) {
      append(kept, resolve(std::move(places)));
      return kept;
    }
    const auto middle = places.begin() + static_cast<std::ptrdiff_t>(places.size() / 2);
    Places second(middle, places.end());
    places.erase(middle, places.end());
    const Places kept_of_first = resolve(std::move(places));
    second = uncovered(std::move(second), kept_of_first);
    append(kept, kept_of_first);
    append(kept, resolve(std::move(second)));
    return kept;
  }

  static void append(Places& places, const Places& more) { places.insert(places.end(), more.begin(), more.end()); }

  PointSet gather(const Places& places) const {
    std::vector<std::uint32_t> rows(places.size());
    std::transform(places.begin(), places.end(), rows.begin(), [this](std::uint32_t place) { return rows_[place]; });
    return take_rows(points_, rows, options_.threads);
  }

  Index build(PointView points, std::uint64_t queries) const {
    return Index::build(points, build_options(options_, points.rows(), queries, watch_));
  }

  SearchOptions within_radius() const {
    SearchOptions search;
    search.max_distance = options_.radius;
    search.threads = options_.threads;
    search.progress = watch_;
    return search;
  }

  /// Whether a list is full, so that there may be more.
  static bool is_cut(const Neighbors& lists, std::uint64_t list) {
    return lists.index(list, lists.k() - 1) != lists.missing();
  }

  bool is_crowded(const Index& index, PointView points) const {
    Places sample;
    for (std::uint64_t i = 0; i < kSample; ++i) {
      sample.push_back(static_cast<std::uint32_t>(i * points.rows() / kSample));
    }
    const PointSet queries = take_rows(points, sample, options_.threads);
    SearchOptions search = within_radius();
    search.index_below = sample;
    const Neighbors lists = index.knn(queries.view(), kListLength, search);
    std::uint64_t cut = 0;
    for (std::uint64_t i = 0; i < kSample; ++i) cut += is_cut(lists, i) ? 1 : 0;
    return cut > kSample / 4;
  }

  /// Goes through the places in order and decides each one whose list resolves it. Adds to `kept` and returns what
  /// stays open: places with a cut list that shows no kept neighbour, and those that depend on them.
  Places walk_lists(const Index& index, const Places& places, Places& kept) {
    const std::uint64_t count = places.size();
    SearchOptions search = within_radius();
    search.earlier_only = true;
    const auto k = static_cast<std::uint32_t>(count <= kFewPoints ? count : kListLength);
    const Neighbors lists = index.knn_self(k, search);
    std::vector<State> states(count, State::open);
    Places open;
    for (std::uint64_t i = 0; i < count; ++i) {
      states[i] = decide(lists, i, states);
      if (states[i] == State::kept) kept.push_back(places[i]);
      if (states[i] == State::open) open.push_back(places[i]);
    }
    decided_ += count - open.size();
    return open;
  }

  /// What the list of earlier neighbours says, all of which were looked at before.
  static State decide(const Neighbors& lists, std::uint64_t list, const std::vector<State>& states) {
    bool is_open = is_cut(lists, list);
    for (std::uint32_t rank = 0; rank < lists.k(); ++rank) {
      const std::uint32_t earlier = lists.index(list, rank);
      if (earlier == lists.missing()) break;
      if (states[earlier] == State::kept) return State::removed;
      is_open = is_open || states[earlier] == State::open;
    }
    return is_open ? State::open : State::kept;
  }

  /// Those of `places` that are not within the radius of any of `kept`.
  Places uncovered(Places places, const Places& kept) {
    if (places.empty() || kept.empty()) return places;
    const PointSet kept_points = gather(kept);
    const MemoryLimit held(0, kept_points.bytes());
    const Index index = build(kept_points.view(), places.size());
    Places rest;
    for (std::uint64_t first = 0; first < places.size(); first += kListedAtOnce) {
      const std::uint64_t end = std::min<std::uint64_t>(places.size(), first + kListedAtOnce);
      const Places part(places.begin() + static_cast<std::ptrdiff_t>(first),
                        places.begin() + static_cast<std::ptrdiff_t>(end));
      const PointSet queries = gather(part);
      const Neighbors lists = index.knn(queries.view(), 1, within_radius());
      for (std::uint64_t i = 0; i < part.size(); ++i) {
        if (!is_cut(lists, i)) rest.push_back(part[i]);
      }
    }
    decided_ += places.size() - rest.size();
    return rest;
  }

  PointView points_;
  Places rows_;  // row of each place
  const ThinOutOptions& options_;
  mutable runtime::ProgressMeter meter_;
  ProgressCallback watch_;     // what the searches report to
  std::uint64_t decided_ = 0;  // places that are kept or removed for good; in the end all
};

}  // namespace

std::vector<std::uint32_t> thin_out(PointView points, std::span<const std::uint32_t> rows,
                                    const ThinOutOptions& options) {
  Places places(rows.begin(), rows.end());
  if (!options.order.is_by_number()) {
    std::sort(places.begin(), places.end(),
              [&](std::uint32_t a, std::uint32_t b) { return options.order.before(a, b); });
  }
  return ThinOut(points, std::move(places), options).run();
}

std::vector<std::uint32_t> first_kept_within(PointView points, std::span<const std::uint32_t> removed,
                                             std::span<const std::uint32_t> kept, const ThinOutOptions& options) {
  std::vector<std::uint32_t> first_kept(removed.size());
  if (removed.empty()) return first_kept;
  runtime::ProgressMeter meter(options.progress, "mapping", removed.size());
  std::uint64_t done = 0;
  SearchOptions search;
  search.threads = options.threads;
  search.progress = [&](const Progress&) {
    meter.report(done);
    return true;
  };
  const PointSet kept_points = take_rows(points, kept, options.threads);
  const MemoryLimit held(0, kept_points.bytes());
  const Index index =
      Index::build(kept_points.view(), build_options(options, kept.size(), removed.size(), search.progress));

  // Kept points are apart, so few of them are within the radius of a point; but in many dimensions that may be many
  // after all, so they are counted before lists are asked for.
  constexpr std::uint64_t kRowsAtOnce = std::uint64_t{1} << 17;
  for (std::uint64_t first = 0; first < removed.size(); first += kRowsAtOnce) {
    const auto part = removed.subspan(first, std::min<std::uint64_t>(kRowsAtOnce, removed.size() - first));
    const PointSet queries = take_rows(points, part, options.threads);
    const std::vector<std::uint32_t> counts = index.count(queries.view(), options.radius, search);
    std::uint64_t begin = 0;
    while (begin < part.size()) {
      std::uint64_t end = begin;
      for (std::uint64_t entries = 0; end < part.size() && (end == begin || entries + counts[end] <= kListedAtOnce);) {
        entries += counts[end++];
      }
      const NeighborLists lists = index.radius(queries.view().slice(begin, end - begin), options.radius, search);
      for (std::uint64_t i = begin; i < end; ++i) {
        const auto list = lists.indices().subspan(lists.offsets()[i - begin], lists.count(i - begin));
        first_kept[first + i] = *std::min_element(list.begin(), list.end());
      }
      begin = end;
      done = first + end;
    }
  }
  meter.finish();
  return first_kept;
}

}  // namespace kith::apps::inline v0
