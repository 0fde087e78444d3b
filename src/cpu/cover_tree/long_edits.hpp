// The edit distance of a long pattern and one sequence: a column of bit vectors, only as much of it as the limit needs.
#pragma once

#include "cpu/cover_tree/edit_pattern.hpp"
#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::cpu {

/// 64 rows of a column: where D rises by one from the row above, and where it falls.
struct EditWord {
  std::uint64_t up = ~std::uint64_t{0};
  std::uint64_t down = 0;
};

/// From a column to the next one: how D changes in the row above the word, then in row `bit` of it.
struct EditStep {
  std::uint64_t rises = 1;
  std::uint64_t falls = 0;

  void take(EditWord& word, std::uint64_t matches, std::uint32_t bit) {
    const std::uint64_t match = matches | falls;
    const std::uint64_t level = (((match & word.up) + word.up) ^ word.up) | match | word.down;  // D(i-1, j-1) = D(i, j)
    const std::uint64_t rising = word.down | ~(level | word.up);
    const std::uint64_t falling = level & word.up;
    const std::uint64_t rising_below = rising << 1 | rises;
    word.up = (falling << 1 | falls) | ~(level | rising_below);
    word.down = rising_below & level;
    rises = rising >> bit & 1;
    falls = falling >> bit & 1;
  }
};

/// The distance, or any number above `most` if it is above. `most` is at least the difference of the lengths, which are
/// not 0.
///
/// D(i, j) is the distance of the first i items of the pattern and the first j of the text. Neighbours in a column
/// differ by at most one, so a column is kept as differences, 64 to a word, and the next column is a few operations on
/// words (Myers 1999, Hyyrö 2003). A path of cost up to `most` leaves the diagonal i = j by no more than
/// (most + |p| - |t|) / 2 below and (most - |p| + |t|) / 2 above: only words that have such rows are computed. Around
/// them D is taken as rising by one per step, which is never too low; so what comes out is never too low, and right if
/// it is up to `most`.
template <typename Code>
std::uint32_t long_edit_distance(const EditPattern& pattern, const Code* text, std::uint32_t text_length,
                                 std::uint32_t most, std::vector<EditWord>& column) {
  constexpr std::int64_t kWord = EditPattern::kWord;
  const std::int64_t rows = pattern.length();
  const std::int64_t columns = text_length;
  const std::int64_t limit = std::min<std::int64_t>(most, std::max(rows, columns));
  const std::int64_t below = (limit + rows - columns) / 2;
  const std::int64_t above = (limit - rows + columns) / 2;
  const auto last_word = static_cast<std::int64_t>(pattern.words()) - 1;
  const auto last_bit = static_cast<std::uint32_t>((rows - 1) % kWord);
  column.resize(pattern.words());

  std::int64_t last = -1;   // words up to here are computed
  std::int64_t bottom = 0;  // D in their last row
  constexpr std::int64_t kWordsPerLook = 1 << 16;
  std::int64_t words = 0;  // since a stop was looked for
  for (std::int64_t j = 1; j <= columns; ++j) {
    words += last + 1;
    if (words > kWordsPerLook) {
      words = 0;
      runtime::look_for_stop();
    }
    const std::int64_t last_wanted = (std::min(rows, j + below) - 1) / kWord;
    for (; last < last_wanted; ++last) {
      column[static_cast<std::size_t>(last + 1)] = {};
      bottom += std::min(kWord, rows - (last + 1) * kWord);
    }
    const std::uint64_t* matches = pattern.words_of(text[j - 1]);
    EditStep step;
    const auto end = static_cast<std::size_t>(last);
    for (auto w = static_cast<std::size_t>((std::max<std::int64_t>(1, j - above) - 1) / kWord); w < end; ++w) {
      step.take(column[w], matches[w], kWord - 1);
    }
    step.take(column[end], matches[end], last == last_word ? last_bit : kWord - 1);
    bottom += static_cast<std::int64_t>(step.rises) - static_cast<std::int64_t>(step.falls);
    // What is left of the text takes one from D per item at most.
    if (last == last_word && bottom - (columns - j) > limit) return static_cast<std::uint32_t>(bottom - (columns - j));
  }
  return static_cast<std::uint32_t>(bottom);
}

}  // namespace kith::cpu
