// Searches among strings and sets the slow way, by the definitions of the distances, and random cases for them.
#pragma once

#include "support/found_lists.hpp"

#include <kith/sequence_index.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace kith::test {

using Items = std::span<const std::uint32_t>;

/// The whole table of Wagner and Fischer.
inline float oracle_edit(Items a, Items b) {
  std::vector<std::vector<std::uint32_t>> table(a.size() + 1, std::vector<std::uint32_t>(b.size() + 1));
  for (std::uint32_t i = 0; i <= a.size(); ++i) {
    for (std::uint32_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
    }
  }
  return static_cast<float>(table[a.size()][b.size()]);
}

inline float oracle_distance(SequenceMetric metric, Items a, Items b) {
  if (metric == SequenceMetric::edit) return oracle_edit(a, b);
  if (metric == SequenceMetric::hamming) {
    int differ = 0;
    for (std::size_t i = 0; i < a.size(); ++i) differ += a[i] != b[i] ? 1 : 0;
    return static_cast<float>(differ);
  }
  const std::set<std::uint32_t> left(a.begin(), a.end());
  std::set<std::uint32_t> all = left;
  all.insert(b.begin(), b.end());
  std::size_t common = 0;
  for (const std::uint32_t item : std::set<std::uint32_t>(b.begin(), b.end())) common += left.count(item);
  return all.empty() ? 0.0f : static_cast<float>(all.size() - common) / static_cast<float>(all.size());
}

struct SequenceRequest {
  SequenceMetric metric = SequenceMetric::edit;
  SequenceView points;
  const SequenceView* queries = nullptr;  ///< null: the points themselves
  bool exclude_self = false;
  bool earlier_only = false;
  double farthest = std::numeric_limits<double>::infinity();
  std::vector<bool> allowed = {};  ///< per point; empty: all

  std::uint64_t count() const { return queries == nullptr ? points.size() : queries->size(); }
  /// What a query finds, in order.
  std::vector<std::pair<float, std::uint32_t>> found(std::uint64_t query) const {
    const SequenceView& asking = queries == nullptr ? points : *queries;
    std::vector<std::pair<float, std::uint32_t>> list;
    for (std::uint64_t i = 0; i < points.size(); ++i) {
      if (exclude_self && i == query) continue;
      if (earlier_only && i >= query) continue;
      if (!allowed.empty() && !allowed[i]) continue;
      const float distance = oracle_distance(metric, asking.sequence(query), points.sequence(i));
      if (static_cast<double>(distance) <= farthest) list.emplace_back(distance, static_cast<std::uint32_t>(i));
    }
    std::sort(list.begin(), list.end());
    return list;
  }
};

inline Neighbors oracle_knn(const SequenceRequest& request, std::uint32_t k) {
  return nearest_of_lists(request, k, request.points.size());
}
inline NeighborLists oracle_radius(const SequenceRequest& request, std::uint32_t most = 0) {
  return lists_of_lists(request, most, request.points.size());
}
inline std::vector<std::uint32_t> oracle_count(const SequenceRequest& request) { return counts_of_lists(request); }

/// Sequences that are a few changes apart from some that came before, others anew; some again.
inline SequenceSet random_sequences(SequenceMetric metric, std::uint64_t count, std::uint32_t length,
                                    std::uint32_t letters, std::mt19937_64& random) {
  SequenceSet set(metric == SequenceMetric::jaccard ? SequenceKind::sets : SequenceKind::numbers);
  std::vector<std::vector<std::uint32_t>> before;
  const auto letter = [&] { return static_cast<std::uint32_t>(random() % letters * 977); };
  for (std::uint64_t i = 0; i < count; ++i) {
    std::vector<std::uint32_t> items;
    if (!before.empty() && random() % 4 != 0) {
      items = before[random() % before.size()];
      for (std::uint64_t changes = random() % 4; changes > 0; --changes) {
        const std::size_t place = items.empty() ? 0 : random() % items.size();
        const std::uint64_t kind = metric == SequenceMetric::hamming ? 0 : random() % 3;
        if (kind == 0 && !items.empty()) items[place] = letter();
        if (kind == 1) items.insert(items.begin() + static_cast<std::ptrdiff_t>(place), letter());
        if (kind == 2 && !items.empty()) items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
      }
    } else {
      items.resize(metric == SequenceMetric::hamming ? length : random() % (length + 1));
      for (std::uint32_t& item : items) item = letter();
    }
    set.add(items);
    before.push_back(std::move(items));
  }
  return set;
}

/// One seed, one case: points, queries and everything that a search may be asked.
struct SequenceCase {
  SequenceMetric metric;
  SequenceSet points, queries;
  bool is_self = false;
  std::uint32_t k = 0;
  double radius = 0;
  std::vector<bool> allowed;
  std::vector<std::uint64_t> allowed_words;
  SearchOptions options;  ///< points into this case

  SequenceCase(const SequenceCase&) = delete;
  SequenceCase& operator=(const SequenceCase&) = delete;

  /// Up to `most` points and a quarter as many queries.
  SequenceCase(std::uint64_t seed, std::uint64_t most) {
    std::mt19937_64 random(seed);
    metric = static_cast<SequenceMetric>(seed % 3);
    const bool is_long = random() % 8 == 0;
    const auto length = static_cast<std::uint32_t>(is_long ? 60 + random() % 80 : random() % 12);
    const auto letters = static_cast<std::uint32_t>(random() % 6 == 0 ? 1000 : 2 + random() % 6);
    if (is_long) most /= 4;
    points = random_sequences(metric, random() % 10 == 0 ? random() % 3 : random() % most, length, letters, random);
    queries = random_sequences(metric, random() % (most / 4), length, letters + 1, random);
    is_self = random() % 3 == 0;
    k = static_cast<std::uint32_t>(random() % 5 == 0 ? random() % 2 * 1000 : random() % 24);
    const double scale = metric == SequenceMetric::jaccard ? 1 : length + 1;
    const auto any_distance = [&] { return scale * static_cast<double>(random() % 97) / 96; };
    radius = random() % 8 == 0 ? std::numeric_limits<double>::infinity() : any_distance();
    options.exclude_self = is_self && random() % 2 == 0;
    options.earlier_only = is_self && random() % 4 == 0;
    if (random() % 3 == 0) options.max_distance = any_distance();
    options.threads = static_cast<int>(random() % 4);
    if (random() % 3 != 0 || points.size() == 0) return;
    allowed_words.resize((points.size() + 63) / 64);
    for (std::uint64_t& word : allowed_words) word = random();
    if (points.size() % 64 != 0) allowed_words.back() &= (std::uint64_t{1} << points.size() % 64) - 1;
    for (std::uint64_t i = 0; i < points.size(); ++i) allowed.push_back((allowed_words[i / 64] >> (i % 64) & 1) != 0);
    options.allowed = allowed_words;
  }

  /// `farthest` is the bound of the search.
  SequenceRequest request(const SequenceView& asking, double farthest) const {
    return {.metric = metric,
            .points = points.view(),
            .queries = is_self ? nullptr : &asking,
            .exclude_self = options.exclude_self,
            .earlier_only = options.earlier_only,
            .farthest = farthest,
            .allowed = allowed};
  }
};

}  // namespace kith::test
