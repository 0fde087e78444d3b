// What the kernels of a search get: a cover tree in device memory, and what it is asked. Plain data.
#pragma once

#include "core/host_device.hpp"
#include "cuda/cover_tree/search/cover_head.cuh"
#include "cuda/cover_tree/spaces/space.cuh"
#include "cuda/cover_tree/tuning.hpp"
#include "cuda/queries/requests.hpp"
#include "engine/cover_tree/cover_tree.hpp"

#include <cstdint>

namespace kith::cuda {

/// What a search does with a node.
enum class CoverKind : std::uint8_t {
  inner,
  leaf,
  same  ///< a leaf of objects that all are as its centre: measured once, numbers ascending
};

/// The nodes of a tree as a search reads them: an array for each value, because lanes read the same of 32 nodes.
struct CoverNodes {
  double* reach = nullptr;
  double* to_parent = nullptr;
  std::uint32_t* first = nullptr;  ///< a child; of a leaf an object, by position
  std::uint32_t* count = nullptr;  ///< of children; of a leaf of objects
  std::uint32_t* objects = nullptr;
  std::uint32_t* lowest = nullptr;
  CoverKind* kind = nullptr;

  static constexpr std::uint64_t kBytes = kCoverNodeBytes;  ///< per node

  CoverNodes() = default;
  /// In memory aligned to 8 bytes, of count * kBytes.
  CoverNodes(std::byte* memory, std::uint64_t nodes) {
    reach = reinterpret_cast<double*>(memory);
    to_parent = reach + nodes;
    first = reinterpret_cast<std::uint32_t*>(to_parent + nodes);
    count = first + nodes;
    objects = count + nodes;
    lowest = objects + nodes;
    kind = reinterpret_cast<CoverKind*>(lowest + nodes);
  }
};

/// A tree prepared for searches. Positions are those of engine::CoverTree::order.
struct CoverSearchTree {
  CoverNodes nodes;
  const std::uint32_t* order = nullptr;
  const double* distances = nullptr;  ///< null: the distances to the centres of their leaves are unknown
  ArrangedRows objects;               ///< by position
  ArrangedRows centres;               ///< by node
  CoverHead* object_heads = nullptr;  ///< by position; null: for spaces that need none
  CoverHead* node_heads = nullptr;    ///< by node; the same
  std::uint32_t count = 0;            ///< of objects; at least one
  std::uint32_t height = 0;           ///< the most steps from the root to a leaf
  bool uses_bounds = true;            ///< of the space; without them all that is looked at is measured, to compare
};

/// kNN; `exact` is written if not null.
template <typename Space>
struct CoverKnnTask {
  Space space;
  CoverSearchTree tree;
  KnnRequest<typename Space::Value> request;
  typename Space::Value shrink = 1;  ///< as engine::KnnRules says
  std::uint8_t* exact = nullptr;     ///< per row of the answer
};

/// Everything within a bound: first how many, then what.
template <typename Space>
struct CoverRadiusTask {
  Space space;
  CoverSearchTree tree;
  RadiusRequest<typename Space::Value> request;
};

}  // namespace kith::cuda
