// What a shard answers: its index is searched for all queries of a request at once, and numbers become those of all
// points. See kith/shards/shard.hpp.
//
// A query with a full list looks no farther than its last one: it is a radius search that keeps the nearest k. Other
// kNN queries are just that.
#include "core/dispatch.hpp"
#include "core/metric/reported_distance.hpp"
#include "shards/row_blocks.hpp"
#include "shards/shard_state.hpp"

#include <kith/error.hpp>
#include <kith/shards/shard.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace kith::shards::inline v0 {
namespace {

void require_sizes(const SearchRequest& request, std::uint64_t queries) {
  const auto fits = [&](std::size_t size) { return size == 0 || size == queries; };
  const bool has_radii = request.kind == RequestKind::radius || request.kind == RequestKind::count;
  const bool has_boxes = request.kind == RequestKind::box || request.kind == RequestKind::box_count;
  const bool is_sound = fits(request.limits.size()) && fits(request.below.size()) &&
                        (!has_radii || request.radii.size() == 1 || request.radii.size() == queries) &&
                        (!has_boxes || request.upper.rows() == queries) && !(request.is_self && has_boxes);
  if (!is_sound) throw UsageError("request: its arrays are not those of its queries");
}

/// A radius that takes in all points up to a reduced distance. That of the same reported distance may be too short:
/// roots and powers are rounded.
template <typename T>
T radius_reaching(Metric metric, T reduced) {
  T radius = core::reported_distance(metric, false, reduced);
  while (core::reduced_bound_of_radius<T>(metric, radius) < reduced) radius = core::next_above(radius);
  return radius;
}

/// One search at a time over the queries of a request.
template <typename T>
class Answering {
 public:
  Answering(const Shard::State& shard, const SearchRequest& request, const AnswerOptions& options)
      : shard_(shard),
        request_(request),
        options_(options),
        queries_(request.is_self ? shard.numbers.size() : request.queries.rows()) {
    require_sizes(request, queries_);
    search_.reduced = true;
    search_.allowed = options.allowed;
    search_.threads = options.threads;
    search_.progress = options.progress;
    if (request.is_self) {
      search_.exclude_self = request.exclude_self;
      search_.earlier_only = request.earlier_only;
    }
    for (const std::uint64_t number : request.below) below_.push_back(shard.rows_below(number));
    search_.index_below = below_;
  }

  SearchReply answer() {
    switch (request_.kind) {
      case RequestKind::knn:
        return request_.limits.empty() || !shard_.index.metric().info().has_distances ? nearest() : nearest_in_groups();
      case RequestKind::radius:
        return within();
      case RequestKind::count:
        return counted(request_.is_self ? shard_.index.count_self(radii(), search_)
                                        : shard_.index.count(request_.queries.view(), radii(), search_));
      case RequestKind::box_count:
        search_.reduced = false;
        return counted(shard_.index.box_count(request_.queries.view(), request_.upper.view(), search_));
      case RequestKind::box:
        break;
    }
    return inside();
  }

 private:
  Radii radii() const {
    return request_.radii.size() == 1 ? Radii(request_.radii[0]) : Radii(std::span<const double>(request_.radii));
  }
  SearchReply empty_reply() const { return {request_.shard, std::vector<std::uint32_t>(queries_, 0), {}, {}}; }
  SearchReply counted(std::vector<std::uint32_t> counts) const { return {request_.shard, std::move(counts), {}, {}}; }

  /// Whether an entry comes before the limit of its query.
  bool is_of_use(std::uint64_t query, T reduced, std::uint32_t row) const {
    if (request_.limits.empty()) return true;
    const SearchRequest::Limit& limit = request_.limits[query];
    const auto distance = static_cast<double>(reduced);
    return distance < limit.reduced || (distance == limit.reduced && shard_.numbers[row] < limit.number);
  }

  /// The entries of all queries: `length(q)` of each, of which those before its limit are taken, `row(q, j)` and
  /// `reduced(q, j)`.
  template <typename Length, typename Row, typename Reduced>
  SearchReply reply_of(const Length& length, const Row& row, const Reduced& reduced) const {
    SearchReply reply = empty_reply();
    for_each_row(queries_, options_.threads, [&](std::uint64_t q) {
      std::uint64_t count = length(q);
      while (count > 0 && !is_of_use(q, reduced(q, count - 1), row(q, count - 1))) --count;
      reply.counts[q] = static_cast<std::uint32_t>(count);
    });
    std::vector<std::uint64_t> offsets(queries_ + 1, 0);
    for (std::uint64_t q = 0; q < queries_; ++q) offsets[q + 1] = offsets[q] + reply.counts[q];
    reply.numbers = ValueArray<std::uint64_t>(offsets.back());
    reply.reduced = Distances(dtype_of<T>, offsets.back());
    std::uint64_t* numbers = reply.numbers.data();
    T* distances = reply.reduced.values<T>().data();
    for_each_row(queries_, options_.threads, [&](std::uint64_t q) {
      for (std::uint64_t j = 0; j < reply.counts[q]; ++j) {
        numbers[offsets[q] + j] = shard_.numbers[row(q, j)];
        distances[offsets[q] + j] = reduced(q, j);
      }
    });
    return reply;
  }

  std::uint32_t k() const {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(request_.most, shard_.numbers.size()));
  }
  static std::uint64_t length_of(const Neighbors& found, std::uint64_t query) {
    std::uint32_t length = found.k();
    while (length > 0 && found.index(query, length - 1) == found.missing()) --length;
    return length;
  }

