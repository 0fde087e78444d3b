// A lower bound of the edit distance that costs a few instructions.
//
// Each sequence has 64 bits; each says "at least t of the symbols are c", for 64 chosen pairs (c, t). The fewest steps
// that turn a into b are some insertions, deletions and replacements; call their numbers I, D and R, so that the
// distance is I + D + R, and |b| - |a| = I - D. A symbol more raises one count by one, which turns on at most one bit;
// a symbol less turns off at most one. So the bits that b has and a has not are at most I + R, and those that a has and
// b has not at most D + R. Hence
//   distance = I + (D + R) >= max(0, |b| - |a|) + bits of a alone,
//   distance = D + (I + R) >= max(0, |a| - |b|) + bits of b alone.
// Symbols of a query that no sequence of the index has are in no count, which changes nothing of this.
#pragma once

#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

/// What the bound knows of a sequence.
struct SymbolCounts {
  std::uint32_t length;
  std::uint32_t low, high;  ///< the bits
};

__device__ __forceinline__ std::uint32_t least_edits(const SymbolCounts& a, const SymbolCounts& b) {
  const std::uint32_t of_a = count_bits(a.low & ~b.low) + count_bits(a.high & ~b.high);
  const std::uint32_t of_b = count_bits(b.low & ~a.low) + count_bits(b.high & ~a.high);
  const std::uint32_t by_a = of_a + (b.length > a.length ? b.length - a.length : 0);
  const std::uint32_t by_b = of_b + (a.length > b.length ? a.length - b.length : 0);
  return by_a > by_b ? by_a : by_b;
}

}  // namespace kith::cuda
