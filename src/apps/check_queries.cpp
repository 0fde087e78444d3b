// See check_queries.hpp.
#include "apps/check_queries.hpp"

#include "apps/random_draws.hpp"

#include <set>

namespace kith::apps::inline v0 {

std::vector<std::uint64_t> choose_queries(std::uint64_t count, std::uint64_t sample, std::uint64_t seed) {
  std::vector<std::uint64_t> chosen;
  if (sample == 0 || sample >= count) {
    chosen.resize(count);
    for (std::uint64_t i = 0; i < count; ++i) chosen[i] = i;
    return chosen;
  }
  // Floyd's way: a draw that is taken already stands for the newest candidate, so every set is equally likely.
  const Draws draws(seed, 0, 0);
  std::set<std::uint64_t> taken;
  for (std::uint64_t newest = count - sample; newest < count; ++newest) {
    if (!taken.insert(draws.below(newest + 1, newest)).second) taken.insert(newest);
  }
  chosen.assign(taken.begin(), taken.end());
  return chosen;
}

}  // namespace kith::apps::inline v0
