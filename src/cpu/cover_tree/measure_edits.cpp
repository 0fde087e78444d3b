// See measure_edits.hpp. Written once, compiled for each instruction set, chosen at run time.
#include "cpu/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/cover_tree/measure_edits.cpp"
#include <hwy/foreach_target.h>
// The line above must come before the next ones.
#include <hwy/highway.h>

#include "cpu/cover_tree/long_edits.hpp"
#include "cpu/cover_tree/measure_edits.hpp"

#include <algorithm>
#include <limits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// So many sequences are bounded, and what is left of them measured, at a time.
constexpr std::uint32_t kEditBatch = 64;
/// So many sequences are measured side by side, as many as registers hold.
#if HWY_ARCH_X86
constexpr std::uint32_t kSideBySide = 2;
#else
constexpr std::uint32_t kSideBySide = 4;
#endif

HWY_INLINE std::int32_t count_bits(std::uint64_t word) { return __builtin_popcountll(word); }

/// Bounds of the sequences from `first` on; see edit_signature.hpp.
HWY_INLINE void bound_edits(const EditMeasure& measure, std::uint32_t first, std::uint32_t count,
                            std::int32_t* bounds) {
  const std::uint64_t* offsets = measure.sequences->offsets() + first;
  const auto length = static_cast<std::int64_t>(measure.pattern->length());
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t signature = measure.signatures[first + i];
    const auto longer = static_cast<std::int32_t>(length - static_cast<std::int64_t>(offsets[i + 1] - offsets[i]));
    const std::int32_t only_pattern = count_bits(measure.pattern_signature & ~signature);
    const std::int32_t only_sequence = count_bits(signature & ~measure.pattern_signature);
    bounds[i] =
        std::max(std::max(only_pattern, only_pattern - longer), std::max(only_sequence, only_sequence + longer));
  }
}

/// A short pattern against `kCount` sequences at a time. A column of D, see long_edits.hpp, is one word; sequences that
/// have ended keep theirs.
template <std::uint32_t kCount, typename Code>
HWY_INLINE void measure_short(const std::uint64_t* matches, std::uint32_t pattern_length, const Code* const* texts,
                              const std::uint32_t* lengths, std::uint32_t* distances) {
  std::uint64_t up[kCount], down[kCount];
  std::uint32_t longest = 0;
  for (std::uint32_t s = 0; s < kCount; ++s) {
    up[s] = ~std::uint64_t{0};
    down[s] = 0;
    longest = std::max(longest, lengths[s]);
  }
  for (std::uint32_t j = 0; j < longest; ++j) {
    for (std::uint32_t s = 0; s < kCount; ++s) {
      const std::uint64_t match = matches[texts[s][j]];
      const std::uint64_t level = (((match & up[s]) + up[s]) ^ up[s]) | match | down[s];
      const std::uint64_t rising_below = (down[s] | ~(level | up[s])) << 1 | 1;
      const std::uint64_t new_up = (level & up[s]) << 1 | ~(level | rising_below);
      const std::uint64_t new_down = rising_below & level;
      up[s] = j < lengths[s] ? new_up : up[s];
      down[s] = j < lengths[s] ? new_down : down[s];
    }
  }
  const std::uint64_t rows = pattern_length == 0 ? 0 : ~std::uint64_t{0} >> (EditPattern::kWord - pattern_length);
  for (std::uint32_t s = 0; s < kCount; ++s) {
    distances[s] = static_cast<std::uint32_t>(static_cast<std::int32_t>(lengths[s]) + count_bits(up[s] & rows) -
                                              count_bits(down[s] & rows));
  }
}

/// The sequences at `positions`, all with a short pattern.
template <typename Code>
HWY_INLINE void measure_short_batch(const EditMeasure& measure, const Code* codes, const std::uint32_t* positions,
                                    std::uint32_t count, float* values) {
  const std::uint64_t* offsets = measure.sequences->offsets() + measure.first;
  const std::uint32_t pattern_length = measure.pattern->length();
  for (std::uint32_t i = 0; i < count; i += kSideBySide) {
    const Code* texts[kSideBySide];
    std::uint32_t lengths[kSideBySide], distances[kSideBySide];
    std::uint32_t shortest = std::numeric_limits<std::uint32_t>::max(), longest = 0;
    for (std::uint32_t s = 0; s < kSideBySide; ++s) {  // places without a sequence repeat the last one
      const std::uint32_t position = positions[std::min(i + s, count - 1)];
      texts[s] = codes + offsets[position];
      lengths[s] = static_cast<std::uint32_t>(offsets[position + 1] - offsets[position]);
      shortest = std::min(shortest, lengths[s]);
      longest = std::max(longest, lengths[s]);
    }
    if (longest - shortest <= 16 && i + 1 < count) {
      measure_short<kSideBySide>(measure.pattern->direct(), pattern_length, texts, lengths, distances);
    } else {
      for (std::uint32_t s = 0; s < std::min(kSideBySide, count - i); ++s) {
        measure_short<1>(measure.pattern->direct(), pattern_length, texts + s, lengths + s, distances + s);
      }
    }
    for (std::uint32_t s = 0; s < std::min(kSideBySide, count - i); ++s) {
      values[positions[i + s]] = static_cast<float>(distances[s]);
    }
  }
}

/// The same with any pattern.
template <typename Code>
void measure_long_batch(const EditMeasure& measure, const Code* codes, const std::uint32_t* positions,
                        std::uint32_t count, std::vector<EditWord>& column, float* values) {
  const std::uint64_t* offsets = measure.sequences->offsets() + measure.first;
  const std::uint32_t pattern_length = measure.pattern->length();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t position = positions[i];
    const auto length = static_cast<std::uint32_t>(offsets[position + 1] - offsets[position]);
    const std::uint32_t longest = std::max(length, pattern_length);
    // The bound, which has passed, is at least the difference of the lengths.
    const std::uint32_t most =
        measure.limit < static_cast<float>(longest) ? static_cast<std::uint32_t>(measure.limit) : longest;
    const std::uint32_t distance =
        length == 0 || pattern_length == 0
            ? longest
            : long_edit_distance(*measure.pattern, codes + offsets[position], length, most, column);
    values[position] = static_cast<float>(distance);
  }
}

void measure_edits_of(const EditMeasure& measure, float* values) {
  std::vector<EditWord> column;
  for (std::uint32_t start = 0; start < measure.count; start += kEditBatch) {
    const std::uint32_t end = std::min(measure.count, start + kEditBatch);
    std::uint32_t positions[kEditBatch];
    std::uint32_t left = 0;
    if (measure.limit < std::numeric_limits<float>::infinity()) {
      std::int32_t bounds[kEditBatch];
      bound_edits(measure, measure.first + start, end - start, bounds);
      for (std::uint32_t i = start; i < end; ++i) {
        values[i] = static_cast<float>(bounds[i - start]);
        positions[left] = i;
        left += values[i] <= measure.limit ? 1 : 0;
      }
    } else {
      for (std::uint32_t i = start; i < end; ++i) positions[left++] = i;
    }
    if (left == 0) continue;
    measure.sequences->visit([&](const auto* codes) HWY_ATTR {
      if (measure.pattern->is_direct()) {
        measure_short_batch(measure, codes, positions, left, values);
      } else {
        measure_long_batch(measure, codes, positions, left, column, values);
      }
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(measure_edits_of);

void measure_edits(const EditMeasure& measure, float* values) {
  HWY_DYNAMIC_DISPATCH(measure_edits_of)(measure, values);
}

}  // namespace kith::cpu
#endif  // HWY_ONCE
