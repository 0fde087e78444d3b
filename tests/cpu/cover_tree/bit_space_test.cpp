// Rows of bits in blocks: as many bits differ as counted one by one.
#include "cpu/cover_tree/bit_space.hpp"

#include "support/space_checks.hpp"

namespace kith::test {
namespace {

TEST(BitSpace, CountsTheBitsThatDiffer) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto words = static_cast<std::uint32_t>(random() % 4 == 0 ? 30 + random() % 40 : 1 + random() % 5);
    const std::uint64_t n = random() % 60;
    const std::uint64_t mask = random() % 2 == 0 ? ~std::uint64_t{0} : random() & random();
    std::vector<std::uint64_t> all((n + 8) * words);
    for (auto& word : all) word = random() % 8 == 0 ? (random() % 2 == 0 ? 0 : ~std::uint64_t{0}) : random() & mask;
    for (std::uint64_t i = 0; i < n + 8; ++i) {  // whole rows of ones and zeros count the most
      if (random() % 3 == 0) std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(i * words), words, i % 2 - 1);
    }
    const engine::BitRows rows{all.data(), n, words};
    const cpu::BitSpace space(rows);
    std::vector<const std::uint64_t*> outside;
    for (std::uint64_t i = 0; i < 8; ++i) outside.push_back(all.data() + (n + i) * words);
    const auto differing = [&](const std::uint64_t* a, const std::uint64_t* b) {
      std::uint32_t count = 0;
      for (std::uint32_t bit = 0; bit < words * 64; ++bit) count += (a[bit / 64] ^ b[bit / 64]) >> bit % 64 & 1;
      return static_cast<float>(count);
    };
    check_space(
        space, outside, random, [&](std::uint32_t a, std::uint32_t b) { return differing(rows.row(a), rows.row(b)); },
        [&](std::uint32_t i, std::uint32_t b) { return differing(outside[i], rows.row(b)); });
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(BitSpace, KnowsEqualRows) {
  const std::uint64_t words[] = {1, 2, 1, 2, 1, 3};
  const cpu::BitSpace space({words, 3, 2});
  EXPECT_TRUE(space.same(0, 1));
  EXPECT_FALSE(space.same(1, 2));
  EXPECT_TRUE(space.rounding().is_exact());
}

}  // namespace
}  // namespace kith::test
