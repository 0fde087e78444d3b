// Builds a cover tree by the kernels of the GPU, run on the host.
#pragma once

#include "cuda/cover_tree/build/build_steps.cuh"
#include "cuda/cover_tree/spaces/space_measures.cuh"
#include "cuda/emulation/emulated_device.hpp"
#include "engine/cover_tree/cover_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace kith::cuda {

struct EmulatedCoverTree {
  std::vector<engine::CoverNode> nodes;
  std::vector<std::uint32_t> order;
  std::vector<double> distances;
  std::uint64_t launches = 0;
  std::uint64_t evaluations = 0;
};

/// `rows`: count x stride words. `list_capacity`: how many neighbours may be stored; some are in any case.
template <DeviceSpace S>
EmulatedCoverTree emulated_cover_tree(const S& space, const std::vector<std::uint32_t>& rows, std::uint32_t count,
                                      const CoverRules& rules, std::uint64_t list_capacity = 1 << 20,
                                      emulation::Residence residence = emulation::Residence::one_by_one) {
  EmulatedCoverTree tree;
  if (count == 0) return tree;
  list_capacity = std::max(list_capacity, cover::least_list_capacity(count, rules.leaf_size));
  const std::uint64_t bytes = cover::lay_out_cover_scratch(count, list_capacity, nullptr).bytes;
  const auto memory = std::make_unique<std::byte[]>(bytes + 256);
  std::memset(memory.get(), 0xa5, bytes + 256);
  std::byte* aligned = memory.get() + (256 - reinterpret_cast<std::uintptr_t>(memory.get()) % 256) % 256;
  const cover::CoverScratch scratch = cover::lay_out_cover_scratch(count, list_capacity, aligned);
  tree.order.resize(count);
  tree.distances.resize(count);
  std::vector<std::uint32_t> row_words(ArrangedRows::words_of(count, space.stride()));
  EmulatedDevice device;
  device.residence = residence;
  cover::SpaceMeasures<S, EmulatedDevice> measures(space, device);
  const cover::CoverOutput output{row_words.data(), tree.order.data(), tree.distances.data()};
  const std::uint32_t nodes =
      cover::CoverBuild<EmulatedDevice>(device, measures, scratch, output, {rows.data(), space.stride()}, count, rules)
          .run();
  tree.nodes.assign(scratch.nodes, scratch.nodes + nodes);
  tree.launches = device.launches;
  tree.evaluations = scratch.counters->evaluations;
  return tree;
}

}  // namespace kith::cuda
