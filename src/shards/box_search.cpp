// The points inside boxes over shards: one round to all shards whose boxes overlap. See kith/shards/search.hpp.
#include "core/dispatch.hpp"
#include "shards/home_queries.hpp"
#include "shards/traffic.hpp"

#include <kith/error.hpp>
#include <kith/shards/search.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kith::shards::inline v0 {

struct BoxSearch::State {
  const ShardMap& map;
  PointView lower, upper;
  bool counts_only = false;
  ShardSearchOptions options;
  OpenRequests open;
  std::vector<std::uint8_t> bad = {};  ///< boxes with NaN; empty: none
  bool is_done = false;
  std::vector<std::uint64_t> counts = {};
  std::vector<std::vector<std::uint64_t>> found = {};  ///< the points of each box

  void require_done() const {
    if (!is_done || open.is_any_open()) throw UsageError("box: the search is not done");
  }

  template <typename T>
  AskedQueries route() const {
    const ShardTree<T> tree(map);
    AskedQueries asked(map.size());
    std::vector<std::uint32_t> overlapping;
    for (std::uint64_t b = 0; b < lower.rows(); ++b) {
      if (!bad.empty() && bad[b] != 0) continue;
      overlapping.clear();
      tree.overlap(lower.row<T>(b), upper.row<T>(b), options.index_below.empty() ? kNoNumber : options.index_below[b],
                   overlapping);
      for (const std::uint32_t shard : overlapping) asked[shard].push_back(b);
    }
    return asked;
  }

  PointSet corners(PointView of, const std::vector<std::uint64_t>& asked) const {
    PointSet some(map.dtype, asked.size(), map.dims);
    core::visit_dtype(map.dtype, [&](auto zero) {
      using T = decltype(zero);
      T* to = some.values<T>().data();
      for (const std::uint64_t b : asked) to = std::copy_n(of.row<T>(b), map.dims, to);
    });
    return some;
  }
};

BoxSearch::BoxSearch(const ShardMap& map, PointView lower, PointView upper, bool counts_only,
                     const ShardSearchOptions& options) {
  if (lower.rows() != upper.rows()) {
    throw UsageError(fmt::format("boxes: {} lower but {} upper corners", lower.rows(), upper.rows()));
  }
  require_view(map, lower, "lower corners");
  require_view(map, upper, "upper corners");
  require_boxes_possible(map);
  require_options(map, options, SearchKind::box, false, lower.rows());
  state_ = std::make_unique<State>(State{map, lower, upper, counts_only, options, OpenRequests(map.size())});
  state_->bad = bad_boxes(lower, upper, options.skip_nonfinite);
  state_->counts.assign(lower.rows(), 0);
  if (!counts_only) state_->found.resize(lower.rows());
}

BoxSearch::~BoxSearch() = default;

std::vector<SearchRequest> BoxSearch::next() {
  State& state = *state_;
  if (state.open.is_any_open()) throw UsageError("box: a request is not answered");
  std::vector<SearchRequest> requests;
  if (std::exchange(state.is_done, true) || state.lower.empty()) return requests;
  AskedQueries asked = core::visit_dtype(state.map.dtype, [&](auto zero) { return state.route<decltype(zero)>(); });
  for (std::uint32_t shard = 0; shard < asked.size(); ++shard) {
    if (asked[shard].empty()) continue;
    SearchRequest request;
    request.kind = state.counts_only ? RequestKind::box_count : RequestKind::box;
    request.shard = shard;
    request.queries = state.corners(state.lower, asked[shard]);
    request.upper = state.corners(state.upper, asked[shard]);
    if (!state.options.index_below.empty()) {
      for (const std::uint64_t b : asked[shard]) request.below.push_back(state.options.index_below[b]);
    }
    requests.push_back(std::move(request));
    state.open.open(shard, QueryList(std::move(asked[shard])));
  }
  note_requests(state.options.traffic, requests);
  return requests;
}

void BoxSearch::take(SearchReply reply) {
  State& state = *state_;
  const QueryList boxes = state.open.take(reply, !state.counts_only, {});
  note_reply(state.options.traffic, reply, false);
  const std::uint64_t* numbers = reply.numbers.data();
  for (std::uint64_t i = 0; i < boxes.size(); ++i) {
    state.counts[boxes[i]] += reply.counts[i];
    if (state.counts_only) continue;
    std::vector<std::uint64_t>& list = state.found[boxes[i]];
    const auto middle = static_cast<std::ptrdiff_t>(list.size());
    list.insert(list.end(), numbers, numbers + reply.counts[i]);
    std::inplace_merge(list.begin(), list.begin() + middle, list.end());
    numbers += reply.counts[i];
  }
}

std::vector<std::uint64_t> BoxSearch::counts() {
  state_->require_done();
  return state_->counts;
}

WidePointLists BoxSearch::lists() {
  state_->require_done();
  if (state_->counts_only) throw UsageError("box: only counts were requested");
  std::vector<std::uint64_t> offsets(state_->found.size() + 1, 0), numbers;
  for (std::size_t b = 0; b < state_->found.size(); ++b) offsets[b + 1] = offsets[b] + state_->found[b].size();
  numbers.reserve(offsets.back());
  for (std::vector<std::uint64_t>& list : state_->found) {
    numbers.insert(numbers.end(), list.begin(), list.end());
    list = {};
  }
  return WidePointLists(state_->map.rows, std::move(offsets), std::move(numbers));
}

}  // namespace kith::shards::inline v0
