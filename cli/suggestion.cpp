// See suggestion.hpp.
#include "suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace kith::cli {
namespace {

/// Letters to insert, delete, replace or swap with their neighbour to turn one word into the other.
std::size_t slips_between(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const std::size_t differ = a[i - 1] != b[j - 1];
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + differ});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string did_you_mean(const std::string& typed, const std::vector<std::string>& words) {
  constexpr std::size_t kLongestWord =
      40;  // the table grows with the square; longer words are not mistyped by one letter
  if (typed.size() > kLongestWord) return "";
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  std::string best;
  for (const std::string& word : words) {
    // The beginning of a long name is a good guess too: "--exclude" for "--exclude-self".
    const bool beginning = typed.size() >= 4 && word.starts_with(typed);
    const std::size_t slips = beginning ? 1 : slips_between(typed, word);
    const std::size_t allowed = std::max<std::size_t>(1, std::min(typed.size(), word.size()) / 3);
    if (slips <= allowed && slips < std::max(typed.size(), word.size()) && slips < fewest) {
      fewest = slips;
      best = word;
    }
  }
  return best.empty() ? "" : fmt::format("; did you mean \"{}\"?", best);
}

}  // namespace kith::cli
