// See check_tree.hpp.
#include "cuda/kd_tree/check_tree.hpp"

#include "cuda/kd_tree/check_tree_steps.cuh"

#include <kith/error.hpp>

#include <algorithm>
#include <string>

namespace kith::cuda {
namespace {

void require(cudaError_t status) {
  if (status != cudaSuccess) throw DeviceError(std::string("checking a k-d tree: ") + cudaGetErrorString(status));
}

}  // namespace

std::uint64_t check_scratch_bytes(const core::KdGeometry& geometry) { return CheckScratchLayout(geometry).bytes; }

template <typename T>
bool is_contract_tree(const TreeArrays<T>& tree, const TreeShape& shape, std::uint32_t leaf_size, std::byte* scratch,
                      cudaStream_t stream) {
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  if (shape.geometry.levels != core::KdGeometry::of(shape.geometry.points, leaf_size).levels) return false;
  const TreeCheck<T> check = tree_check(tree, shape, scratch);
  require(cudaMemsetAsync(scratch, 0, CheckScratchLayout(shape.geometry).zero_bytes, stream));
  launch_check_steps(check, scratch, [&](std::uint64_t threads, auto kernel, auto... arguments) {
    const std::uint64_t blocks = std::min((threads + kCheckThreads - 1) / kCheckThreads, kMostBlocks);
    kernel<<<static_cast<unsigned>(blocks), kCheckThreads, 0, stream>>>(arguments...);
    require(cudaGetLastError());
  });
  std::uint32_t refused = 1;
  require(cudaMemcpyAsync(&refused, check.refused, sizeof(refused), cudaMemcpyDeviceToHost, stream));
  require(cudaStreamSynchronize(stream));
  return refused == 0;
}

template bool is_contract_tree(const TreeArrays<float>&, const TreeShape&, std::uint32_t, std::byte*, cudaStream_t);
template bool is_contract_tree(const TreeArrays<double>&, const TreeShape&, std::uint32_t, std::byte*, cudaStream_t);

}  // namespace kith::cuda
