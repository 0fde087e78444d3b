// The searches, files and facts of every index, over its content: points, rows of bits or sequences. The content says
// how queries are checked and prepared, and what becomes of the answers of its searcher.
#pragma once

#include "engine/allowed_chunks.hpp"
#include "engine/index_file/stored_index.hpp"
#include "engine/knn_rules.hpp"
#include "engine/limited_lists.hpp"
#include "engine/searcher.hpp"
#include "engine/total_time.hpp"
#include "engine/validate.hpp"
#include "engine/with_memory.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kith {
namespace engine {

/// A specialisation for each View has:
/// - `size(state)`, `subject(state)` (what options are checked against), `require_queries(state, view)`;
/// - `visit(state, call)`: call(T(0)) with the type of distances;
/// - `Queries<T>(state, view or null, options)`: prepared queries, with the members of PlainQueries below;
/// - `searcher<T>(state)`, `bound<T>(state, radius)` in reduced distances, and `translate`, which turns the searcher's
///   answers into the caller's;
/// - `memory_bytes(state)`, `describe(state)`, `write(state, options, sink)`, `load(file, options)`, a new state.
template <typename View>
struct Content;

/// Prepared queries of which none was left out.
template <typename Batch>
struct PlainQueries {
  Batch batch;
  std::uint64_t answers = 0;  ///< rows that the caller expects

  bool has_gaps() const { return false; }
  std::uint64_t copied_bytes() const { return 0; }                      ///< of queries that were copied
  std::uint64_t answer_of(std::uint64_t query) const { return query; }  ///< the caller's row of a query
};

/// The filters of a search whose objects are numbered as the caller does.
inline PointFilter filter_of(const SearchOptions& options) {
  PointFilter filter;
  filter.exclude_self = options.exclude_self;
  filter.earlier_only = options.earlier_only;
  if (!options.allowed.empty()) filter.allowed = options.allowed.data();
  if (!options.index_below.empty()) filter.below = options.index_below.data();
  return filter;
}

inline RunOptions run_options(const SearchOptions& options) {
  return {options.threads, &options.progress, options.times};
}

/// One search over a content: checks what the caller handed in, then finds.
template <typename View>
class ContentSearch {
 public:
  using Of = Content<View>;
  using State = StateOf<View>;

  /// `queries` is null where the objects themselves are the queries.
  ContentSearch(const State& state, const View* queries, const SearchOptions& options)
      : state_(state), queries_(queries), options_(options) {}

  Neighbors knn(std::uint32_t k) const {
    return checked(SearchKind::knn, [&](auto zero) { return allocate_nearest<decltype(zero)>(k); });
  }
  /// Into the caller's memory, rows of k entries; `exact` may be empty.
  void knn(std::uint32_t k, std::span<std::uint32_t> indices, DistanceSpan distances,
           std::span<std::uint8_t> exact) const {
    require_size("indices", indices.size(), k);
    require_size("distances", std::visit([](auto values) { return values.size(); }, distances), k);
    if (!exact.empty()) require_size("exact", exact.size(), 1);
    checked(SearchKind::knn, [&](auto zero) {
      using T = decltype(zero);
      const auto* values = std::get_if<std::span<T>>(&distances);
      if (values == nullptr) {
        throw UsageError(
            fmt::format("distances: those of this index are {}, but the array is not", name_of(dtype_of<T>)));
      }
      find_nearest<T>(Queries<T>(state_, queries_, options_), k, 0, indices, *values, exact);
    });
  }
  /// `queries` is their number, which replaces that of the view.
  std::string explain(SearchShape shape, std::optional<std::uint64_t> queries) const {
    SearchSubject subject = Of::subject(state_);
    subject.kind = shape.is_radius ? SearchKind::radius : SearchKind::knn;
    shape.is_self = subject.is_self = !queries;
    subject.points = Of::size(state_);
    shape.queries = subject.queries = queries.value_or(Of::size(state_));
    require_search_options(options_, subject);
    shape.filter = filter_of(options_);
    const std::string path = Of::visit(state_, [&](auto zero) {
      shape.is_exact = knn_rules<decltype(zero)>(subject.metric, options_, Of::searched_tree(state_)).is_exact();
      return Of::template searcher<decltype(zero)>(state_).explain(shape);
    });
    const std::string_view only = state_.engine == Engine::brute_force ? "every query is compared with every point"
                                                                       : "every query walks through the tree";
    const bool is_exact_instead = Of::searched_tree(state_).dims != 0 && shape.is_exact && wants_flags(options_);
    return fmt::format("search: {} on {}: {}{}", name_of(state_.engine), state_.device.name(),
                       path.empty() ? only : path,
                       is_exact_instead ? "; eps and max_leaves do not apply: an exact search is faster" : "");
  }
  NeighborLists radius(const Radii& radii) const {
    require(radii);
    return checked(SearchKind::radius, [&](auto zero) { return list_within<decltype(zero)>(radii); });
  }
  std::vector<std::uint32_t> count(const Radii& radii) const {
    require(radii);
    return checked(SearchKind::radius, [&](auto zero) { return count_within<decltype(zero)>(radii); });
  }

