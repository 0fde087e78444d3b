// See bit_cover_search.hpp. Words travel as f32 through everything that searches by coordinates do, as in
// cuda/brute_force/bit_search.cpp.
#include "cuda/cover_tree/bit_cover_search.hpp"

#include "cuda/cover_tree/object_cover.hpp"
#include "cuda/cover_tree/search/cover_engine.hpp"
#include "cuda/search/batch_search.hpp"
#include "engine/backend.hpp"
#include "engine/cover_tree/tree_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kith::cuda {
namespace {

using engine::BitQueries;
using engine::RunOptions;

AnySpace space_of(const engine::BitRows& rows) {
  return {.kind = SpaceKind::bits, .stride = 2 * rows.words_per_row};  // of 32 bits
}
ObjectRows rows_of(const engine::BitRows& rows) {
  return {reinterpret_cast<const std::uint32_t*>(rows.words), static_cast<std::uint32_t>(rows.count)};
}

class BitCoverSearch final : public engine::BitSearcher {
 public:
  BitCoverSearch(const engine::BitBuildRequest& request, ObjectCover cover)
      : rows_(request.rows),
        owner_(request.owner),
        cover_(std::move(cover)),
        engine_(cover_.cover, space_of(rows_), 2 * rows_.words_per_row),
        search_(engine_, Metric::l1(), {}, cover_.stream) {}

  void knn(const BitQueries& queries, std::uint32_t k, const engine::KnnRules<float>& rules, const RunOptions& run,
           std::uint32_t* indices, float* distances, std::uint8_t* exact) const override {
    search_.knn(batch_of(queries), k, rules, run, indices, distances, exact);
  }
  engine::ChainLists<float> radius(const BitQueries& queries, float bound, std::uint32_t most,
                                   const RunOptions& run) const override {
    return search_.radius(batch_of(queries), bound, most, run);
  }
  void count(const BitQueries& queries, float bound, const RunOptions& run, std::uint32_t* counts) const override {
    search_.count(batch_of(queries), bound, run, counts);
  }
  void copy_rows(std::uint64_t* words, const RunOptions&) const override {
    std::copy_n(rows_.words, rows_.count * rows_.words_per_row, words);
  }
  void save(engine::IndexFileWriter& writer, const RunOptions&) const override {
    engine::save_cover_tree(cover_.on_host(), writer);
  }
  std::uint64_t memory_bytes() const override {
    return cover_.cover.memory_bytes() + rows_.count * rows_.words_per_row * sizeof(std::uint64_t);
  }
  std::string describe() const override {
    return fmt::format("cover tree: {} rows of {} words, {} nodes, {} bytes on the GPU", rows_.count,
                       rows_.words_per_row, cover_.cover.node_count(), cover_.cover.memory_bytes());
  }

 private:
  engine::QueryBatch<float> batch_of(const BitQueries& queries) const {
    return {.rows = reinterpret_cast<const float*>(queries.rows.words),
            .row_stride = engine_.dims(),
            .count = queries.count(),
            .filter = queries.filter};
  }

  engine::BitRows rows_;
  std::shared_ptr<const void> owner_;
  ObjectCover cover_;
  CoverEngine<float> engine_;
  BatchSearch<float> search_;
};

}  // namespace

std::unique_ptr<engine::BitSearcher> build_bit_cover_search(const engine::BitBuildRequest& request) {
  return std::make_unique<BitCoverSearch>(
      request, build_object_cover(space_of(request.rows), rows_of(request.rows), request.leaf_size,
                                  request.device.ordinal(), request.run));
}

std::unique_ptr<engine::BitSearcher> load_bit_cover_search(const engine::BitLoadRequest& request) {
  if (!request.file.is_trusted()) engine::cpu_backend().load_bits(request);
  const engine::BitBuildRequest& made = request.made;
  return std::make_unique<BitCoverSearch>(
      made, take_object_cover(space_of(made.rows), rows_of(made.rows), engine::cover_tree_in_file(request.file),
                              made.device.ordinal(), made.run));
}

}  // namespace kith::cuda
