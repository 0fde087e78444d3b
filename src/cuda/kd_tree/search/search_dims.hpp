// From the dims of a tree to those that kernels know when they are compiled.
#pragma once

#include "cuda/kd_tree/search/search_types.hpp"
#include "cuda/kd_tree/tuning.hpp"

#include <cstdint>
#include <type_traits>

namespace kith::cuda {

/// Calls f(std::integral_constant<std::uint32_t, D>{}) with the dims that kernels know at compile time, or 0.
template <typename T, typename F>
void visit_search_dims(const SearchTree<T>& tree, const SearchMetric<T>& metric, F&& f) {
  switch (metric.is_plain_l2() ? tree.dims : 0) {
    case 2:
      return f(std::integral_constant<std::uint32_t, 2>{});
    case 3:
      return f(std::integral_constant<std::uint32_t, 3>{});
    case 4:
      return f(std::integral_constant<std::uint32_t, 4>{});
    default:
      return f(std::integral_constant<std::uint32_t, 0>{});
  }
}

/// With kManyDims for some dims under L2, or 0: without other metrics a kernel takes fewer registers.
template <typename T, typename F>
void visit_runtime_dims(const SearchTree<T>& tree, const SearchMetric<T>& metric, F&& f) {
  if (metric.is_plain_l2() && tree.dims <= kMostManyDims) {
    return f(std::integral_constant<std::uint32_t, kManyDims>{});
  }
  f(std::integral_constant<std::uint32_t, 0>{});
}

/// With either, or with dims of kNN alone.
template <typename T, typename F>
void visit_knn_dims(const SearchTree<T>& tree, const SearchMetric<T>& metric, F&& f) {
  switch (metric.is_plain_l2() ? tree.dims : 0) {
    case 6:
      return f(std::integral_constant<std::uint32_t, 6>{});
    case 7:
      return f(std::integral_constant<std::uint32_t, 7>{});
    case 8:
      return f(std::integral_constant<std::uint32_t, 8>{});
    default:
      if (tree.dims >= kFewestManyDims) return visit_runtime_dims(tree, metric, f);
      visit_search_dims(tree, metric, f);
  }
}

/// Calls f(std::integral_constant<std::uint32_t, D>{}) with the dims that packets of all kinds know.
template <typename F>
void visit_packet_dims(std::uint32_t dims, F&& f) {
  switch (dims) {
    case 2:
      return f(std::integral_constant<std::uint32_t, 2>{});
    case 3:
      return f(std::integral_constant<std::uint32_t, 3>{});
    default:
      return f(std::integral_constant<std::uint32_t, 4>{});
  }
}

/// Calls f(std::integral_constant<std::uint32_t, D>{}) with the dims in which packets have lists of keys.
template <typename F>
void visit_key_dims(std::uint32_t dims, F&& f) {
  if (dims == 5) return f(std::integral_constant<std::uint32_t, 5>{});
  visit_packet_dims(dims, f);
}

}  // namespace kith::cuda
