// See build.hpp: the kernels of a build that do not depend on the space, and its memory.
#include "cuda/cover_tree/build/build.hpp"

#include "cuda/runtime/step_device.hpp"
#include "cuda/cover_tree/build/build_steps.cuh"
#include "cuda/runtime/device_memory.hpp"

#include <algorithm>
#include <utility>

namespace kith::cuda {
namespace {

constexpr std::uint64_t kBytesPerNeighbor = 16;  // in the lists of two levels

/// As many neighbours as lists should have room for, if the device has.
std::uint64_t list_capacity(std::uint32_t count, std::uint32_t stride, const CoverRules& rules, int device) {
  const std::uint64_t own = cover::least_list_capacity(count, rules.leaf_size);
  if (rules.is_by_lists()) return own;
  const std::uint64_t wanted = std::max(cover::kNeighbors * count, cover::kFewestNeighbors);
  const std::uint64_t least = cover_build_memory(count, stride, rules.leaf_size).peak_bytes;
  const std::uint64_t free = memory_of_device(device).free;
  constexpr std::uint64_t kSpared = 16;  // a part of what is free
  const std::uint64_t left = free - free / kSpared > least ? free - free / kSpared - least : 0;
  return own + std::min(wanted, left / kBytesPerNeighbor);
}

}  // namespace

namespace cover {

DeviceCoverTree build_with(StepDevice& device, CoverMeasures& measures, PlainRows rows, std::uint32_t count,
                           const CoverRules& rules, const Stream& stream) {
  DeviceCoverTree tree;
  tree.count = count;
  tree.stride = rows.stride;
  tree.rules = rules;
  if (count == 0) return tree;
  const std::uint64_t capacity = list_capacity(count, rows.stride, rules, stream.device());
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

}  // namespace cover
}  // namespace kith::cuda
