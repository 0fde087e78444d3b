// The rule by which a match is kept without a search: it must never keep one that a search would replace.
#include "cuda/registration/match_certainty.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace kith::test {
namespace {

/// As searches compute it.
template <typename T>
T reduced_distance(const T (&a)[3], const T (&b)[3]) {
  T sum = 0;
  for (int d = 0; d < 3; ++d) sum = core::fused_multiply_add(a[d] - b[d], a[d] - b[d], sum);
  return sum;
}

/// A point that was searched for, its match, the other point next to it, and where it is now. All lie about a line, and
/// the move takes it so far to the other one that both are about equally near: by a few roundings, or by `apart`.
template <typename T>
struct Moved {
  T place[3], match[3], other[3], query[3];

  Moved(std::mt19937_64& random, double apart) {
    std::uniform_real_distribution<double> draw(-1, 1);
    double along[3], length = 0;
    for (double& x : along) {
      x = draw(random);
      length += x * x;
    }
    const double scale = std::exp(6 * draw(random)) / std::sqrt(length);
    const double to_match = 0.1 + std::abs(draw(random)), to_other = to_match + std::abs(draw(random));
    const double walked = (to_other - to_match) / 2 * (1 + apart * draw(random));
    for (int d = 0; d < 3; ++d) {
      const double at = draw(random);
      place[d] = static_cast<T>(at);
      match[d] = static_cast<T>(at - along[d] * scale * to_match);
      other[d] = static_cast<T>(at + along[d] * scale * to_other);
      query[d] = static_cast<T>(at + along[d] * scale * walked);
    }
  }
};

template <typename T>
void expect_no_match_kept_wrongly(std::uint64_t seed, double apart, bool& has_kept) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20000; ++i) {
    const Moved<T> moved(random, apart);
    if (!(reduced_distance(moved.place, moved.match) < reduced_distance(moved.place, moved.other))) continue;
    const T others = cuda::kept_distance(reduced_distance(moved.place, moved.other));
    if (cuda::may_have_changed<T, 3>(moved.query, moved.place, true, moved.match, others, 1e9)) continue;
    has_kept = true;
    ASSERT_LT(reduced_distance(moved.query, moved.match), reduced_distance(moved.query, moved.other))
        << "seed " << seed << ", move " << i << ", " << apart << " apart";
  }
}

template <typename T>
class MatchCertainty : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(MatchCertainty, Types);

TYPED_TEST(MatchCertainty, NeverKeepsAMatchThatASearchWouldReplace) {
  constexpr double kRounding = std::numeric_limits<TypeParam>::epsilon();
  for (const double apart : {4 * kRounding, 100 * kRounding, 1e-2, 1.0}) {
    bool has_kept = false;
    expect_no_match_kept_wrongly<TypeParam>(1, apart, has_kept);
    if (this->HasFatalFailure()) return;
    EXPECT_TRUE(has_kept || apart < 50 * kRounding) << apart << " apart: the rule is of no use";
  }
}

TYPED_TEST(MatchCertainty, SearchesAgainWhatMayComeWithinReach) {
  using T = TypeParam;
  const T place[3] = {0, 0, 0}, match[3] = {};
  const auto may_have_changed = [&](T walked, T others, double reach) {
    const T query[3] = {walked, 0, 0};
    return cuda::may_have_changed<T, 3>(query, place, false, match, others, reach);
  };
  EXPECT_FALSE(may_have_changed(T(0.1), 2, 1.5));
  EXPECT_TRUE(may_have_changed(T(0.5), 2, 1.5));
  EXPECT_TRUE(may_have_changed(T(0.6), 2, 1.5));
  EXPECT_TRUE(may_have_changed(0, -1, 1.5)) << "never searched for";
}

/// Equally near points, and distances of which squares are lost: only a search knows the least number.
TYPED_TEST(MatchCertainty, LeavesTiesToSearches) {
  using T = TypeParam;
  const T place[3] = {0, 0, 0};
  const auto may_have_changed = [&](T distance, T others) {
    const T match[3] = {0, distance, 0};
    return cuda::may_have_changed<T, 3>(place, place, true, match, others, 1e9);
  };
  EXPECT_FALSE(may_have_changed(1, 2));
  EXPECT_TRUE(may_have_changed(1, 1));
  EXPECT_TRUE(may_have_changed(0, 0));
  EXPECT_TRUE(may_have_changed(cuda::kLeastDistance<T> / 4, cuda::kLeastDistance<T> / 2));
  EXPECT_TRUE(may_have_changed(std::numeric_limits<T>::infinity(), cuda::kMostDistance<T>));
}

}  // namespace
}  // namespace kith::test
