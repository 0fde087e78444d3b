// See prepared_cover.hpp.
#include "cuda/cover_tree/search/prepared_cover.hpp"

#include "cuda/runtime/check.hpp"
#include "cuda/cover_tree/search/prepare_steps.cuh"
#include "cuda/queries/search_launcher.cuh"
#include "cuda/runtime/staging.hpp"

#include <utility>

namespace kith::cuda {
namespace {

template <typename V>
DeviceBuffer<V> copied(std::span<const V> values, const Stream& stream) {
  DeviceBuffer<V> copy(values.size(), stream);
  if (!values.empty()) copy_to_device(copy.data(), values.data(), values.size_bytes(), stream, {});
  return copy;
}

}  // namespace

PreparedCover::PreparedCover(DeviceCoverTree tree, const std::uint32_t* rows, bool has_heads, const Stream& stream)
    : tree_(std::move(tree)) {
  if (tree_.count == 0) return;
  const std::uint64_t nodes = tree_.nodes.size();
  centres_ = {ArrangedRows::words_of(nodes, tree_.stride), stream};
  nodes_ = {nodes * CoverNodes::kBytes, stream};
  DeviceBuffer<std::uint32_t> centre_of(nodes, stream), height(1, stream);
  check(cudaMemsetAsync(height.data(), 0, height.bytes(), stream.get()), "writing zeros");
  view_.nodes = CoverNodes(nodes_.data(), nodes);
  view_.order = tree_.order.data();
  view_.distances = tree_.distances.size() == 0 ? nullptr : tree_.distances.data();
  view_.objects = tree_.rows();
  view_.centres = {centres_.data(), tree_.stride};
  view_.count = tree_.count;
  if (has_heads) {
    heads_ = {tree_.count + nodes, stream};
    view_.object_heads = heads_.data();
    view_.node_heads = heads_.data() + tree_.count;
  }
  launch_prepare_steps({rows, tree_.stride}, tree_.nodes.data(), nodes, view_, centre_of.data(), centres_.data(),
                       height.data(), SearchLauncher(stream));
  check(cudaMemcpyAsync(&view_.height, height.data(), height.bytes(), cudaMemcpyDeviceToHost, stream.get()),
        "copying a word to the host");
  stream.synchronize();
}

DeviceCoverTree copy_to_device(const engine::CoverTree& tree, const std::uint32_t* rows, std::uint32_t stride,
                               const Stream& stream) {
  DeviceCoverTree copy;
  copy.count = tree.size();
  copy.stride = stride;
  copy.rules = {tree.leaf_size, tree.separation};
  if (copy.count == 0) return copy;
  copy.nodes = copied(tree.nodes, stream);
  copy.order = copied(tree.order, stream);
  copy.distances = copied(tree.distances, stream);
  copy.row_words = {ArrangedRows::words_of(copy.count, stride), stream};
  SearchLauncher launch(stream);
  launch_arrange_rows({rows, stride}, copy.order.data(), copy.count, copy.row_words.data(), launch);
  return copy;
}

void choose_positions(const CoverSearchTree& tree, std::uint32_t first, std::uint32_t end, std::uint32_t* chosen,
                      std::uint32_t* chosen_count, const Stream& stream) {
  check(cudaMemsetAsync(chosen_count, 0, sizeof(std::uint32_t), stream.get()), "searching");
  launch_choose_positions(tree, first, end, chosen, chosen_count, SearchLauncher(stream));
}

}  // namespace kith::cuda