 private:
  template <typename T>
  using Queries = typename Of::template Queries<T>;

  std::uint64_t rows() const { return queries_ == nullptr ? Of::size(state_) : queries_->rows(); }
  std::uint32_t missing() const { return static_cast<std::uint32_t>(Of::size(state_)); }

  void require(const Radii& radii) const {
    require_radius(radii.all());
    if (radii.each()) require_radii(*radii.each(), rows());
  }

  template <typename Find>
  auto checked(SearchKind kind, const Find& find) const {
    if (queries_ != nullptr) Of::require_queries(state_, *queries_);
    SearchSubject subject = Of::subject(state_);
    subject.kind = kind;
    subject.is_self = queries_ == nullptr;
    subject.points = Of::size(state_);
    subject.queries = rows();
    require_search_options(options_, subject);
    const TotalTime total(options_.times);
    const runtime::Watched watched(&options_.progress, "searching");
    return Of::visit(state_, find);
  }

  void require_size(std::string_view array, std::size_t size, std::uint32_t per_query) const {
    if (per_query == 0 ? size == 0 : size % per_query == 0 && size / per_query == rows()) return;
    throw UsageError(fmt::format("{}: an array of {}, but {} queries need {} each", array, size, rows(), per_query));
  }

  template <typename T>
  Neighbors allocate_nearest(std::uint32_t k) const {
    const Queries<T> queries(state_, queries_, options_);
    if (k != 0 && queries.answers > (std::uint64_t{1} << 60) / k) {
      throw OutOfMemory(fmt::format("not enough memory: {} lists of {} neighbours", queries.answers, k));
    }
    const std::uint64_t entries = queries.answers * k;
    const std::uint64_t bytes = entries * (sizeof(T) + 4);
    return with_memory(bytes, "the result", [&] {
      ValueArray<std::uint32_t> indices(entries);
      Distances distances(dtype_of<T>, entries);
      std::vector<std::uint8_t> exact(wants_flags(options_) ? queries.answers : 0);
      find_nearest<T>(queries, k, bytes, indices, distances.values<T>(), exact);
      return Neighbors(queries.answers, k, missing(), std::move(indices), std::move(distances), std::move(exact));
    });
  }

  bool is_limited() const { return allowed_on_host(state_.device) != runtime::kNoLimit; }
  /// What a search has on the CPU besides its answers and lists.
  template <typename T>
  std::uint64_t bytes_of(const Queries<T>& queries, SearchShape shape, std::uint64_t some) const {
    shape.is_self = queries.batch.is_self();
    shape.queries = some;
    return Of::memory_bytes(state_) + queries.copied_bytes() +
           Of::template searcher<T>(state_).search_bytes(shape, options_.threads);
  }
  /// Calls search(first query, batch) for all queries at once, or for chunks that are allowed besides answers of
  /// `answer_bytes`.
  template <typename T, typename Search>
  void in_chunks(const Queries<T>& queries, const SearchShape& shape, std::uint64_t answer_bytes,
                 const Search& search) const {
    const std::uint64_t count = queries.batch.count;
    const std::uint64_t at_once =
        !is_limited() ? count : allowed_at_once(count, !queries.batch.is_self(), [&](std::uint64_t some) {
          return bytes_of<T>(queries, shape, some) + answer_bytes;
        });
    if (at_once == count) return search(0, queries.batch);
    for (std::uint64_t first = 0; first < count; first += at_once) {
      search(first, queries.batch.chunk(first, std::min(at_once, count - first)));
    }
  }

