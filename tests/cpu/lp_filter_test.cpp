// The cheap sums that dismiss points under Lp never dismiss one that the reduced distance would keep.
#include "cpu/kd_tree/lp_filter.hpp"

#include "core/metric/reduced_distance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace kith::cpu {
namespace {

template <typename T>
struct Sums {
  T largest = 0, squares = 0, reduced = 0;

  Sums(const std::vector<T>& differences, double p) {
    for (const T e : differences) {
      largest = std::max(largest, std::abs(e));
      squares += e * e;
      reduced = core::step_of_gap(core::Lp(p), reduced, e);
    }
  }
};

template <typename T>
LpReach<T> reach_of(double p, std::uint32_t dims, T limit) {
  LpReach<T> reach(p, dims);
  reach.update(limit);
  return reach;
}

template <typename T>
void keep_what_is_at_the_limit() {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200000; ++round) {
    const double ps[] = {1.000001, 1.1, 1.5, 2.5, 3, 7.25, 40};
    const double p = ps[random() % 7];
    const auto dims = static_cast<std::uint32_t>(1 + random() % 20);
    // From below the normal range to overflow, some equal in all dimensions and some in one only.
    const int span = std::numeric_limits<T>::max_exponent;
    const int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * span)) - span;
    const auto kind = random() % 3;
    std::vector<T> differences(dims);
    for (T& e : differences) {
      const double share = kind == 0 ? 1 : static_cast<double>(random() >> 11) * 0x1p-53;
      e = kind == 2 && &e != &differences[0] ? T(0) : static_cast<T>(std::ldexp(share, exponent));
    }
    const Sums<T> sums(differences, p);
    ASSERT_FALSE(reach_of<T>(p, dims, sums.reduced).is_beyond(sums.largest, sums.squares))
        << "round " << round << ", p " << p << ", dims " << dims << ", exponent " << exponent;
  }
}

TEST(LpFilter, KeepsWhatIsAtTheLimit) {
  keep_what_is_at_the_limit<float>();
  keep_what_is_at_the_limit<double>();
}

TEST(LpFilter, DismissesWhatIsFarBeyond) {
  for (const double p : {1.5, 3.0}) {
    const Sums<float> sums({1, 2, 3}, p);
    EXPECT_TRUE(reach_of<float>(p, 3, sums.reduced / 4).is_beyond(sums.largest, sums.squares)) << p;
    EXPECT_FALSE(reach_of<float>(p, 3, std::numeric_limits<float>::infinity()).is_beyond(sums.largest, sums.squares));
    EXPECT_FALSE(reach_of<float>(p, 3, 0).is_beyond(sums.largest, sums.squares)) << "no proof among denormals";
  }
}

}  // namespace
}  // namespace kith::cpu
