// Points as a content: validates queries, leaves out bad rows, normalises for cosine, and turns reduced distances and
// clean numbers into the caller's.
#include "core/dispatch.hpp"
#include "core/metric/reported_distance.hpp"
#include "engine/clean_filter.hpp"
#include "engine/host_view.hpp"
#include "engine/index_state.hpp"
#include "engine/prepared_rows.hpp"
#include "engine/search_content.hpp"

#include <kith/index.hpp>

#include <string>

namespace kith {
namespace engine {

template <>
struct Content<PointView> : PointFiles {
  static SearchedTree searched_tree(const IndexState& state) { return engine::searched_tree(state); }
  template <typename T>
  class Queries {
   public:
    QueryBatch<T> batch;
    std::uint64_t answers = 0;

    Queries(const IndexState& state, const PointView* queries, const SearchOptions& options)
        : host_(queries == nullptr ? PointView() : *queries, options.threads) {
      if (queries == nullptr) {
        batch.count = state.clean;
        answers = state.rows;
        self_rows_ = state.original.empty() ? nullptr : state.original.data();
        filter_ = make_clean_filter(state, options, {});
      } else {
        answers = queries->rows();
        static constexpr T kNothing{};
        batch.rows = &kNothing;
        if (queries->empty()) return;
        rows_ = prepare_rows<T>(host_.view(), {.what = "queries",
                                               .map = state.preparation.map(),
                                               .skip_nonfinite = options.skip_nonfinite,
                                               .wrap_to = state.period,
                                               .threads = options.threads});
        batch.rows = rows_.rows;
        batch.row_stride = rows_.row_stride;
        batch.count = rows_.count;
        filter_ = make_clean_filter(state, options, rows_.clean.rows);
      }
      batch.filter = filter_.filter;
    }
    Queries(const Queries&) = delete;
    Queries& operator=(const Queries&) = delete;

    bool has_gaps() const { return batch.count != answers; }
    std::uint64_t copied_bytes() const { return rows_.copy.bytes(); }
    std::uint64_t answer_of(std::uint64_t query) const {
      if (!has_gaps()) return query;
      return self_rows_ != nullptr ? self_rows_[query] : rows_.clean.rows[query];
    }

   private:
    HostView host_;
    PreparedRows<T> rows_;
    CleanFilter filter_;
    const std::uint32_t* self_rows_ = nullptr;  ///< self-search with rows left out: the caller's row of each query
  };

  static std::uint64_t size(const IndexState& state) { return state.rows; }
  static SearchSubject subject(const IndexState& state) { return {.metric = state.metric}; }
  static void require_queries(const IndexState& state, PointView queries) {
    require_queries_view(queries, state.callers_dims(), state.dtype);
  }
  template <typename Call>
  static auto visit(const IndexState& state, const Call& call) {
    return core::visit_dtype(state.dtype, call);
  }
  template <typename T>
  static const Searcher<T>& searcher(const IndexState& state) {
    return searcher_of<T>(state);
  }
  template <typename T>
  static T bound(const IndexState& state, double radius) {
    return core::reduced_bound_of_radius<T>(state.metric, radius);
  }
  template <typename T>
  static void translate(const IndexState& state, const SearchOptions& options, std::uint64_t count,
                        std::uint32_t* indices, T* distances) {
    constexpr std::uint64_t kBlock = 1 << 18;
    const bool renumbers = state.left_out_rows();
    runtime::parallel_for((count + kBlock - 1) / kBlock, {.threads = options.threads}, [&](std::uint64_t block) {
      const std::uint64_t end = std::min(count, (block + 1) * kBlock);
      for (std::uint64_t i = block * kBlock; i < end; ++i) {
        distances[i] = core::reported_distance(state.metric, options.squared || options.reduced, distances[i]);
        if (renumbers) indices[i] = state.original_index(indices[i]);
      }
    });
  }

  static std::uint64_t memory_bytes(const IndexState& state) {
    const std::uint64_t searcher = std::visit([](const auto& s) { return s->memory_bytes(); }, state.searcher);
    return searcher + state.original.capacity() * sizeof(std::uint32_t);
  }
  static std::string describe(const IndexState& state) {
    std::string text = std::visit([](const auto& s) { return s->describe(); }, state.searcher);
    if (state.left_out_rows()) {
      text += fmt::format("\nleft out: {} of {} points hold NaN or infinity", state.rows - state.clean, state.rows);
    }
    if (runtime::forked_after_threads()) {
      text += "\nthreads: 1, because this process was forked after threads had started";
    }
    return text;
  }
};

}  // namespace engine

template class SearchIndex<Index, PointView>;

Index::Index(std::shared_ptr<const IndexState> state) : SearchIndex(std::move(state)) {}

std::uint32_t Index::dims() const { return state_->callers_dims(); }
DType Index::dtype() const { return state_->dtype; }
Metric Index::metric() const { return state_->metric; }
const std::vector<double>& Index::metric_params() const { return state_->preparation.params(); }
bool Index::holds_points() const { return state_->preparation.is_plain(); }
std::uint64_t Index::skipped() const { return state_->rows - state_->clean; }

}  // namespace kith
