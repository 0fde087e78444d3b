// Sequences and sets on the CPU: by a cover tree, or each query with each of them.
#include "cpu/engines.hpp"

#include "cpu/cover_tree/edit_space.hpp"
#include "cpu/cover_tree/hamming_space.hpp"
#include "cpu/cover_tree/jaccard_space.hpp"
#include "cpu/cover_tree/object_search.hpp"

namespace kith::cpu {
namespace {

using engine::SectionId;

template <Space S>
using SequenceSearch = ObjectSearch<S, engine::SequenceSearcher, engine::SequenceRows>;

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
