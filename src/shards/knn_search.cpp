// Nearest neighbours over shards: the nearest shard first, then all that the k-th neighbour leaves in reach. See
// kith/shards/search.hpp.
#include "core/dispatch.hpp"
#include "core/metric/reported_distance.hpp"
#include "shards/home_queries.hpp"
#include "shards/traffic.hpp"

#include <kith/error.hpp>
#include <kith/shards/search.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace kith::shards::inline v0 {

struct KnnSearch::State {
  virtual ~State() = default;
  virtual std::vector<SearchRequest> next() = 0;
  virtual void take(SearchReply reply) = 0;
  virtual WideNeighbors result() = 0;
};

namespace {

/// Where nothing was asked.
constexpr std::uint16_t kNoShard = 0xffff;

template <typename T>
class KnnOf final : public KnnSearch::State {
 public:
  KnnOf(const ShardMap& map, const SearchQueries& queries, std::uint32_t k, const ShardSearchOptions& options)
      : home_(map, queries, options, SearchKind::knn), open_(map.size()), k_(k), options_(options) {
    if (k != 0 && home_.count() > (std::uint64_t{1} << 60) / k) {
      throw OutOfMemory(fmt::format("not enough memory: {} lists of {} neighbours", home_.count(), k));
    }
    const Metric metric = map.rules.metric;
    if (metric.info().has_distances) farthest_ = core::reduced_bound_of_radius<T>(metric, options.max_distance);
    numbers_ = ValueArray<std::uint64_t>(home_.count() * k);
    distances_ = Distances(dtype_of<T>, home_.count() * k);
    found_.assign(home_.count(), 0);
    if (map.has_bounds() && !home_.is_self()) {
      first_.assign(home_.count(), kNoShard);
      next_bound_.assign(home_.count(), std::numeric_limits<T>::infinity());
    }
    if (options.shards_per_round > 0) last_.resize(home_.count());
  }

  std::vector<SearchRequest> next() override {
    if (open_.is_any_open()) throw UsageError("kNN: a request of the last round is not answered");
    std::vector<SearchRequest> requests;
    if (k_ == 0 || home_.count() == 0 || is_done_) return requests;
    AskedQueries asked;
    if (round_ == 0) {
      asked = first_round(requests);
    } else {
      asked = further_round();
    }
    for (std::uint32_t shard = 0; shard < asked.size(); ++shard) {
      if (asked[shard].empty()) continue;
      SearchRequest request = home_.request(RequestKind::knn, shard, asked[shard]);
      add_limits(request, asked[shard]);
      requests.push_back(std::move(request));
      open_.open(shard, QueryList(std::move(asked[shard])));
    }
    std::sort(requests.begin(), requests.end(), [](const auto& a, const auto& b) { return a.shard < b.shard; });
    for (SearchRequest& request : requests) {
      request.most = k_;
      request.max_distance = options_.max_distance;
    }
    // Without bounds everything was asked; else one more round asks all that is left, if there is no limit to it.
    is_done_ = requests.empty() || !home_.map().has_bounds() || (round_ > 0 && options_.shards_per_round == 0);
    ++round_;
    note_requests(options_.traffic, requests);
    return requests;
  }

  void take(SearchReply reply) override {
    const QueryList queries = open_.take(reply, true, dtype_of<T>);
    note_reply(options_.traffic, reply, home_.is_own(reply.shard));
    if (may_adopt(queries, reply)) {
      numbers_ = std::move(reply.numbers);
      distances_ = std::move(reply.reduced);
      std::fill(found_.begin(), found_.end(), k_);
      return;
    }
    const std::vector<std::uint64_t> offsets = offsets_of(reply.counts);
    const std::span<const T> reduced = reply.numbers.size() == 0 ? std::span<const T>() : reply.reduced.values<T>();
    home_.for_each(queries.size(), [&](std::uint64_t i) {
      const std::uint64_t begin = offsets[i], count = offsets[i + 1] - begin;
      if (count > 0) merge(queries[i], reply.numbers.data() + begin, reduced.data() + begin, count);
    });
  }

