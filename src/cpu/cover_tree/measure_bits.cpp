// See measure_bits.hpp. Written once, compiled for each instruction set, chosen at run time. A lane is a row.
#include "cpu/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/cover_tree/measure_bits.cpp"
#include <hwy/foreach_target.h>
// The line above must come before the next ones.
#include <hwy/highway.h>

#include "cpu/cover_tree/measure_bits.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using BlockWords = hn::CappedTag<std::uint64_t, kBitBlock>;
#if HWY_TARGET == HWY_SCALAR
using BlockBytes = BlockWords;  // a lane has one word: its bits are counted at once
#else
using BlockBytes = hn::Repartition<std::uint8_t, BlockWords>;
#endif

constexpr std::size_t kBlockLanes = hn::MaxLanes(BlockWords());
constexpr std::size_t kBlockVectors = kBitBlock / kBlockLanes;
/// So many words at most add to the bytes of a vector, each up to 8, before one could overflow.
constexpr std::uint32_t kWordsBetweenSums = 31;

HWY_INLINE hn::Vec<BlockWords> sums_of_block(hn::Vec<BlockBytes> counts) {
#if HWY_TARGET == HWY_SCALAR
  return counts;
#else
  return hn::SumsOf8(counts);
#endif
}

/// The distances of all rows of a block; too low, but beyond the limit, if all are beyond it.
HWY_INLINE void measure_bit_block(const std::uint64_t* rows, std::uint32_t words, const std::uint64_t* query,
                                  float limit, std::uint64_t* distances) {
  const BlockWords lanes;
  const BlockBytes bytes;
  std::fill(distances, distances + kBitBlock, 0);
  for (std::uint32_t first = 0; first < words; first += kWordsBetweenSums) {
    hn::Vec<BlockBytes> counts[kBlockVectors];
    for (auto& count : counts) count = hn::Zero(bytes);
    const std::uint32_t end = std::min(words, first + kWordsBetweenSums);
    for (std::uint32_t w = first; w < end; ++w) {
      const auto word = hn::Set(lanes, query[w]);
      for (std::size_t v = 0; v < kBlockVectors; ++v) {
        const auto row = hn::LoadU(lanes, rows + std::size_t{w} * kBitBlock + v * kBlockLanes);
        counts[v] = hn::Add(counts[v], hn::PopulationCount(hn::BitCast(bytes, hn::Xor(word, row))));
      }
    }
    for (std::size_t v = 0; v < kBlockVectors; ++v) {
      std::uint64_t* sums = distances + v * kBlockLanes;
      hn::Store(hn::Add(hn::Load(lanes, sums), sums_of_block(counts[v])), lanes, sums);
    }
    if (end == words) break;
    if (static_cast<float>(*std::min_element(distances, distances + kBitBlock)) > limit) break;
  }
}

void measure_bit_rows(const std::uint64_t* blocks, std::uint32_t words, const std::uint64_t* query, std::uint32_t first,
                      std::uint32_t count, float limit, float* values) {
  const std::uint64_t block_size = std::uint64_t{words} * kBitBlock;
  const std::uint64_t* rows = blocks + first / kBitBlock * block_size;
  std::uint32_t from = first % kBitBlock;
  while (count > 0) {
    HWY_ALIGN std::uint64_t distances[kBitBlock];
    measure_bit_block(rows, words, query, limit, distances);
    const std::uint32_t to = std::min(kBitBlock, from + count);
    for (std::uint32_t i = from; i < to; ++i) *values++ = static_cast<float>(distances[i]);
    count -= to - from;
    from = 0;
    rows += block_size;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(measure_bit_rows);

void measure_bits(const std::uint64_t* blocks, std::uint32_t words, const std::uint64_t* query, std::uint32_t first,
                  std::uint32_t count, float limit, float* values) {
  HWY_DYNAMIC_DISPATCH(measure_bit_rows)(blocks, words, query, first, count, limit, values);
}

}  // namespace kith::cpu
#endif  // HWY_ONCE