  /// `answer_bytes` is what was allocated for the answers.
  template <typename T>
  void find_nearest(const Queries<T>& queries, std::uint32_t k, std::uint64_t answer_bytes,
                    std::span<std::uint32_t> indices, std::span<T> distances, std::span<std::uint8_t> exact) const {
    // An empty list is exact, and so is that of a query that was left out.
    std::fill(exact.begin(), exact.end(), std::uint8_t{1});
    if (k == 0) return;
    if (queries.batch.count > 0) {
      KnnRules<T> rules = knn_rules<T>(Of::subject(state_).metric, options_, Of::searched_tree(state_));
      rules.bound = Of::template bound<T>(state_, options_.max_distance);
      const bool has_flags = wants_flags(options_) && !exact.empty();
      in_chunks<T>(queries, {.k = k, .is_exact = rules.is_exact()}, answer_bytes,
                   [&](std::uint64_t first, const auto& batch) {
                     Of::template searcher<T>(state_).knn(batch, k, rules, run_options(options_),
                                                          indices.data() + first * k, distances.data() + first * k,
                                                          has_flags ? exact.data() + first : nullptr);
                   });
      Of::translate(state_, options_, queries.batch.count * k, indices.data(), distances.data());
    }
    if (!queries.has_gaps()) return;
    spread_rows(queries, k, indices, distances);
    if (!exact.empty()) spread_values(queries, std::uint8_t{1}, exact);
  }

  template <typename T>
  NeighborLists list_within(const Radii& radii) const {
    Queries<T> queries(state_, queries_, options_);
    const std::vector<T> bounds = bounds_of<T>(radii, queries);
    return with_memory(queries.answers * (sizeof(T) + 4), "the result, and more with each neighbour,", [&] {
      ReducedLists<T> lists{{0}, {}, {}};
      if (queries.batch.count > 0) {
        lists = lists_of<T>(queries, Of::template bound<T>(state_, radii.all()));
        Of::translate(state_, options_, lists.indices.size(), lists.indices.data(), lists.reduced.data());
      }
      if (queries.has_gaps()) {
        std::vector<std::uint64_t> offsets(queries.answers + 1, 0);
        for (std::uint64_t q = 0; q < queries.batch.count; ++q) {
          offsets[queries.answer_of(q) + 1] = lists.offsets[q + 1] - lists.offsets[q];
        }
        for (std::uint64_t row = 0; row < queries.answers; ++row) offsets[row + 1] += offsets[row];
        lists.offsets = std::move(offsets);
      }
      return NeighborLists(missing(), std::move(lists.offsets), std::move(lists.indices),
                           Distances(std::move(lists.reduced)));
    });
  }

  /// Under a limit all are counted first, so that it is known what the lists take.
  template <typename T>
  ReducedLists<T> lists_of(const Queries<T>& queries, T bound) const {
    const auto& searcher = Of::template searcher<T>(state_);
    const auto list = [&](const auto& batch) {
      return searcher.radius(batch, bound, options_.max_neighbors, run_options(options_));
    };
    if (!is_limited()) return list(queries.batch);
    std::vector<std::uint64_t> offsets = offsets_of(counts_of<T>(queries, bound), options_.max_neighbors);
    offsets.resize(queries.batch.count + 1);  // queries that were left out have no counts
    const auto search_bytes = [&](std::uint64_t some) { return bytes_of<T>(queries, {.is_radius = true}, some); };
    return limited_lists<T>(queries.batch, std::move(offsets), search_bytes, list);
  }

  template <typename T>
  std::vector<std::uint32_t> counts_of(const Queries<T>& queries, T bound) const {
    std::vector<std::uint32_t> counts(queries.answers, 0);
    in_chunks<T>(queries, {.is_radius = true}, counts.size() * sizeof(std::uint32_t),
                 [&](std::uint64_t first, const auto& batch) {
                   Of::template searcher<T>(state_).count(batch, bound, run_options(options_), counts.data() + first);
                 });
    return counts;
  }