  WideNeighbors result() override {
    if ((!is_done_ && k_ != 0 && home_.count() != 0) || open_.is_any_open()) {
      throw UsageError("kNN: the search is not done");
    }
    const Metric metric = home_.map().rules.metric;
    const std::uint64_t missing = home_.map().rows;
    T* reduced = distances();
    home_.for_each([&](std::uint64_t q) {
      for (std::uint64_t j = q * k_; j < q * k_ + found_[q]; ++j) {
        reduced[j] = core::reported_distance(metric, options_.squared, reduced[j]);
      }
      std::fill(numbers_.data() + q * k_ + found_[q], numbers_.data() + (q + 1) * k_, missing);
      std::fill(reduced + q * k_ + found_[q], reduced + (q + 1) * k_, std::numeric_limits<T>::infinity());
    });
    return WideNeighbors(home_.count(), k_, missing, std::move(numbers_), std::move(distances_));
  }

 private:
  T* distances() { return distances_.values<T>().data(); }

  /// The shard whose box is nearest. The points of a shard ask that one, which needs no rows.
  AskedQueries first_round(std::vector<SearchRequest>& requests) {
    const bool has_bounds = home_.map().has_bounds();
    active_ = QueryList::all(home_.count());
    if (home_.is_self()) {
      requests.push_back(home_.own_request(RequestKind::knn, options_));
      open_.open(home_.own_shard(), QueryList::all(home_.count()));
      if (has_bounds) return {};
    }
    return home_.route(active_, [&](std::uint64_t q, const T* row, const auto& ask) {
      if (!has_bounds) return home_.ask_all(q, ask);
      const typename ShardTree<T>::Nearest nearest = home_.tree().nearest(row, farthest_, home_.below(q));
      if (nearest.first.shard == ShardTree<T>::kNone) return;
      ask(nearest.first.shard);
      first_[q] = static_cast<std::uint16_t>(nearest.first.shard);
      next_bound_[q] = nearest.next_bound;
    });
  }

  /// Those in reach that were not asked; the nearest of them if there is a limit to a round.
  AskedQueries further_round() {
    const std::size_t most = options_.shards_per_round == 0 ? home_.map().size() : options_.shards_per_round;
    AskedQueries asked = home_.route(active_, [&](std::uint64_t q, const T* row, const auto& ask) {
      // What the first round saw says for most queries that no other shard is in reach.
      const auto limit = limit_of(q);
      if (!next_bound_.empty() && next_bound_[q] > limit.first) return;
      thread_local std::vector<typename ShardTree<T>::Reached> reached;
      reached.clear();
      home_.tree().reach(row, farthest_, limit.first, limit.second, home_.below(q), reached);
      const std::uint32_t first = home_.is_self() ? home_.own_shard() : first_[q];
      std::erase_if(reached, [&](const auto& one) {
        return one.shard == first || (!last_.empty() && last_[q].shard != ShardTree<T>::kNone && !(last_[q] < one));
      });
      if (reached.size() > most) {
        std::nth_element(reached.begin(), reached.begin() + static_cast<std::ptrdiff_t>(most - 1), reached.end());
        reached.resize(most);
      }
      for (const auto& one : reached) ask(one.shard);
      if (!last_.empty() && !reached.empty()) last_[q] = *std::max_element(reached.begin(), reached.end());
    });
    if (options_.shards_per_round != 0) keep_active(asked);
    return asked;
  }

  /// Queries that asked nothing are done: their limits no longer change.
  void keep_active(const AskedQueries& asked) {
    std::vector<std::uint64_t> active;
    for (const auto& some : asked) active.insert(active.end(), some.begin(), some.end());
    std::sort(active.begin(), active.end());
    active.erase(std::unique(active.begin(), active.end()), active.end());
    active_ = QueryList(std::move(active));
  }

  /// What a shard must come before to be asked: the last entry of a full list.
  std::pair<T, std::uint64_t> limit_of(std::uint64_t q) const {
    if (found_[q] < k_) return {std::numeric_limits<T>::infinity(), kNoNumber};
    const std::uint64_t last = q * k_ + k_ - 1;
    return {distances_.values<T>()[last], numbers_[last]};
  }

