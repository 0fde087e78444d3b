// A request to a tree in the memory of a GPU, and to the whole index there.
#pragma once

#include "cuda/runtime/device_scope.hpp"
#include "cuda/kd_tree/search/tree_engine.hpp"
#include "cuda/kd_tree/tree_copies.hpp"
#include "cuda/queries/batch_search.hpp"
#include "cuda/kd_tree/search_request.hpp"

#include <kith/index.hpp>

#include <cstdint>
#include <span>

namespace kith::test {

inline BuildOptions tree_on(Device device, Metric metric = {}) {
  return {.engine = Engine::kd_tree, .device = device, .metric = metric};
}

/// The tree of a request on the GPU, and what searches there.
template <typename T>
struct OnDevice {
  cuda::DeviceScope scope{0};
  cuda::Stream stream;
  cuda::DeviceTree<T> tree;
  cuda::TreeEngine<T> engine;
  cuda::BatchSearch<T> search;

  OnDevice(const SearchRequest<T>& request, std::uint64_t budget)
      : tree(cuda::copy_tree_to_device(request.tree, stream, {})),
        engine(tree),
        search(engine, request.metric, std::span<const T>(request.period), stream, {budget}) {
    stream.synchronize();
  }
};

}  // namespace kith::test
