// The cover tree engine for vectors on the CPU: exact search where few of many dims matter. This file has the points,
// their tree, and what is not a walk through it.
#include "cpu/engines.hpp"

#include "cpu/cover_tree/build.hpp"
#include "cpu/cover_tree/build_by_lists.hpp"
#include "cpu/cover_tree/check_distances.hpp"
#include "cpu/cover_tree/search.hpp"
#include "cpu/cover_tree/vector_space.hpp"
#include "cpu/instruction_set.hpp"
#include "engine/cover_tree/check_invariants.hpp"
#include "engine/cover_tree/tree_sections.hpp"
#include "engine/index_file/validate_section.hpp"
#include "runtime/parallel.hpp"

#include <kith/point_set.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace kith::cpu {
namespace {

using engine::KnnRules;
using engine::QueryBatch;
using engine::ReducedLists;
using engine::RunOptions;
using engine::SectionId;

/// Rows count x dims, copied or in a file.
template <typename T>
struct OwnedRows {
  const T* rows = nullptr;
  std::uint64_t count = 0;
  std::uint32_t dims = 0;
  std::shared_ptr<const void> owner;

  std::uint64_t bytes() const { return count * dims * sizeof(T); }
};

template <typename T>
OwnedRows<T> copied_rows(const engine::BuildRequest<T>& request) {
  constexpr std::uint64_t kRowsPerTask = 16384;
  const auto copy = std::make_shared<PointSet>(dtype_of<T>, request.count, request.dims);
  T* values = copy->template values<T>().data();
  runtime::parallel_for((request.count + kRowsPerTask - 1) / kRowsPerTask, {.threads = request.run.threads},
                        [&](std::uint64_t task) {
                          const std::uint64_t first = task * kRowsPerTask * request.dims;
                          const std::uint64_t end = std::min(request.count, (task + 1) * kRowsPerTask) * request.dims;
                          std::copy(request.rows + first, request.rows + end, values + first);
                        });
  return {values, request.count, request.dims, copy};
}

template <typename T>
OwnedRows<T> rows_in_file(const engine::LoadRequest& request) {
  const engine::IndexFile& file = request.file;
  const engine::IndexFacts& facts = file.facts();
  file.require_only({SectionId::rows, SectionId::original, SectionId::metric_params, SectionId::cover_nodes,
                     SectionId::cover_order, SectionId::cover_distances});
  const std::span<const T> rows = file.values<T>(SectionId::rows, facts.points, std::max(1u, facts.dims));
  if (!file.is_trusted()) engine::require_finite(file, SectionId::rows, rows, request.run.threads);
  return {rows.data(), facts.points, facts.dims, file.owner()};
}

template <typename T>
class CoverSearch final : public engine::Searcher<T> {
 public:
  using Vectors = VectorSpace<T>;

  explicit CoverSearch(const engine::BuildRequest<T>& request)
      : rows_(copied_rows(request)),
        space_(rows_.rows, static_cast<std::uint32_t>(rows_.count), rows_.dims, request.metric),
        tree_(space_, built(request), request.run.threads) {}
  explicit CoverSearch(const engine::LoadRequest& request)
      : rows_(rows_in_file<T>(request)),
        space_(rows_.rows, static_cast<std::uint32_t>(rows_.count), rows_.dims, request.file.facts().metric),
        tree_(space_, engine::cover_tree_in_file(request.file), request.run.threads) {
    if (request.file.is_trusted()) return;
    const std::string wrong = CoverDistances<Vectors>(tree_, request.run.threads).first_wrong();
    if (!wrong.empty()) request.file.refuse(wrong);
  }

  void knn(const QueryBatch<T>& queries, std::uint32_t k, const KnnRules<T>& rules, const RunOptions& run,
           std::uint32_t* indices, T* reduced, std::uint8_t* exact) const override {
    find_nearest(tree_, asked(queries), k, rules, run, indices, reduced, exact);
  }
  ReducedLists<T> radius(const QueryBatch<T>& queries, T bound, std::uint32_t most,
                         const RunOptions& run) const override {
    return find_within(tree_, asked(queries), bound, most, run);
  }
  void count(const QueryBatch<T>& queries, T bound, const RunOptions& run, std::uint32_t* counts) const override {
    count_within(tree_, asked(queries), bound, run, counts);
  }

  engine::IndexLists box(const engine::BoxBatch<T>& boxes, const RunOptions& run) const override {
    return scan(run)->box(boxes, run);
  }
  void box_count(const engine::BoxBatch<T>& boxes, const RunOptions& run, std::uint32_t* counts) const override {
    scan(run)->box_count(boxes, run, counts);
  }
  void copy_rows(T* rows, int) const override { std::copy_n(rows_.rows, rows_.count * rows_.dims, rows); }
  void save(engine::IndexFileWriter& writer, const RunOptions&) const override {
    writer.add(SectionId::rows, std::span(rows_.rows, rows_.count * rows_.dims), std::max(1u, rows_.dims));
    engine::save_cover_tree(tree_.tree(), writer);
  }