  void add_limits(SearchRequest& request, const std::vector<std::uint64_t>& asked) const {
    const auto is_full = [&](std::uint64_t q) { return found_[q] == k_; };
    if (std::none_of(asked.begin(), asked.end(), is_full)) return;
    request.limits.resize(asked.size());
    home_.for_each(asked.size(), [&](std::uint64_t i) {
      if (!is_full(asked[i])) return;
      const auto [reduced, number] = limit_of(asked[i]);
      request.limits[i] = {static_cast<double>(reduced), number};
    });
  }

  /// Whether a reply is all that there is so far: full lists of all queries, and the first ones.
  bool may_adopt(const QueryList& queries, const SearchReply& reply) const {
    return round_ == 1 && queries.size() == home_.count() && reply.numbers.size() == home_.count() * k_ &&
           std::all_of(reply.counts.begin(), reply.counts.end(), [&](std::uint32_t count) { return count == k_; }) &&
           std::all_of(found_.begin(), found_.end(), [](std::uint32_t found) { return found == 0; });
  }

  /// Two sorted lists; the nearest k of both stay.
  void merge(std::uint64_t query, const std::uint64_t* numbers, const T* reduced, std::uint64_t count) {
    std::uint64_t* own_numbers = numbers_.data() + query * k_;
    T* own_reduced = distances() + query * k_;
    const std::uint32_t own_count = found_[query];
    if (own_count == 0) {
      const std::uint64_t taken = std::min<std::uint64_t>(count, k_);
      std::copy_n(numbers, taken, own_numbers);
      std::copy_n(reduced, taken, own_reduced);
      found_[query] = static_cast<std::uint32_t>(taken);
      return;
    }
    thread_local std::vector<std::pair<T, std::uint64_t>> merged;
    merged.clear();
    std::uint64_t own = 0, other = 0;
    while (merged.size() < k_ && (own < own_count || other < count)) {
      const bool takes_own = other == count || (own < own_count && std::tie(own_reduced[own], own_numbers[own]) <
                                                                       std::tie(reduced[other], numbers[other]));
      if (takes_own) {
        merged.emplace_back(own_reduced[own], own_numbers[own]);
        ++own;
      } else {
        merged.emplace_back(reduced[other], numbers[other]);
        ++other;
      }
    }
    for (std::size_t j = 0; j < merged.size(); ++j) std::tie(own_reduced[j], own_numbers[j]) = merged[j];
    found_[query] = static_cast<std::uint32_t>(merged.size());
  }

  HomeQueries<T> home_;
  OpenRequests open_;
  std::uint32_t k_;
  ShardSearchOptions options_;
  T farthest_ = std::numeric_limits<T>::infinity();
  ValueArray<std::uint64_t> numbers_;  ///< k of each query, of which the first found_ have values
  Distances distances_;                ///< reduced until the end
  std::vector<std::uint32_t> found_;
  std::vector<std::uint16_t> first_;  ///< the shard of the first round; of a self-search always its own
  std::vector<T> next_bound_;         ///< no other shard is nearer
  /// Where rounds are limited: the last shard that was asked, in their order.
  std::vector<typename ShardTree<T>::Reached> last_;
  QueryList active_;  ///< queries that may have something to ask
  std::uint32_t round_ = 0;
  bool is_done_ = false;
};

}  // namespace

KnnSearch::KnnSearch(const ShardMap& map, const SearchQueries& queries, std::uint32_t k,
                     const ShardSearchOptions& options)
    : state_(core::visit_dtype(map.dtype, [&](auto zero) -> std::unique_ptr<State> {
        return std::make_unique<KnnOf<decltype(zero)>>(map, queries, k, options);
      })) {}
KnnSearch::KnnSearch(KnnSearch&&) noexcept = default;
KnnSearch::~KnnSearch() = default;
std::vector<SearchRequest> KnnSearch::next() { return state_->next(); }
void KnnSearch::take(SearchReply reply) { state_->take(std::move(reply)); }
WideNeighbors KnnSearch::result() { return state_->result(); }

}  // namespace kith::shards::inline v0
