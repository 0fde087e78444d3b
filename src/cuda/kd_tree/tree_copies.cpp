// See tree_copies.hpp.
#include "cuda/kd_tree/tree_copies.hpp"

#include "runtime/large_buffer.hpp"

#include <cstring>
#include <memory>
#include <utility>

namespace kith::cuda {
namespace {

/// The memory of a tree that came from a GPU. None of it is filled with zeros first.
struct HostArrays {
  runtime::LargeBuffer blocks, split_dims, split_values, boxes, smallest;
};

}  // namespace

template <typename T>
TreeShape shape_of(const engine::KdTree<T>& tree) {
  return {.geometry = tree.geometry, .dims = tree.dims, .point_bytes = tree.point_bytes, .cycles = tree.cycles};
}

template <typename T>
DeviceTree<T> copy_tree_to_device(const engine::KdTree<T>& tree, const Stream& stream, const CopyOptions& options) {
  DeviceTree<T> copy(shape_of(tree), tree.leaf_size, stream);
  const auto send = [&](auto& to, auto from) {
    copy_to_device(to.data(), from.data(), from.size_bytes(), stream, options);
  };
  send(copy.blocks, tree.blocks);
  send(copy.split_dims, tree.split_dims);
  send(copy.split_values, tree.split_values);
  send(copy.boxes, tree.boxes);
  send(copy.smallest, tree.smallest);
  return copy;
}

template <typename T>
engine::KdTree<T> copy_tree_to_host(const DeviceTree<T>& tree, const Stream& stream, const CopyOptions& options) {
  auto arrays = std::make_shared<HostArrays>();
  const auto fetch = [&]<typename U>(runtime::LargeBuffer& to, const DeviceBuffer<U>& from, std::uint64_t slack) {
    to = runtime::LargeBuffer(from.bytes() + slack);
    copy_to_host(to.data(), from.data(), from.bytes(), stream, options);
    if (slack > 0) std::memset(to.data() + from.bytes(), 0, slack);
    return std::span<const U>(reinterpret_cast<const U*>(to.data()), from.size());
  };
  engine::KdTree<T> copy;
  copy.geometry = tree.shape.geometry;
  copy.dims = tree.shape.dims;
  copy.leaf_size = tree.leaf_size;
  copy.cycles = tree.shape.cycles;
  copy.point_bytes = tree.shape.point_bytes;
  copy.blocks = fetch(arrays->blocks, tree.blocks, engine::kBlockSlack);
  copy.split_dims = fetch(arrays->split_dims, tree.split_dims, 0);
  copy.split_values = fetch(arrays->split_values, tree.split_values, 0);
  copy.boxes = fetch(arrays->boxes, tree.boxes, 0);
  copy.smallest = fetch(arrays->smallest, tree.smallest, 0);
  copy.owner = std::move(arrays);
  return copy;
}

template TreeShape shape_of(const engine::KdTree<float>&);
template TreeShape shape_of(const engine::KdTree<double>&);
template DeviceTree<float> copy_tree_to_device(const engine::KdTree<float>&, const Stream&, const CopyOptions&);
template DeviceTree<double> copy_tree_to_device(const engine::KdTree<double>&, const Stream&, const CopyOptions&);
template engine::KdTree<float> copy_tree_to_host(const DeviceTree<float>&, const Stream&, const CopyOptions&);
template engine::KdTree<double> copy_tree_to_host(const DeviceTree<double>&, const Stream&, const CopyOptions&);

}  // namespace kith::cuda
