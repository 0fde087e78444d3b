// A prepared object that is its row: a copy in shared memory, or, if the row is long, where it lies.
#pragma once

#include "cuda/cover_tree/spaces/space.cuh"
#include "cuda/primitives/intrinsics.cuh"

#include <cstring>

namespace kith::cuda {

/// The first 16 bytes of what is prepared say where the row is; up to kMost words of it follow.
struct CopiedRow {
  static constexpr std::uint32_t kMost = 2048;
  static constexpr std::uint32_t kHead = 16;
  static_assert(sizeof(RowView) <= kHead);
  struct alignas(16) FourWords {
    std::uint32_t words[4];
  };

  KITH_HOST_DEVICE static std::uint32_t bytes_for(std::uint32_t words) {
    return kHead + (words > kMost ? 0 : (words * 4 + 15) / 16 * 16);
  }
  /// By the warp; `memory` has bytes_for(most) bytes, and most >= words.
  __device__ static void prepare(std::byte* memory, RowView row, std::uint32_t words, std::uint32_t most) {
    auto* copy = reinterpret_cast<std::uint32_t*>(memory + kHead);
    if (most <= kMost) {
      for (std::uint32_t w = lane_number(); w < words; w += kWarp) copy[w] = row[w];
      row = {copy, 1};
    }
    if (lane_number() == 0) std::memcpy(memory, &row, sizeof(row));
    sync_warp();
  }
  /// The sum of step(a word of what was prepared, the same word of a row) over all words.
  template <typename Step>
  __device__ static std::uint32_t sum_of_steps(const std::byte* prepared, RowView row, std::uint32_t words,
                                               const Step& step) {
    std::uint32_t sum = 0;
    if (words > kMost) {
      const RowView from = of(prepared);
      for (std::uint32_t w = 0; w < words; ++w) sum += step(from[w], row[w]);
      return sum;
    }
    const auto* copy = reinterpret_cast<const std::uint32_t*>(prepared + kHead);
    std::uint32_t w = 0;
#pragma unroll 2
    for (; w + 4 <= words; w += 4) {
      const auto four = *reinterpret_cast<const FourWords*>(copy + w);
#pragma unroll
      for (std::uint32_t i = 0; i < 4; ++i) sum += step(four.words[i], row[w + i]);
    }
    for (; w < words; ++w) sum += step(copy[w], row[w]);
    return sum;
  }
  __device__ static RowView of(const std::byte* prepared) {
    RowView row;
    std::memcpy(&row, prepared, sizeof(row));
    return row;
  }
};

}  // namespace kith::cuda
