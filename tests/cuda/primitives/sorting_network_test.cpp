// Lists of keys that are sorted and merged in registers: the least of both, in order.
#include "cuda/primitives/sorting_network.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace kith::test {
namespace {

template <std::uint32_t kKept, std::uint32_t kFresh>
void expect_merged(std::mt19937_64& random) {
  std::uint32_t kept[kKept], fresh[kFresh];
  const std::uint32_t range = random() % 2 == 0 ? 20 : 0xffffffff;
  for (std::uint32_t& key : kept) key = static_cast<std::uint32_t>(random() % range);
  for (std::uint32_t& key : fresh) key = static_cast<std::uint32_t>(random() % range);
  std::vector<std::uint32_t> all(kept, kept + kKept);
  all.insert(all.end(), fresh, fresh + kFresh);
  std::sort(all.begin(), all.end());
  std::sort(kept, kept + kKept);
  cuda::sort_in_registers(fresh);
  cuda::merge_in_registers(kept, fresh);
  EXPECT_TRUE(std::equal(kept, kept + kKept, all.begin()));
}

TEST(SortingNetwork, MergesListsOfAnyLength) {
  for (std::uint64_t seed = 0; seed < 500 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    expect_merged<4, 16>(random);
    expect_merged<10, 16>(random);
    expect_merged<10, 8>(random);
    expect_merged<16, 16>(random);
    expect_merged<18, 16>(random);
  }
}

}  // namespace
}  // namespace kith::test