  template <typename T>
  std::vector<std::uint32_t> count_within(const Radii& radii) const {
    Queries<T> queries(state_, queries_, options_);
    const std::vector<T> bounds = bounds_of<T>(radii, queries);
    return with_memory(queries.answers * 4, "the result", [&] {
      if (queries.batch.count == 0) return std::vector<std::uint32_t>(queries.answers, 0);
      std::vector<std::uint32_t> counts = counts_of<T>(queries, Of::template bound<T>(state_, radii.all()));
      if (queries.has_gaps()) spread_values(queries, 0u, std::span(counts));
      return counts;
    });
  }

  /// The radii in reduced distances, if each query has its own; the batch points to them.
  template <typename T>
  std::vector<T> bounds_of(const Radii& radii, Queries<T>& queries) const {
    std::vector<T> bounds;
    if (!radii.each()) return bounds;
    constexpr std::uint64_t kBlock = 1 << 14;
    const std::uint64_t count = queries.batch.count;
    with_memory(count * sizeof(T), "the radii", [&] { bounds.resize(count); });
    runtime::parallel_for((count + kBlock - 1) / kBlock, {.threads = options_.threads}, [&](std::uint64_t block) {
      const std::uint64_t end = std::min(count, (block + 1) * kBlock);
      for (std::uint64_t q = block * kBlock; q < end; ++q) {
        bounds[q] = Of::template bound<T>(state_, radii.of(queries.answer_of(q)));
      }
    });
    queries.batch.bounds = bounds.data();
    return bounds;
  }

  /// Moves rows of k entries from their dense places to the caller's rows, last first, and empties the rows between.
  template <typename T>
  void spread_rows(const Queries<T>& queries, std::uint32_t k, std::span<std::uint32_t> indices,
                   std::span<T> distances) const {
    const auto empty = [&](std::uint64_t begin, std::uint64_t end) {
      std::fill(indices.data() + begin * k, indices.data() + end * k, missing());
      std::fill(distances.data() + begin * k, distances.data() + end * k, std::numeric_limits<T>::infinity());
    };
    std::uint64_t end = queries.answers;
    for (std::uint64_t q = queries.batch.count; q-- > 0;) {
      const std::uint64_t row = queries.answer_of(q);
      std::copy_backward(&indices[q * k], &indices[q * k] + k, &indices[row * k] + k);
      std::copy_backward(&distances[q * k], &distances[q * k] + k, &distances[row * k] + k);
      empty(row + 1, end);
      end = row;
    }
    empty(0, end);
  }

  /// The same for one value per query; the rows between get `empty`.
  template <typename T, typename Value>
  static void spread_values(const Queries<T>& queries, Value empty, std::span<Value> values) {
    for (std::uint64_t q = queries.batch.count; q-- > 0;) {  // last first: a row never lies before its query
      const std::uint64_t row = queries.answer_of(q);
      if (row == q) break;
      values[row] = std::exchange(values[q], empty);
    }
  }

  const State& state_;
  const View* queries_;
  const SearchOptions& options_;
};

}  // namespace engine

template <typename Self, typename View>
Self SearchIndex<Self, View>::load(const std::string& path, const LoadOptions& options) {
  return engine::load_from_file(
      path, options, [&](const engine::IndexFile& file) { return Self(engine::Content<View>::load(file, options)); });
}
template <typename Self, typename View>
Self SearchIndex<Self, View>::from_bytes(std::span<const std::byte> bytes, const LoadOptions& options) {
  return engine::load_from_bytes(
      bytes, options, [&](const engine::IndexFile& file) { return Self(engine::Content<View>::load(file, options)); });
}
template <typename Self, typename View>
void SearchIndex<Self, View>::save(const std::string& path, const SaveOptions& options) const {
  engine::require_threads(options.threads);
  engine::save_to_file(path, memory_bytes(),
                       [&](const auto& sink) { engine::Content<View>::write(*state_, options, sink); });
}
template <typename Self, typename View>
std::vector<std::byte> SearchIndex<Self, View>::to_bytes(const SaveOptions& options) const {
  engine::require_threads(options.threads);
  return engine::save_to_bytes(memory_bytes(), state_->device,
                               [&](const auto& sink) { engine::Content<View>::write(*state_, options, sink); });
}

