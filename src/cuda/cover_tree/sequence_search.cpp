// Sequences and sets on a GPU, in a cover tree or all compared with each other. Sequences become rows of words
// (sequence_words.hpp), which travel as f32 through everything that searches by coordinates do.
#include "cuda/engines.hpp"

#include "cuda/cover_tree/object_cover.hpp"
#include "cuda/cover_tree/search/cover_engine.hpp"
#include "cuda/cover_tree/spaces/sequence_words.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/queries/engine_search.hpp"
#include "cuda/runtime/shared_limit.hpp"
#include "engine/backend.hpp"
#include "engine/cover_tree/one_leaf.hpp"
#include "engine/cover_tree/tree_sections.hpp"
#include "engine/with_memory.hpp"
#include "runtime/large_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <utility>

namespace kith::cuda {
namespace {

using engine::RunOptions;
using engine::SequenceQueries;

/// The space for queries of up to so many items.
AnySpace space_of(const SequenceWords& words, std::uint32_t longest) {
  AnySpace space{.stride = words.words_for(words.longest()), .symbols = words.symbols()};
  switch (words.metric()) {
    case SequenceMetric::edit:
      space.kind = longest <= 32 ? SpaceKind::edit_32 : longest <= 64 ? SpaceKind::edit_64 : SpaceKind::edit_long;
      space.most_prepared = longest;
      return space;
    case SequenceMetric::hamming:
      space.kind = SpaceKind::hamming;
      return space;
    case SequenceMetric::jaccard:
      break;
  }
  space.kind = SpaceKind::jaccard;
  space.most_prepared = words.words_for(longest);
  return space;
}

/// Queries of similar lengths are asked in the same way: so many items, `longest` or some more.
std::uint32_t rounded_length(const SequenceWords& words, std::uint32_t longest) {
  switch (words.metric()) {
    case SequenceMetric::edit:
      return longest <= 32 ? 32 : 64 * edit_blocks(longest);
    case SequenceMetric::hamming:
      return std::max(longest, words.longest());  // the same, unless there are no sequences
    case SequenceMetric::jaccard:
      break;
  }
  return std::bit_ceil(std::max(longest, 16u));
}

/// The rows of sequences on the host.
runtime::LargeBuffer packed(const SequenceWords& words, const engine::SequenceRows& rows, std::uint32_t width,
                            int threads) {
  const std::uint64_t bytes = rows.count * width * sizeof(std::uint32_t);
  return engine::with_memory(bytes, "rows of sequences", [&] {
    runtime::LargeBuffer buffer(bytes);
    words.pack(rows, 0, rows.count, width, buffer.as<std::uint32_t>().data(), threads);
    return buffer;
  });
}

/// What asks queries of up to some length.
struct Asker {
  CoverEngine<float> engine;
  BatchSearch<float> search;

  Asker(const PreparedCover& cover, const SequenceWords& words, std::uint32_t longest, const Stream& stream)
      : engine(cover, space_of(words, longest), words.words_for(longest)), search(engine, Metric::l1(), {}, stream) {}
};

class SequenceSearch final : public ObjectSearch<engine::SequenceSearcher, engine::SequenceRows> {
 public:
  SequenceSearch(Engine engine, SequenceWords words, ObjectCover cover)
      : engine_(engine), words_(std::move(words)), cover_(std::move(cover)) {}

  void save(engine::IndexFileWriter& writer, const RunOptions&) const override {
    if (engine_ == Engine::cover_tree) engine::save_cover_tree(cover_.on_host(), writer);
  }
  std::uint64_t memory_bytes() const override { return cover_.cover.memory_bytes(); }
  std::string describe() const override {
    return engine_ == Engine::brute_force
               ? fmt::format("brute force: {} sequences, {} bytes on the GPU", cover_.cover.size(), memory_bytes())
               : fmt::format("cover tree: {} sequences, {} nodes, {} bytes on the GPU", cover_.cover.size(),
                             cover_.cover.node_count(), memory_bytes());
  }

 private:
  Asked ask(const SequenceQueries& queries, const RunOptions& run) const override {
    const std::uint32_t longest =
        rounded_length(words_, queries.is_self() ? words_.longest() : words_.require_short(queries.rows));
    Asked asked{search_for(longest), batch_of(queries, nullptr, 0)};
    if (queries.is_self()) return asked;
    const std::uint32_t width = words_.words_for(longest);
    asked.rows = packed(words_, queries.rows, width, run.threads);
    asked.batch = batch_of(queries, asked.rows.data(), width);
    static constexpr float kNothing = 0;  // where no query is, but no self-search either
    if (queries.count == 0) asked.batch.rows = &kNothing;
    return asked;
  }

  const BatchSearch<float>& search_for(std::uint32_t longest) const {
    const DeviceScope scope(cover_.stream.device());
    const std::lock_guard lock(mutex_);
    auto& asker = askers_[longest];
    if (asker == nullptr) asker = std::make_unique<Asker>(cover_.cover, words_, longest, cover_.stream);
    return asker->search;
  }

  Engine engine_;
  SequenceWords words_;
  ObjectCover cover_;
  mutable std::mutex mutex_;
  mutable std::map<std::uint32_t, std::unique_ptr<Asker>> askers_;  ///< by length
};

/// With a tree if it is there already.
std::unique_ptr<engine::SequenceSearcher> make(const engine::SequenceBuildRequest& request,
                                               const engine::CoverTree* tree) {
  SequenceWords words(request.rows, request.metric, shared_limit_of(request.device.ordinal()));
  const AnySpace space = space_of(words, rounded_length(words, words.longest()));
  const runtime::LargeBuffer rows = packed(words, request.rows, space.stride, request.run.threads);
  const ObjectRows objects{reinterpret_cast<const std::uint32_t*>(rows.data()),
                           static_cast<std::uint32_t>(request.rows.count)};
  ObjectCover cover =
      tree != nullptr ? take_object_cover(space, objects, *tree, request.device.ordinal(), request.run)
                      : build_object_cover(space, objects, request.leaf_size, request.device.ordinal(), request.run);
  return std::make_unique<SequenceSearch>(request.engine, std::move(words), std::move(cover));
}

}  // namespace

std::unique_ptr<engine::SequenceSearcher> build_sequence_search(const engine::SequenceBuildRequest& request) {
  if (request.engine == Engine::cover_tree) return make(request, nullptr);
  const engine::CoverTree leaf = engine::one_leaf_tree(static_cast<std::uint32_t>(request.rows.count));
  return make(request, &leaf);
}

std::unique_ptr<engine::SequenceSearcher> load_sequence_search(const engine::SequenceLoadRequest& request) {
  if (!request.file.is_trusted()) engine::cpu_backend().load_objects(request);  // it checks what the file holds
  if (request.made.engine == Engine::brute_force) return build_sequence_search(request.made);
  const engine::CoverTree tree = engine::cover_tree_in_file(request.file);
  return make(request.made, &tree);
}

}  // namespace kith::cuda
