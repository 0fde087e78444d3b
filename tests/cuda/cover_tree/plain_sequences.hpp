// Sequences for tests of the GPU's spaces, and their distances by plain code.
#pragma once

#include "cuda/cover_tree/spaces/sequence_words.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <vector>

namespace kith::test {

using PlainSequence = std::vector<std::uint32_t>;

class PlainSequences {
 public:
  void add(const PlainSequence& sequence) {
    items_.insert(items_.end(), sequence.begin(), sequence.end());
    offsets_.push_back(items_.size());
  }
  std::uint64_t size() const { return offsets_.size() - 1; }
  PlainSequence at(std::uint64_t i) const {
    return {items_.begin() + static_cast<std::ptrdiff_t>(offsets_[i]),
            items_.begin() + static_cast<std::ptrdiff_t>(offsets_[i + 1])};
  }
  engine::SequenceRows rows() const { return {items_.data(), offsets_.data(), size()}; }

 private:
  std::vector<std::uint32_t> items_;
  std::vector<std::uint64_t> offsets_ = {0};
};

inline std::vector<std::uint32_t> packed(const cuda::SequenceWords& words, const PlainSequences& sequences,
                                         std::uint32_t stride) {
  std::vector<std::uint32_t> rows(sequences.size() * stride);
  words.pack(sequences.rows(), 0, sequences.size(), stride, rows.data(), 1);
  return rows;
}

inline PlainSequence random_sequence(std::mt19937_64& random, std::uint32_t length, std::uint32_t letters) {
  PlainSequence sequence(length);
  for (std::uint32_t& item : sequence) item = 100 + 70000 * static_cast<std::uint32_t>(random() % letters);
  return sequence;
}
/// Of any length up to `longest`, this one among them.
inline PlainSequences random_sequences(std::mt19937_64& random, std::uint32_t count, std::uint32_t longest,
                                       std::uint32_t letters) {
  PlainSequences sequences;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto length = i == 0 ? longest : static_cast<std::uint32_t>(random() % (longest + 1));
    sequences.add(random_sequence(random, length, letters));
  }
  return sequences;
}
inline PlainSequence random_set(std::mt19937_64& random, std::uint32_t most, std::uint32_t items) {
  std::set<std::uint32_t> set;
  for (std::uint64_t i = random() % (most + 1); i > 0; --i) set.insert(static_cast<std::uint32_t>(random() % items));
  return {set.begin(), set.end()};
}

/// Levenshtein's table.
inline float plain_edits(const PlainSequence& a, const PlainSequence& b) {
  std::vector<std::uint32_t> row(b.size() + 1);
  for (std::uint32_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::uint32_t i = 1; i <= a.size(); ++i) {
    std::uint32_t corner = row[0];
    row[0] = i;
    for (std::uint32_t j = 1; j <= b.size(); ++j) {
      const std::uint32_t replaced = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return static_cast<float>(row[b.size()]);
}
inline float plain_differences(const PlainSequence& a, const PlainSequence& b) {
  std::uint32_t differ = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differ += a[i] == b[i] ? 0 : 1;
  return static_cast<float>(differ);
}
inline float plain_jaccard(const PlainSequence& a, const PlainSequence& b) {
  PlainSequence common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  const std::size_t all = a.size() + b.size() - common.size();
  return all == 0 ? 0 : static_cast<float>(all - common.size()) / static_cast<float>(all);
}

}  // namespace kith::test
