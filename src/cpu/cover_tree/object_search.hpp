// The searcher of objects that are no vectors: a batch of queries becomes one of their space.
#pragma once

#include "cpu/cover_tree/object_tree.hpp"
#include "engine/object_searcher.hpp"

#include <cstdint>
#include <string>

namespace kith::cpu {

/// `Base` is the searcher of a backend that this is; `Rows` are the objects.
template <Space S, typename Base, typename Rows>
class ObjectSearch : public Base {
 public:
  using Queries = engine::ObjectQueries<Rows>;

  explicit ObjectSearch(const engine::ObjectBuildRequest<Rows>& request)
      : engine_(request.engine), tree_(S(request.rows), options_of(request)) {}
  explicit ObjectSearch(const engine::ObjectLoadRequest<Rows>& request)
      : engine_(request.made.engine), tree_(S(request.made.rows), request.file, options_of(request.made)) {}

  void knn(const Queries& queries, std::uint32_t k, const engine::KnnRules<float>& rules, const engine::RunOptions& run,
           std::uint32_t* indices, float* distances, std::uint8_t* exact) const override {
    find_nearest(tree_.prepared(), asked(queries), k, rules, run, indices, distances, exact);
  }
  engine::ReducedLists<float> radius(const Queries& queries, float bound, std::uint32_t most,
                                     const engine::RunOptions& run) const override {
    return find_within(tree_.prepared(), asked(queries), bound, most, run);
  }
  void count(const Queries& queries, float bound, const engine::RunOptions& run, std::uint32_t* counts) const override {
    count_within(tree_.prepared(), asked(queries), bound, run, counts);
  }

  void save(engine::IndexFileWriter& writer, const engine::RunOptions&) const override { tree_.save(writer, engine_); }
  std::string first_violation() const override { return tree_.first_violation(engine_); }
  std::uint64_t memory_bytes() const override { return tree_.memory_bytes(); }
  std::uint64_t search_bytes(const engine::SearchShape& shape, int) const override {
    return shape.is_self ? 0 : NearQueries<S>::bytes_of(tree_.prepared(), shape.queries);
  }
  std::string describe() const override { return tree_.describe(engine_, "sequences"); }

 protected:
  const ObjectTree<S>& tree() const { return tree_; }

 private:
  static ObjectTreeOptions options_of(const engine::ObjectBuildRequest<Rows>& request) {
    return {request.engine, request.leaf_size, request.run};
  }
  /// The queries live as long as what is returned.
  static CoverQueries<S> asked(const Queries& queries) {
    CoverQueries<S> asked;
    asked.count = queries.count;
    if (!queries.is_self()) asked.outside = [rows = queries.rows](std::uint64_t query) { return rows.row(query); };
    asked.filter = queries.filter;
    asked.bounds = queries.bounds;
    return asked;
  }

  Engine engine_;
  ObjectTree<S> tree_;
};

}  // namespace kith::cpu
