// Rows at random: each gets a draw of its own, and those with the lowest stay. See select_rows.hpp.
#include <kith/apps/select_rows.hpp>

#include "apps/random_draws.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kith::apps::inline v0 {

std::vector<std::uint32_t> random_rows(std::uint64_t rows, std::uint64_t count, std::uint64_t seed) {
  constexpr std::uint64_t kStream = 0x73656c656374;  // apart from what other uses draw with the same seed
  std::vector<std::uint32_t> chosen(static_cast<std::size_t>(rows));
  std::iota(chosen.begin(), chosen.end(), 0u);
  if (count >= rows) return chosen;
  const auto rank = [&](std::uint32_t row) { return std::pair(Draws(seed, kStream, row).bits(0), row); };
  const auto end = chosen.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(chosen.begin(), end, chosen.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
  chosen.erase(end, chosen.end());
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace kith::apps::inline v0
