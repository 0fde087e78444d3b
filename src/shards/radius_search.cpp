// Radius searches and counts over shards: one round to all shards within reach. See kith/shards/search.hpp.
#include "core/dispatch.hpp"
#include "core/metric/reported_distance.hpp"
#include "shards/home_queries.hpp"
#include "shards/traffic.hpp"

#include <kith/error.hpp>
#include <kith/shards/search.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace kith::shards::inline v0 {

struct RadiusSearch::State {
  virtual ~State() = default;
  virtual std::vector<SearchRequest> next() = 0;
  virtual void take(SearchReply reply) = 0;
  virtual WideNeighborLists lists() = 0;
  virtual std::vector<std::uint64_t> counts() = 0;
};
struct CountSearch::State : RadiusSearch::State {};

namespace {

template <typename T, typename State>
class RadiusOf final : public State {
 public:
  RadiusOf(RequestKind kind, const ShardMap& map, const SearchQueries& queries, const Radii& radii,
           const ShardSearchOptions& options)
      : radii_((require_radii(radii, queries.rows()), radii)),
        home_(map, queries, options, SearchKind::radius),
        open_(map.size()),
        kind_(kind),
        options_(options) {
    if (kind == RequestKind::count) counts_.assign(home_.count(), 0);
  }

  std::vector<SearchRequest> next() override {
    if (open_.is_any_open()) throw UsageError("radius: a request is not answered");
    std::vector<SearchRequest> requests;
    if (std::exchange(is_done_, true) || home_.count() == 0) return requests;
    if (home_.is_self()) {
      SearchRequest own = home_.own_request(kind_, options_);
      if (radii_.each()) {
        own.radii.assign(radii_.each()->begin(), radii_.each()->end());
      } else {
        own.radii = {radii_.all()};
      }
      requests.push_back(std::move(own));
      open_.open(home_.own_shard(), QueryList::all(home_.count()));
    }
    AskedQueries asked = route();
    for (std::uint32_t shard = 0; shard < asked.size(); ++shard) {
      if (asked[shard].empty()) continue;
      SearchRequest request = home_.request(kind_, shard, asked[shard]);
      request.radii = {radii_.all()};
      if (radii_.each()) {
        request.radii.resize(asked[shard].size());
        for (std::size_t i = 0; i < asked[shard].size(); ++i) request.radii[i] = radii_.of(asked[shard][i]);
      }
      requests.push_back(std::move(request));
      open_.open(shard, QueryList(std::move(asked[shard])));
    }
    std::sort(requests.begin(), requests.end(), [](const auto& a, const auto& b) { return a.shard < b.shard; });
    for (SearchRequest& request : requests) request.most = options_.max_neighbors;
    note_requests(options_.traffic, requests);
    return requests;
  }

  void take(SearchReply reply) override {
    const bool has_lists = kind_ == RequestKind::radius;
    QueryList queries = open_.take(reply, has_lists, has_lists ? std::optional(dtype_of<T>) : std::nullopt);
    note_reply(options_.traffic, reply, home_.is_own(reply.shard));
    if (!has_lists) {
      for (std::uint64_t i = 0; i < queries.size(); ++i) counts_[queries[i]] += reply.counts[i];
      return;
    }
    if (reply.numbers.size() > 0) {
      std::vector<std::uint64_t> offsets = offsets_of(reply.counts);
      answers_.push_back({std::move(queries), std::move(offsets), std::move(reply)});
    }
  }

  std::vector<std::uint64_t> counts() override {
    require_done();
    return std::move(counts_);
  }

  WideNeighborLists lists() override {
    require_done();
    std::vector<std::uint64_t> found(home_.count() + 1, 0);  // where the list of each query begins, not yet cut
    for (const Answer& answer : answers_) {
      for (std::uint64_t i = 0; i < answer.queries.size(); ++i) found[answer.queries[i] + 1] += answer.reply.counts[i];
    }
    std::vector<std::uint64_t> offsets(home_.count() + 1, 0);
    const std::uint64_t most = options_.max_neighbors == 0 ? kNoNumber : options_.max_neighbors;
    for (std::uint64_t q = 0; q < home_.count(); ++q) {
      offsets[q + 1] = offsets[q] + std::min(found[q + 1], most);
      found[q + 1] += found[q];
    }
    const std::vector<Entry> entries = gather(found);
    std::vector<std::uint64_t> numbers(offsets.back());
    Distances distances(dtype_of<T>, offsets.back());
    T* reported = distances.values<T>().data();
    const Metric metric = home_.map().rules.metric;
    home_.for_each([&](std::uint64_t q) {
      const Entry* list = entries.data() + found[q];
      for (std::uint64_t j = offsets[q]; j < offsets[q + 1]; ++j, ++list) {
        numbers[j] = list->second;
        reported[j] = core::reported_distance(metric, options_.squared, list->first);
      }
    });
    return WideNeighborLists(home_.map().rows, std::move(offsets), std::move(numbers), std::move(distances));
  }

