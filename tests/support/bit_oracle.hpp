// Searches by the Hamming distance the slow way, bit by bit, and random cases for them.
#pragma once

#include "support/found_lists.hpp"

#include <kith/bit_index.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace kith::test {

/// Rows of bits that own their bytes. Bits behind the last one, and bytes between rows, are whatever they are.
struct BitSet {
  std::vector<std::uint8_t> bytes;
  std::uint64_t rows = 0;
  std::uint32_t bits = 0;
  std::int64_t row_bytes = 0;

  BitView view() const { return BitView(bytes.data(), rows, bits, row_bytes); }
};

/// Each bit of a row is set with its own chance, rows repeat now and then, and rest is random, too. `gap` bytes lie
/// between rows.
inline BitSet random_bits(std::uint64_t rows, std::uint32_t bits, std::uint32_t gap, std::mt19937_64& random) {
  BitSet set{{}, rows, bits, static_cast<std::int64_t>((bits + 7) / 8 + gap)};
  set.bytes.resize(rows * static_cast<std::uint64_t>(set.row_bytes));
  for (std::uint8_t& byte : set.bytes) byte = static_cast<std::uint8_t>(random());
  for (std::uint64_t i = 0; i < rows; ++i) {
    std::uint8_t* row = set.bytes.data() + i * static_cast<std::uint64_t>(set.row_bytes);
    const std::uint64_t kind = random() % 8;
    if (kind == 0 && i > 0) {  // some row before
      const std::uint64_t other = random() % i;
      for (std::uint32_t j = 0; j < bits; ++j) {
        const std::uint8_t mask = static_cast<std::uint8_t>(1 << (7 - j % 8));
        const bool is_set = set.view().bit(other, j);
        row[j / 8] = static_cast<std::uint8_t>(is_set ? row[j / 8] | mask : row[j / 8] & ~mask);
      }
    } else if (kind == 1) {  // few bits
      for (std::uint32_t b = 0; b < bits / 8; ++b) row[b] &= static_cast<std::uint8_t>(random() & random());
    } else if (kind == 2) {
      for (std::uint32_t b = 0; b < bits / 8; ++b) row[b] = 0xff;
    }
  }
  return set;
}

struct BitRequest {
  BitView points;
  const BitView* queries = nullptr;  ///< null: the points themselves
  bool exclude_self = false;
  bool earlier_only = false;
  double farthest = std::numeric_limits<double>::infinity();
  std::vector<bool> allowed = {};  ///< per point; empty: all

  std::uint64_t count() const { return queries == nullptr ? points.rows() : queries->rows(); }
  /// What a query finds, in order.
  std::vector<std::pair<float, std::uint32_t>> found(std::uint64_t query) const;
};

inline Neighbors oracle_knn(const BitRequest& request, std::uint32_t k) {
  return nearest_of_lists(request, k, request.points.rows());
}
inline NeighborLists oracle_radius(const BitRequest& request, std::uint32_t most = 0) {
  return lists_of_lists(request, most, request.points.rows());
}
inline std::vector<std::uint32_t> oracle_count(const BitRequest& request) { return counts_of_lists(request); }

/// One seed, one case: points, queries and everything that a search may be asked.
struct BitCase {
  BitSet points, queries;
  bool is_self = false;
  std::uint32_t k = 0;
  double radius = 0;
  std::vector<bool> allowed;
  std::vector<std::uint64_t> allowed_words;
  SearchOptions options;  ///< points into this case

  BitCase(const BitCase&) = delete;
  BitCase& operator=(const BitCase&) = delete;

  /// Up to `most_rows` rows of points and queries.
  BitCase(std::uint64_t seed, std::uint64_t most_rows) {
    std::mt19937_64 random(seed);
    const auto bits = static_cast<std::uint32_t>(1 + random() % 300);
    const std::uint64_t rows = random() % 12 == 0 ? random() % 3 : random() % most_rows;
    const auto gap = static_cast<std::uint32_t>(random() % 3);
    points = random_bits(rows, bits, gap, random);
    is_self = random() % 3 == 0;
    const std::uint64_t asked = random() % 4 == 0 ? random() % 3 : random() % (most_rows / 4 + 1);
    const auto query_gap = static_cast<std::uint32_t>(random() % 3);
    queries = random_bits(asked, bits, query_gap, random);
    k = static_cast<std::uint32_t>(random() % 4 == 0 ? random() % 2 * 1000 : random() % 30);
    radius = random() % 8 == 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(random() % (bits + 1));
    radius /= static_cast<double>(1 + random() % 3);
    options.exclude_self = is_self && random() % 2 == 0;
    options.earlier_only = is_self && random() % 4 == 0;
    if (random() % 3 == 0) options.max_distance = static_cast<double>(random() % (bits + 1)) / 2;
    options.threads = static_cast<int>(random() % 4);
    if (random() % 3 != 0 || points.rows == 0) return;
    allowed_words.resize((points.rows + 63) / 64);
    for (std::uint64_t& word : allowed_words) word = random();
    if (points.rows % 64 != 0) allowed_words.back() &= (std::uint64_t{1} << points.rows % 64) - 1;
    for (std::uint64_t i = 0; i < points.rows; ++i) allowed.push_back((allowed_words[i / 64] >> (i % 64) & 1) != 0);
    options.allowed = allowed_words;
  }

  /// `farthest` is the bound of the search.
  BitRequest request(const BitView& asking, double farthest) const {
    return {.points = points.view(),
            .queries = is_self ? nullptr : &asking,
            .exclude_self = options.exclude_self,
            .earlier_only = options.earlier_only,
            .farthest = farthest,
            .allowed = allowed};
  }
};

}  // namespace kith::test
