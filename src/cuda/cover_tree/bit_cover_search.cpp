// Rows of bits in a cover tree on a GPU. Words travel as f32 through everything that searches by coordinates do, as in
// cuda/brute_force/bit_search.cpp.
#include "cuda/engines.hpp"

#include "cuda/cover_tree/object_cover.hpp"
#include "cuda/cover_tree/search/cover_engine.hpp"
#include "cuda/queries/engine_search.hpp"
#include "engine/backend.hpp"
#include "engine/cover_tree/tree_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kith::cuda {
namespace {

using engine::RunOptions;

AnySpace space_of(const engine::BitRows& rows) {
  return {.kind = SpaceKind::bits, .stride = 2 * rows.words_per_row};  // of 32 bits
}
ObjectRows rows_of(const engine::BitRows& rows) {
  return {reinterpret_cast<const std::uint32_t*>(rows.words), static_cast<std::uint32_t>(rows.count)};
}

class BitCoverSearch final : public ObjectSearch<engine::BitSearcher, engine::BitRows> {
 public:
  BitCoverSearch(const engine::BitBuildRequest& request, ObjectCover cover)
      : rows_(request.rows),
        owner_(request.owner),
        cover_(std::move(cover)),
        engine_(cover_.cover, space_of(rows_), 2 * rows_.words_per_row),
        search_(engine_, Metric::l1(), {}, cover_.stream),
        array_search_(engine_, Metric::l1(), search_.metric(), cover_.stream.device()) {}

  void copy_rows(std::uint64_t* words, const RunOptions&) const override {
    std::copy_n(rows_.words, rows_.count * rows_.words_per_row, words);
  }
  const engine::DeviceSearcher<float>* on_device() const override { return &array_search_; }
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
  Asked ask(const engine::BitQueries& queries, const RunOptions&) const override {
    return {search_, batch_of(queries, queries.rows.words, engine_.dims())};
  }

  engine::BitRows rows_;
  std::shared_ptr<const void> owner_;
  ObjectCover cover_;
  CoverEngine<float> engine_;
  BatchSearch<float> search_;
  ArraySearch<float> array_search_;
};

}  // namespace

std::unique_ptr<engine::BitSearcher> build_bit_cover_search(const engine::BitBuildRequest& request) {
  return std::make_unique<BitCoverSearch>(
      request, build_object_cover(space_of(request.rows), rows_of(request.rows), request.leaf_size,
                                  request.device.ordinal(), request.run));
}

std::unique_ptr<engine::BitSearcher> load_bit_cover_search(const engine::BitLoadRequest& request) {
  if (!request.file.is_trusted()) engine::cpu_backend().load_objects(request);
  const engine::BitBuildRequest& made = request.made;
  return std::make_unique<BitCoverSearch>(
      made, take_object_cover(space_of(made.rows), rows_of(made.rows), engine::cover_tree_in_file(request.file),
                              made.device.ordinal(), made.run));
}

}  // namespace kith::cuda