template <typename Self, typename View>
Neighbors SearchIndex<Self, View>::knn(View queries, std::uint32_t k, const SearchOptions& options) const {
  return engine::ContentSearch<View>(*state_, &queries, options).knn(k);
}
template <typename Self, typename View>
Neighbors SearchIndex<Self, View>::knn_self(std::uint32_t k, const SearchOptions& options) const {
  return engine::ContentSearch<View>(*state_, nullptr, options).knn(k);
}
template <typename Self, typename View>
void SearchIndex<Self, View>::knn(View queries, std::uint32_t k, std::span<std::uint32_t> indices,
                                  DistanceSpan distances, const SearchOptions& options,
                                  std::span<std::uint8_t> exact) const {
  engine::ContentSearch<View>(*state_, &queries, options).knn(k, indices, distances, exact);
}
template <typename Self, typename View>
void SearchIndex<Self, View>::knn_self(std::uint32_t k, std::span<std::uint32_t> indices, DistanceSpan distances,
                                       const SearchOptions& options, std::span<std::uint8_t> exact) const {
  engine::ContentSearch<View>(*state_, nullptr, options).knn(k, indices, distances, exact);
}
template <typename Self, typename View>
std::uint32_t SearchIndex<Self, View>::knn_one(View query, std::span<std::uint32_t> indices, DistanceSpan distances,
                                               SearchOptions options) const {
  options.threads = 1;
  knn(query, static_cast<std::uint32_t>(indices.size()), indices, distances, options);
  return static_cast<std::uint32_t>(std::find(indices.begin(), indices.end(), size()) - indices.begin());
}
template <typename Self, typename View>
NeighborLists SearchIndex<Self, View>::radius(View queries, const Radii& radii, const SearchOptions& options) const {
  return engine::ContentSearch<View>(*state_, &queries, options).radius(radii);
}
template <typename Self, typename View>
NeighborLists SearchIndex<Self, View>::radius_self(const Radii& radii, const SearchOptions& options) const {
  return engine::ContentSearch<View>(*state_, nullptr, options).radius(radii);
}
template <typename Self, typename View>
std::vector<std::uint32_t> SearchIndex<Self, View>::count(View queries, const Radii& radii,
                                                          const SearchOptions& options) const {
  return engine::ContentSearch<View>(*state_, &queries, options).count(radii);
}
template <typename Self, typename View>
std::vector<std::uint32_t> SearchIndex<Self, View>::count_self(const Radii& radii, const SearchOptions& options) const {
  return engine::ContentSearch<View>(*state_, nullptr, options).count(radii);
}

template <typename Self, typename View>
std::uint64_t SearchIndex<Self, View>::size() const {
  return engine::Content<View>::size(*state_);
}
template <typename Self, typename View>
Engine SearchIndex<Self, View>::engine() const {
  return state_->engine;
}
template <typename Self, typename View>
Device SearchIndex<Self, View>::device() const {
  return state_->device;
}
template <typename Self, typename View>
std::uint64_t SearchIndex<Self, View>::memory_bytes() const {
  return engine::Content<View>::memory_bytes(*state_);
}
template <typename Self, typename View>
std::string SearchIndex<Self, View>::explain() const {
  return state_->reason + '\n' + engine::Content<View>::describe(*state_);
}
template <typename Self, typename View>
std::string SearchIndex<Self, View>::explain_knn(std::uint32_t k, std::optional<std::uint64_t> queries,
                                                 const SearchOptions& options) const {
  return engine::ContentSearch<View>(*state_, nullptr, options).explain({.k = k}, queries);
}
template <typename Self, typename View>
std::string SearchIndex<Self, View>::explain_radius(std::optional<std::uint64_t> queries,
                                                    const SearchOptions& options) const {
  return engine::ContentSearch<View>(*state_, nullptr, options).explain({.is_radius = true}, queries);
}
template <typename Self, typename View>
std::string SearchIndex<Self, View>::first_violation() const {
  // What must hold of a cover tree only the CPU checks.
  if (engine() == Engine::cover_tree && device() != Device::cpu()) {
    return from_bytes(to_bytes(), {.device = Device::cpu()}).first_violation();
  }
  return engine::Content<View>::visit(*state_, [&](auto zero) {
    return engine::Content<View>::template searcher<decltype(zero)>(*state_).first_violation();
  });
}

}  // namespace kith
