// Rows that are cut in parts, where they lie, so that many can work on a row.
//
// First the k least of each part go to its front. Then one block moves them all to the front of the row, into what is
// left of the first part, and selects from them.
#pragma once

#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

struct RowParts {
  std::uint32_t count = 1;   ///< of the longest row; 1: rows are not cut
  std::uint32_t length = 0;  ///< of a part: at least count * k

  /// Not more than `most` parts of at least `shortest` entries; the fewest that keep the first part large enough.
  RowParts(std::uint32_t longest, std::uint32_t k, std::uint32_t shortest, std::uint64_t most) {
    count = static_cast<std::uint32_t>(longest / shortest < most ? longest / shortest : most);
    for (; count > 1; --count) {
      length = (longest + count - 1) / count;
      if (std::uint64_t{count} * k <= length) return;
    }
    count = 1;
    length = longest;
  }
};

/// By a block: what was selected from the parts goes to the front of a row of `length`. Returns how many they are, none
/// included.
template <typename Value>
__device__ __forceinline__ std::uint32_t join_parts(Value* row, std::uint32_t length, std::uint32_t part,
                                                    std::uint32_t k) {
  if (length == 0) return 0;
  const std::uint32_t last = (length - 1) / part, rest = length - last * part;
  const std::uint32_t joined = last * k + (rest < k ? rest : k);
  for (std::uint32_t i = k + thread_number(); i < joined; i += threads_per_block()) {
    row[i] = row[i / k * part + i % k];
  }
  sync_block();
  return joined;
}

}  // namespace kith::cuda
