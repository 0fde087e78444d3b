// See build.hpp: the kernels of a build that do not depend on the space, and its memory.
#include "cuda/cover_tree/build/build.hpp"

#include "cuda/runtime/step_device.hpp"
#include "cuda/cover_tree/build/build_steps.cuh"
#include "cuda/runtime/device_memory.hpp"

namespace kith::cuda::cover {

DeviceCoverTree build_with(StepDevice& device, CoverMeasures& measures, PlainRows rows, std::uint32_t count,
                           const CoverRules& rules, const Stream& stream) {
  DeviceCoverTree tree;
  tree.count = count;
  tree.stride = rows.stride;
  tree.rules = rules;
  if (count == 0) return tree;
  const std::uint64_t capacity = cover_list_capacity(count, rows.stride, rules, memory_of_device(stream.device()).free);
  tree.order = {count, stream};
  tree.distances = {count, stream};
  tree.row_words = {ArrangedRows::words_of(count, rows.stride), stream};
  DeviceBuffer<std::byte> memory(lay_out_cover_scratch(count, capacity, nullptr).bytes, stream);
  const CoverScratch scratch = lay_out_cover_scratch(count, capacity, memory.data());
  const CoverOutput output{tree.row_words.data(), tree.order.data(), tree.distances.data()};
  const std::uint32_t nodes = CoverBuild<StepDevice>(device, measures, scratch, output, rows, count, rules).run();
  tree.nodes = {nodes, stream};
  check(cudaMemcpyAsync(tree.nodes.data(), scratch.nodes, tree.nodes.bytes(), cudaMemcpyDeviceToDevice, stream.get()),
        "building a cover tree");
  Counters counters;
  device.read(&counters, scratch.counters, sizeof(counters));
  tree.evaluations = counters.evaluations;
  device.report();
  return tree;
}

}  // namespace kith::cuda::cover
