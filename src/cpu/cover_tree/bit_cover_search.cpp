// Rows of bits on the CPU by a cover tree, for rows that lie in clusters.
#include "cpu/engines.hpp"

#include "cpu/cover_tree/bit_space.hpp"
#include "cpu/cover_tree/object_search.hpp"

#include <algorithm>
#include <string>

namespace kith::cpu {
namespace {

using engine::SectionId;

/// Keeps the rows, which the tree does not hold in their order.
class BitCoverSearch final : public ObjectSearch<BitSpace, engine::BitSearcher, engine::BitRows> {
 public:
  explicit BitCoverSearch(const engine::BitBuildRequest& request)
      : ObjectSearch(request), rows_(request.rows), owner_(request.owner) {}
  explicit BitCoverSearch(const engine::BitLoadRequest& request)
      : ObjectSearch(request), rows_(request.made.rows), owner_(request.made.owner) {}

  void copy_rows(std::uint64_t* words, const engine::RunOptions&) const override {
    std::copy_n(rows_.words, rows_.count * rows_.words_per_row, words);
  }
  std::uint64_t memory_bytes() const override {
    return tree().memory_bytes() + rows_.count * rows_.words_per_row * sizeof(std::uint64_t);
  }
  std::string describe() const override { return tree().describe(Engine::cover_tree, "rows"); }

 private:
  engine::BitRows rows_;
  std::shared_ptr<const void> owner_;
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