 private:
  using Entry = std::pair<T, std::uint64_t>;
  struct Answer {
    QueryList queries;
    std::vector<std::uint64_t> offsets;
    SearchReply reply;
  };

  void require_done() const {
    if (!is_done_ || open_.is_any_open()) throw UsageError("radius: the search is not done");
  }

  AskedQueries route() {
    const Metric metric = home_.map().rules.metric;
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    const T shared = core::reduced_bound_of_radius<T>(metric, radii_.all());
    return home_.route(QueryList::all(home_.count()), [&](std::uint64_t q, const T* row, const auto& ask) {
      if (!home_.map().has_bounds()) return home_.ask_all(q, ask);
      const T farthest = radii_.each() ? core::reduced_bound_of_radius<T>(metric, radii_.of(q)) : shared;
      thread_local std::vector<typename ShardTree<T>::Reached> reached;
      reached.clear();
      home_.tree().reach(row, farthest, kInfinity, kNoNumber, home_.below(q), reached);
      for (const auto& one : reached) {
        if (!home_.is_own(one.shard)) ask(one.shard);
      }
    });
  }

  /// The entries of all answers, those of each query in their order.
  std::vector<Entry> gather(const std::vector<std::uint64_t>& begin) {
    std::vector<Entry> entries(begin.back());
    std::vector<std::uint64_t> filled(begin.begin(), begin.end() - 1);
    for (Answer& answer : answers_) {
      const std::span<const T> reduced = answer.reply.reduced.template values<T>();
      home_.for_each(answer.queries.size(), [&](std::uint64_t i) {
        const std::uint64_t q = answer.queries[i], count = answer.reply.counts[i];
        if (count == 0) return;
        Entry* to = entries.data() + filled[q];
        for (std::uint64_t j = answer.offsets[i]; j < answer.offsets[i + 1]; ++j) {
          *to++ = {reduced[j], answer.reply.numbers[j]};
        }
        std::inplace_merge(entries.data() + begin[q], entries.data() + filled[q], to);
        filled[q] += count;
      });
      answer = {};
    }
    return entries;
  }

  Radii radii_;  ///< checked before all else
  HomeQueries<T> home_;
  OpenRequests open_;
  RequestKind kind_;
  ShardSearchOptions options_;
  bool is_done_ = false;
  std::vector<std::uint64_t> counts_;
  std::vector<Answer> answers_;
};

template <typename State>
std::unique_ptr<State> make_search(RequestKind kind, const ShardMap& map, const SearchQueries& queries,
                                   const Radii& radii, const ShardSearchOptions& options) {
  return core::visit_dtype(map.dtype, [&](auto zero) -> std::unique_ptr<State> {
    return std::make_unique<RadiusOf<decltype(zero), State>>(kind, map, queries, radii, options);
  });
}

}  // namespace

RadiusSearch::RadiusSearch(const ShardMap& map, const SearchQueries& queries, const Radii& radii,
                           const ShardSearchOptions& options)
    : state_(make_search<State>(RequestKind::radius, map, queries, radii, options)) {}
RadiusSearch::RadiusSearch(RadiusSearch&&) noexcept = default;
RadiusSearch::~RadiusSearch() = default;
std::vector<SearchRequest> RadiusSearch::next() { return state_->next(); }
void RadiusSearch::take(SearchReply reply) { state_->take(std::move(reply)); }
WideNeighborLists RadiusSearch::result() { return state_->lists(); }

CountSearch::CountSearch(const ShardMap& map, const SearchQueries& queries, const Radii& radii,
                         const ShardSearchOptions& options)
    : state_(make_search<State>(RequestKind::count, map, queries, radii, options)) {}
CountSearch::CountSearch(CountSearch&&) noexcept = default;
CountSearch::~CountSearch() = default;
std::vector<SearchRequest> CountSearch::next() { return state_->next(); }
void CountSearch::take(SearchReply reply) { state_->take(std::move(reply)); }
std::vector<std::uint64_t> CountSearch::result() { return state_->counts(); }

}  // namespace kith::shards::inline v0
