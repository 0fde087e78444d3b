// See sequence_search.hpp.
#include "cpu/cover_tree/sequence_search.hpp"

#include "cpu/cover_tree/edit_space.hpp"
#include "cpu/cover_tree/hamming_space.hpp"
#include "cpu/cover_tree/jaccard_space.hpp"
#include "cpu/cover_tree/object_tree.hpp"

#include <span>
#include <string>

namespace kith::cpu {
namespace {

using engine::KnnRules;
using engine::RunOptions;
using engine::SectionId;
using engine::SequenceQueries;

ObjectTreeOptions options_of(const engine::SequenceBuildRequest& request) {
  return {request.engine, request.leaf_size, request.run};
}

template <Space S>
class SequenceSearch final : public engine::SequenceSearcher {
 public:
  explicit SequenceSearch(const engine::SequenceBuildRequest& request)
      : engine_(request.engine), tree_(S(request.rows), options_of(request)) {}
  explicit SequenceSearch(const engine::SequenceLoadRequest& request)
      : engine_(request.made.engine), tree_(S(request.made.rows), request.file, options_of(request.made)) {}

  void knn(const SequenceQueries& queries, std::uint32_t k, const KnnRules<float>& rules, const RunOptions& run,
           std::uint32_t* indices, float* distances, std::uint8_t* exact) const override {
    find_nearest(tree_.prepared(), asked(queries), k, rules, run, indices, distances, exact);
  }
  engine::ChainLists<float> radius(const SequenceQueries& queries, float bound, std::uint32_t most,
                                   const RunOptions& run) const override {
    return find_within(tree_.prepared(), asked(queries), bound, most, run);
  }
  void count(const SequenceQueries& queries, float bound, const RunOptions& run, std::uint32_t* counts) const override {
    count_within(tree_.prepared(), asked(queries), bound, run, counts);
  }

  void save(engine::IndexFileWriter& writer, const RunOptions&) const override { tree_.save(writer, engine_); }
  std::string first_violation() const override { return tree_.first_violation(engine_); }
  std::uint64_t memory_bytes() const override { return tree_.memory_bytes(); }
  std::string describe() const override { return tree_.describe(engine_, "sequences"); }

 private:
  /// The queries live as long as what is returned.
  static CoverQueries<S> asked(const SequenceQueries& queries) {
    CoverQueries<S> asked;
    asked.count = queries.count();
    if (!queries.is_self()) asked.outside = [rows = queries.rows](std::uint64_t query) { return rows.row(query); };
    asked.filter = queries.filter;
    return asked;
  }

  Engine engine_;
  ObjectTree<S> tree_;
};

template <typename Request>
std::unique_ptr<engine::SequenceSearcher> make(SequenceMetric metric, const Request& request) {
  switch (metric) {
    case SequenceMetric::edit:
      return std::make_unique<SequenceSearch<EditSpace>>(request);
    case SequenceMetric::hamming:
      return std::make_unique<SequenceSearch<HammingSpace>>(request);
    case SequenceMetric::jaccard:
      break;
  }
  return std::make_unique<SequenceSearch<JaccardSpace>>(request);
}

}  // namespace

std::unique_ptr<engine::SequenceSearcher> build_sequence_search(const engine::SequenceBuildRequest& request) {
  return make(request.metric, request);
}

std::unique_ptr<engine::SequenceSearcher> load_sequence_search(const engine::SequenceLoadRequest& request) {
  if (request.made.engine == Engine::cover_tree) {
    request.file.require_only({SectionId::items, SectionId::offsets, SectionId::cover_nodes, SectionId::cover_order,
                               SectionId::cover_distances});
  } else {
    request.file.require_only({SectionId::items, SectionId::offsets});
  }
  return make(request.made.metric, request);
}

}  // namespace kith::cpu