  SearchReply nearest() {
    search_.max_distance = request_.max_distance;
    const Neighbors found = request_.is_self ? shard_.index.knn_self(k(), search_)
                                             : shard_.index.knn(request_.queries.view(), k(), search_);
    const std::span<const T> reduced = found.distances().template values<T>();
    return reply_of([&](std::uint64_t q) { return length_of(found, q); },
                    [&](std::uint64_t q, std::uint64_t j) { return found.indices()[q * found.k() + j]; },
                    [&](std::uint64_t q, std::uint64_t j) { return reduced[q * found.k() + j]; });
  }

  /// The queries with full lists, and the others.
  SearchReply nearest_in_groups() {
    std::vector<std::uint64_t> full, open;
    for (std::uint64_t q = 0; q < queries_; ++q) {
      const bool is_full = request_.limits[q].reduced <= static_cast<double>(std::numeric_limits<T>::max());
      (is_full ? full : open).push_back(q);
    }
    if (full.empty()) return nearest();
    const std::uint32_t most = k();
    const NeighborLists lists = within_limits(full, most);
    const Neighbors nearest = nearest_of(open, most);
    std::vector<std::uint64_t> place(queries_);  // in its group
    for (std::uint64_t i = 0; i < full.size(); ++i) place[full[i]] = i;
    for (std::uint64_t i = 0; i < open.size(); ++i) place[open[i]] = i;
    const auto is_full = [&](std::uint64_t q) { return place[q] < full.size() && full[place[q]] == q; };
    const std::span<const T> in_lists = lists.distances().template values<T>();
    const std::span<const T> in_rows = nearest.distances().template values<T>();
    return reply_of([&](std::uint64_t q) { return is_full(q) ? lists.count(place[q]) : length_of(nearest, place[q]); },
                    [&](std::uint64_t q, std::uint64_t j) {
                      return is_full(q) ? lists.indices()[lists.offsets()[place[q]] + j]
                                        : nearest.indices()[place[q] * most + j];
                    },
                    [&](std::uint64_t q, std::uint64_t j) {
                      return is_full(q) ? in_lists[lists.offsets()[place[q]] + j] : in_rows[place[q] * most + j];
                    });
  }

  /// The options of a search for some of the queries.
  struct Some {
    PointSet rows;
    std::vector<std::uint32_t> below;
    SearchOptions options;
  };
  Some some(const std::vector<std::uint64_t>& queries) const {
    const std::uint32_t dims = request_.queries.dims();
    Some some{PointSet(dtype_of<T>, queries.size(), dims), {}, search_};
    T* to = some.rows.template values<T>().data();
    const PointView from = request_.queries.view();
    for_each_row(queries.size(), options_.threads,
                 [&](std::uint64_t i) { std::copy_n(from.row<T>(queries[i]), dims, to + i * dims); });
    if (below_.empty()) return some;
    for (const std::uint64_t q : queries) some.below.push_back(below_[q]);
    some.options.index_below = some.below;
    return some;
  }
  NeighborLists within_limits(const std::vector<std::uint64_t>& queries, std::uint32_t most) const {
    Some full = some(queries);
    std::vector<double> radii(queries.size());
    const Metric metric = shard_.index.metric();
    for_each_row(queries.size(), options_.threads, [&](std::uint64_t i) {
      radii[i] = radius_reaching(metric, static_cast<T>(request_.limits[queries[i]].reduced));
    });
    full.options.max_neighbors = most;
    return shard_.index.radius(full.rows.view(), radii, full.options);
  }
  Neighbors nearest_of(const std::vector<std::uint64_t>& queries, std::uint32_t most) const {
    Some open = some(queries);
    open.options.max_distance = request_.max_distance;
    return shard_.index.knn(open.rows.view(), most, open.options);
  }

  SearchReply within() {
    search_.max_neighbors = request_.most;
    const NeighborLists found = request_.is_self ? shard_.index.radius_self(radii(), search_)
                                                 : shard_.index.radius(request_.queries.view(), radii(), search_);
    const std::span<const T> reduced = found.distances().template values<T>();
    return reply_of([&](std::uint64_t q) { return found.count(q); },
                    [&](std::uint64_t q, std::uint64_t j) { return found.indices()[found.offsets()[q] + j]; },
                    [&](std::uint64_t q, std::uint64_t j) { return reduced[found.offsets()[q] + j]; });
  }

  SearchReply inside() {
    search_.reduced = false;
    const PointLists found = shard_.index.box(request_.queries.view(), request_.upper.view(), search_);
    SearchReply reply = empty_reply();
    for (std::uint64_t q = 0; q < queries_; ++q) reply.counts[q] = static_cast<std::uint32_t>(found.count(q));
    reply.numbers = ValueArray<std::uint64_t>(found.indices().size());
    std::transform(found.indices().begin(), found.indices().end(), reply.numbers.data(),
                   [&](std::uint32_t row) { return shard_.numbers[row]; });
    return reply;
  }

  const Shard::State& shard_;
  const SearchRequest& request_;
  const AnswerOptions& options_;
  std::uint64_t queries_;
  SearchOptions search_;
  std::vector<std::uint32_t> below_;
};

}  // namespace

SearchReply Shard::answer(const SearchRequest& request, const AnswerOptions& options) const {
  return core::visit_dtype(state_->index.dtype(),
                           [&](auto zero) { return Answering<decltype(zero)>(*state_, request, options).answer(); });
}

}  // namespace kith::shards::inline v0