  std::string first_violation() const override {
    typename Vectors::Query query;
    std::vector<std::uint32_t> place(tree_.size());
    for (std::uint32_t i = 0; i < tree_.size(); ++i) place[tree_.tree().order[i]] = i;
    const auto metric = [&](std::uint32_t a, std::uint32_t b) {
      T value = 0;
      space_.ask(query, a);
      tree_.objects().measure(query, place[b], 1, std::numeric_limits<T>::infinity(), &value);
      return space_.metric(value);
    };
    return engine::check_cover_invariants(tree_.tree(), rows_.count, space_.rounding(), metric).value_or("");
  }

  std::uint64_t memory_bytes() const override { return rows_.bytes() + tree_.memory_bytes(); }
  std::uint64_t search_bytes(const engine::SearchShape& shape, int) const override {
    return shape.is_self ? 0 : NearQueries<Vectors>::bytes_of(tree_, shape.queries);
  }
  std::string describe() const override {
    std::uint64_t leaves = 0;
    std::uint32_t largest = 0;
    for (const engine::CoverNode& node : tree_.tree().nodes) {
      if (!node.is_leaf()) continue;
      ++leaves;
      largest = std::max(largest, node.count);
    }
    const bool is_by_lists = tree_.tree().separation == engine::CoverSeparation::siblings;
    return fmt::format("cover tree{}: {} points of {} dims, {} nodes, {} leaves of up to {} points ({}), {} bytes",
                       is_by_lists ? " by lists, centres apart below each node only" : "", rows_.count, rows_.dims,
                       tree_.tree().nodes.size(), leaves, largest, instruction_set(), memory_bytes());
  }

 private:
  engine::CoverTree built(const engine::BuildRequest<T>& request) const {
    std::uint64_t evaluations = 0;
    CoverBuildOptions options{.run = request.run, .evaluations = &evaluations};
    if (request.leaf_size != 0) options.leaf_size = request.leaf_size;
    engine::CoverTree tree = request.builder == Builder::lists ? build_cover_tree_by_lists(space_, options)
                                                               : build_cover_tree(space_, options);
    if (request.run.times != nullptr) request.run.times->evaluations += evaluations;
    return tree;
  }

  /// The batch lives as long as what is returned.
  CoverQueries<Vectors> asked(const QueryBatch<T>& queries) const {
    CoverQueries<Vectors> asked;
    asked.count = queries.count;
    if (!queries.is_self()) {
      asked.outside = [this, &queries](std::uint64_t query) { return std::span(queries.row(query), rows_.dims); };
    }
    asked.filter = queries.filter;
    asked.bounds = queries.bounds;
    return asked;
  }

  /// Boxes are looked for in all points, by brute force: its copy of the points costs no more than a box.
  std::unique_ptr<engine::Searcher<T>> scan(const RunOptions& run) const {
    return brute_force<T>().build({.metric = Metric::linf(),
                                   .rows = rows_.rows,
                                   .row_stride = rows_.dims,
                                   .count = rows_.count,
                                   .dims = rows_.dims,
                                   .run = {.threads = run.threads}});
  }

  OwnedRows<T> rows_;
  Vectors space_;
  PreparedTree<Vectors> tree_;
};

template <typename T>
engine::BuildBytes cover_search_bytes(const engine::PlanRequest& request) {
  const std::uint64_t nodes = 2 * request.count;  // if every point is a leaf
  const std::uint64_t row = std::uint64_t{request.dims} * sizeof(T);
  const std::uint64_t tree =
      nodes * sizeof(engine::CoverNode) + request.count * (sizeof(std::uint32_t) + sizeof(double));
  const std::uint64_t index = tree + 2 * request.count * row + nodes * row;
  return {index, index + tree};
}

/// Distances from the root's children, which NearQueries keeps.
template <typename T>
std::uint64_t cover_knn_bytes(const engine::PlanRequest& request, const engine::SearchShape& shape) {
  using Near = NearQueries<VectorSpace<T>>;
  if (shape.is_self) return 0;
  const std::uint64_t some = std::min(shape.queries, Near::kMostQueries);
  return std::min(some * request.count, Near::kMostValues) * sizeof(T) + some * 8;
}

}  // namespace

template <typename T>
engine::PointEngine<T> cover_tree() {
  return {cover_search_bytes<T>, engine::make_searcher<CoverSearch<T>, engine::BuildRequest<T>>,
          engine::make_searcher<CoverSearch<T>, engine::LoadRequest>, cover_knn_bytes<T>};
}

template engine::PointEngine<float> cover_tree();
template engine::PointEngine<double> cover_tree();

}  // namespace kith::cpu
