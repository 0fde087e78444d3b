// See bit_cover_search.hpp.
#include "cpu/cover_tree/bit_cover_search.hpp"

#include "cpu/cover_tree/bit_space.hpp"
#include "cpu/cover_tree/object_tree.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace kith::cpu {
namespace {

using engine::BitQueries;
using engine::RunOptions;
using engine::SectionId;

class BitCoverSearch final : public engine::BitSearcher {
 public:
  explicit BitCoverSearch(const engine::BitBuildRequest& request)
      : rows_(request.rows), owner_(request.owner), tree_(BitSpace(rows_), options_of(request)) {}
  explicit BitCoverSearch(const engine::BitLoadRequest& request)
      : rows_(request.made.rows),
        owner_(request.made.owner),
        tree_(BitSpace(rows_), request.file, options_of(request.made)) {}

  void knn(const BitQueries& queries, std::uint32_t k, const engine::KnnRules<float>& rules, const RunOptions& run,
           std::uint32_t* indices, float* distances, std::uint8_t* exact) const override {
    find_nearest(tree_.prepared(), asked(queries), k, rules, run, indices, distances, exact);
  }
  engine::ChainLists<float> radius(const BitQueries& queries, float bound, std::uint32_t most,
                                   const RunOptions& run) const override {
    return find_within(tree_.prepared(), asked(queries), bound, most, run);
  }
  void count(const BitQueries& queries, float bound, const RunOptions& run, std::uint32_t* counts) const override {
    count_within(tree_.prepared(), asked(queries), bound, run, counts);
  }

  void copy_rows(std::uint64_t* words, const RunOptions&) const override {
    std::copy_n(rows_.words, rows_.count * rows_.words_per_row, words);
  }
  void save(engine::IndexFileWriter& writer, const RunOptions&) const override {
    tree_.save(writer, Engine::cover_tree);
  }
  std::string first_violation() const override { return tree_.first_violation(Engine::cover_tree); }
  std::uint64_t memory_bytes() const override {
    return tree_.memory_bytes() + rows_.count * rows_.words_per_row * sizeof(std::uint64_t);
  }
  std::string describe() const override { return tree_.describe(Engine::cover_tree, "rows"); }

 private:
  static ObjectTreeOptions options_of(const engine::BitBuildRequest& request) {
    return {Engine::cover_tree, request.leaf_size, request.run};
  }
  /// The queries live as long as what is returned.
  static CoverQueries<BitSpace> asked(const BitQueries& queries) {
    CoverQueries<BitSpace> asked;
    asked.count = queries.count();
    if (!queries.is_self()) asked.outside = [rows = queries.rows](std::uint64_t query) { return rows.row(query); };
    asked.filter = queries.filter;
    return asked;
  }

  engine::BitRows rows_;
  std::shared_ptr<const void> owner_;
  ObjectTree<BitSpace> tree_;
};

}  // namespace

std::unique_ptr<engine::BitSearcher> build_bit_cover_search(const engine::BitBuildRequest& request) {
  return std::make_unique<BitCoverSearch>(request);
}

std::unique_ptr<engine::BitSearcher> load_bit_cover_search(const engine::BitLoadRequest& request) {
  request.file.require_only(
      {SectionId::words, SectionId::cover_nodes, SectionId::cover_order, SectionId::cover_distances});
  return std::make_unique<BitCoverSearch>(request);
}

}  // namespace kith::cpu
