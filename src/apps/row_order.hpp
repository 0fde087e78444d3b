// The order in which points have the right to stay: the best score first, ties by the lower number.
#pragma once

#include <cstdint>
#include <span>

namespace kith::apps::inline v0 {

struct RowOrder {
  std::span<const double> scores;  ///< one per row, none of them NaN; empty: by number alone
  bool prefer_low = false;

  bool is_by_number() const { return scores.empty(); }

  bool before(std::uint32_t a, std::uint32_t b) const {
    if (scores.empty() || scores[a] == scores[b]) return a < b;
    return prefer_low ? scores[a] < scores[b] : scores[a] > scores[b];
  }
};

}  // namespace kith::apps::inline v0
