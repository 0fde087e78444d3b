// See bit_scan.hpp. Written once, compiled for each instruction set, chosen at run time. A lane is a row.
#include "cpu/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/brute_force/bit_scan.cpp"
#include <hwy/foreach_target.h>
// The line above must come before the next one.
#include <hwy/highway.h>

#include "cpu/brute_force/bit_scan.hpp"
#include "cpu/simd_reduced-inl.hpp"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {

using Words = hn::CappedTag<std::uint64_t, kBitPanel>;
#if HWY_TARGET == HWY_SCALAR
using Bytes = Words;  // a lane has one word: its bits are counted at once
#else
using Bytes = hn::Repartition<std::uint8_t, Words>;
#endif

constexpr std::size_t kWordLanes = hn::MaxLanes(Words());
constexpr std::size_t kWordVectors = kBitPanel / kWordLanes;
/// So many words at most add to the bytes of a vector, each up to 8, before one could overflow.
constexpr std::uint32_t kWordsAtOnce = 31;

/// The bytes of each word added up.
HWY_INLINE hn::Vec<Words> sums_of_bytes(hn::Vec<Bytes> counts) {
#if HWY_TARGET == HWY_SCALAR
  return counts;
#else
  return hn::SumsOf8(counts);
#endif
}

/// Hands the distances of one query to one panel to the caller if one of them is within the bound.
HWY_INLINE void report_bits(const BitScan& scan, std::uint32_t query, std::uint64_t panel,
                            const hn::Vec<Words> (&sums)[kWordVectors]) {
  const float bound = std::floor(scan.bounds[query]);
  if (bound < 0) return;
  const Words words;
  const hn::RebindToSigned<Words> numbers;  // what all machines compare
  const auto beyond = hn::Set(numbers, static_cast<std::int64_t>(bound) + 1);
  std::uint64_t hits = 0;
  for (std::size_t v = 0; v < kWordVectors; ++v) {
    hits |= bits_of(numbers, hn::Lt(hn::BitCast(numbers, sums[v]), beyond)) << (v * kWordLanes);
  }
  if (hits == 0) return;
  HWY_ALIGN std::uint64_t counts[kBitPanel];
  float distances[kBitPanel];
  for (std::size_t v = 0; v < kWordVectors; ++v) hn::Store(sums[v], words, counts + v * kWordLanes);
  for (std::size_t i = 0; i < kBitPanel; ++i) distances[i] = static_cast<float>(counts[i]);
  scan.bounds[query] = scan.on_hit(scan.context, query, panel * kBitPanel, distances, hits);
}

/// A group of queries against one panel: bits are counted byte by byte, and bytes are added up now and then.
HWY_INLINE void scan_bit_group(const BitScan& scan, std::uint64_t panel, std::uint32_t group) {
  const Words words;
  const Bytes bytes;
  const std::uint64_t* rows = scan.panels + panel * scan.words * kBitPanel;
  const std::uint64_t* queries = scan.queries + std::size_t{group} * scan.words * kGroup;
  hn::Vec<Words> sums[kGroup][kWordVectors];
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(words);
  }
  for (std::uint32_t first = 0; first < scan.words; first += kWordsAtOnce) {
    hn::Vec<Bytes> counts[kGroup][kWordVectors];
    for (auto& row : counts) {
      for (auto& count : row) count = hn::Zero(bytes);
    }
    const std::uint32_t end = HWY_MIN(scan.words, first + kWordsAtOnce);
    for (std::uint32_t w = first; w < end; ++w) {
      const std::uint64_t* query = queries + std::size_t{w} * kGroup;
      for (std::size_t v = 0; v < kWordVectors; ++v) {
        const auto row = hn::Load(words, rows + std::size_t{w} * kBitPanel + v * kWordLanes);
        for (std::size_t q = 0; q < kGroup; ++q) {
          const auto differ = hn::BitCast(bytes, hn::Xor(hn::Set(words, query[q]), row));
          counts[q][v] = hn::Add(counts[q][v], hn::PopulationCount(differ));
        }
      }
    }
    for (std::size_t q = 0; q < kGroup; ++q) {
      for (std::size_t v = 0; v < kWordVectors; ++v) sums[q][v] = hn::Add(sums[q][v], sums_of_bytes(counts[q][v]));
    }
  }
  for (std::uint32_t q = 0; q < kGroup; ++q) report_bits(scan, group * kGroup + q, panel, sums[q]);
}

void scan_bit_panels(const BitScan& scan) {
  for (std::uint64_t i = 0; i < scan.panel_count; ++i) {
    for (std::uint32_t group = 0; group < scan.groups; ++group) scan_bit_group(scan, scan.first_panel + i, group);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(scan_bit_panels);

void scan_bits(const BitScan& scan) { HWY_DYNAMIC_DISPATCH(scan_bit_panels)(scan); }

}  // namespace kith::cpu
#endif  // HWY_ONCE
