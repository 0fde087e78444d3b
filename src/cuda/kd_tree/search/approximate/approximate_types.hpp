// Approximate kNN: what its kernel gets.
#pragma once

#include "cuda/kd_tree/search/search_types.hpp"
#include "engine/kd_tree/walk_order.hpp"

#include <cstdint>

namespace kith::cuda {

/// kNN with leave to miss something: engine::KnnRules tells what `shrink` and `max_leaves` mean.
template <typename T>
struct ApproximateTask {
  KnnTask<T> knn;
  T shrink = 1;
  std::uint32_t max_leaves = 0;   ///< 0: no budget
  std::uint8_t* exact = nullptr;  ///< per row of the answer: 1 if it is certainly exact; null: not requested
};

}  // namespace kith::cuda
