// How a cover tree is built on a GPU.
#pragma once

#include "engine/cover_tree/cover_tree.hpp"

#include <kith/index.hpp>

#include <cstdint>

namespace kith::cuda {

/// `siblings` is the separation of a tree that is built by lists of near and far objects.
struct CoverRules {
  std::uint32_t leaf_size = engine::kCoverLeafSize;
  engine::CoverSeparation separation = engine::CoverSeparation::global;

  /// As a request has them.
  static CoverRules of(std::uint32_t wanted_leaf_size, Builder builder) {
    return {engine::cover_leaf_size(wanted_leaf_size),
            builder == Builder::lists ? engine::CoverSeparation::siblings : engine::CoverSeparation::global};
  }
  bool is_by_lists() const { return separation == engine::CoverSeparation::siblings; }
};

}  // namespace kith::cuda
