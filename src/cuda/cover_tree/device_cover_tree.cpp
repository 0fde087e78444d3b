// See device_cover_tree.hpp.
#include "cuda/cover_tree/device_cover_tree.hpp"

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_scope.hpp"

#include <memory>
#include <vector>

namespace kith::cuda {
namespace {

struct HostArrays {
  std::vector<engine::CoverNode> nodes;
  std::vector<std::uint32_t> order;
  std::vector<double> distances;
};

template <typename V>
void copy_array(std::vector<V>& to, const DeviceBuffer<V>& from, const Stream& stream) {
  to.resize(from.size());
  if (to.empty()) return;
  check(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost, stream.get()),
        "copying a cover tree from the GPU");
}

}  // namespace

engine::CoverTree copy_to_host(const DeviceCoverTree& tree, const Stream& stream) {
  const DeviceScope scope(stream.device());
  const auto arrays = std::make_shared<HostArrays>();
  copy_array(arrays->nodes, tree.nodes, stream);
  copy_array(arrays->order, tree.order, stream);
  copy_array(arrays->distances, tree.distances, stream);
  stream.synchronize();
  return {tree.rules.leaf_size, tree.rules.separation, arrays->nodes, arrays->order, arrays->distances, arrays};
}

}  // namespace kith::cuda
