// See check_tree.hpp.
#include "cuda/kd_tree/check/check_tree.hpp"

#include "cuda/runtime/check.hpp"
#include "cuda/kd_tree/check/check_tree_steps.cuh"

#include <algorithm>

namespace kith::cuda {

std::uint64_t check_scratch_bytes(const core::KdGeometry& geometry) { return CheckScratchLayout(geometry).bytes; }

template <typename T>
bool is_contract_tree(const TreeArrays<T>& tree, const TreeShape& shape, std::uint32_t leaf_size, std::byte* scratch,
                      cudaStream_t stream) {
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  constexpr const char* kDoing = "checking a k-d tree";
  if (shape.geometry.levels != core::KdGeometry::of(shape.geometry.points, leaf_size).levels) return false;
  const TreeCheck<T> facts = tree_check(tree, shape, scratch);
  check(cudaMemsetAsync(scratch, 0, CheckScratchLayout(shape.geometry).zero_bytes, stream), kDoing);
  launch_check_steps(facts, scratch, [&](std::uint64_t threads, auto kernel, auto... arguments) {
    const std::uint64_t blocks = std::min((threads + kCheckThreads - 1) / kCheckThreads, kMostBlocks);
    kernel<<<static_cast<unsigned>(blocks), kCheckThreads, 0, stream>>>(arguments...);
    check_launch(kDoing);
  });
  std::uint32_t refused = 1;
  check(cudaMemcpyAsync(&refused, facts.refused, sizeof(refused), cudaMemcpyDeviceToHost, stream), kDoing);
  check(cudaStreamSynchronize(stream), kDoing);
  return refused == 0;
}

template bool is_contract_tree(const TreeArrays<float>&, const TreeShape&, std::uint32_t, std::byte*, cudaStream_t);
template bool is_contract_tree(const TreeArrays<double>&, const TreeShape&, std::uint32_t, std::byte*, cudaStream_t);

}  // namespace kith::cuda
