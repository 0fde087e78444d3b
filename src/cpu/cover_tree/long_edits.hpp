// The edit distance of a long pattern and one sequence: a column of bit vectors, only as much of it as the limit needs.
#pragma once

#include "cpu/cover_tree/edit_pattern.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::cpu {

/// Scratch for `long_edit_distance`: vertical differences, +1 and -1, of 64 rows per word.
struct EditColumn {
  std::vector<std::uint64_t> up;
  std::vector<std::uint64_t> down;
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
                                 std::uint32_t most, EditColumn& column) {
  constexpr std::int64_t kWord = EditPattern::kWord;
  const std::int64_t rows = pattern.length();
  const std::int64_t columns = text_length;
  const std::int64_t limit = std::min<std::int64_t>(most, std::max(rows, columns));
  const std::int64_t below = (limit + rows - columns) / 2;
  const std::int64_t above = (limit - rows + columns) / 2;
  const auto last_word = static_cast<std::int64_t>(pattern.words()) - 1;
  const auto last_bit = static_cast<std::uint32_t>((rows - 1) % kWord);
  column.up.resize(pattern.words());
  column.down.resize(pattern.words());

  std::int64_t last = -1;   // words up to here are computed
  std::int64_t bottom = 0;  // D in their last row
  for (std::int64_t j = 1; j <= columns; ++j) {
    const std::int64_t last_wanted = (std::min(rows, j + below) - 1) / kWord;
    for (; last < last_wanted; ++last) {
      column.up[static_cast<std::size_t>(last + 1)] = ~std::uint64_t{0};
      column.down[static_cast<std::size_t>(last + 1)] = 0;
      bottom += std::min(kWord, rows - (last + 1) * kWord);
    }
    const std::uint64_t* matches = pattern.words_of(text[j - 1]);
    std::uint64_t rises = 1, falls = 0;  // D from the last column to this one, in the row above the word
    for (std::int64_t word = (std::max<std::int64_t>(1, j - above) - 1) / kWord; word <= last; ++word) {
      const auto w = static_cast<std::size_t>(word);
      const std::uint64_t up = column.up[w];
      const std::uint64_t down = column.down[w];
      const std::uint64_t match = matches[w] | falls;
      const std::uint64_t level = (((match & up) + up) ^ up) | match | down;  // D(i, j) = D(i - 1, j - 1)
      const std::uint64_t rising = down | ~(level | up);
      const std::uint64_t falling = level & up;
      const std::uint64_t rising_below = rising << 1 | rises;
      column.up[w] = (falling << 1 | falls) | ~(level | rising_below);
      column.down[w] = rising_below & level;
      const std::uint32_t bit = word == last_word ? last_bit : static_cast<std::uint32_t>(kWord - 1);
      rises = rising >> bit & 1;
      falls = falling >> bit & 1;
    }
    bottom += static_cast<std::int64_t>(rises) - static_cast<std::int64_t>(falls);
    // What is left of the text takes one from D per item at most.
    if (last == last_word && bottom - (columns - j) > limit) return static_cast<std::uint32_t>(bottom - (columns - j));
  }
  return static_cast<std::uint32_t>(bottom);
}

}  // namespace kith::cpu
