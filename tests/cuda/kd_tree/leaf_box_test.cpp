// Boxes of leaves as packets compare them with queries: no leaf with a point in reach is ever left out.
#include "cuda/kd_tree/search/packet/leaf_box.cuh"

#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace kith::test {
namespace {

constexpr std::uint32_t kDims = 3;

template <typename T>
T reduced_between(const T* a, const T* b) {
  T sum = T(0);
  for (std::uint32_t d = 0; d < kDims; ++d) sum = core::step_of_gap(core::L2{}, sum, a[d] - b[d]);
  return sum;
}

/// Some steps of the type away from a value.
template <typename T>
T beside(T value, std::mt19937_64& random) {
  const T towards = random() % 2 == 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  for (std::uint64_t steps = random() % 4; steps > 0; --steps) value = std::nextafter(value, towards);
  return value;
}

template <typename T>
class LeafBox : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(LeafBox, Types);

TYPED_TEST(LeafBox, IsNearWheneverOneOfItsPointsIs) {
  constexpr std::uint64_t kRows = 4096, kPerLeaf = 4;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(NastyShape::count_of_shapes); ++seed) {
    std::mt19937_64 random(seed);
    const auto shape = static_cast<NastyShape>(seed);
    const PointSet points = nasty_points(shape, dtype_of<TypeParam>, kRows, kDims, random);
    const TypeParam* rows = points.values<TypeParam>().data();
    std::uint64_t far = 0;
    for (std::uint64_t first = 0; first < kRows; first += kPerLeaf) {
      TypeParam box[2 * kDims], leaf[2 * kDims], query[kDims];
      for (std::uint32_t d = 0; d < kDims; ++d) {
        box[d] = box[kDims + d] = rows[first * kDims + d];
        for (std::uint64_t i = first; i < first + kPerLeaf; ++i) {
          box[d] = std::min(box[d], rows[i * kDims + d]);
          box[kDims + d] = std::max(box[kDims + d], rows[i * kDims + d]);
        }
      }
      cuda::make_leaf_box<TypeParam, kDims>(box, leaf);
      for (std::uint32_t round = 0; round < 32; ++round) {
        const TypeParam* other = rows + random() % kRows * kDims;
        for (std::uint32_t d = 0; d < kDims; ++d) {
          query[d] = random() % 2 == 0 ? other[d] : beside(box[random() % 2 * kDims + d], random);
        }
        const TypeParam to_leaf = cuda::to_leaf_box<TypeParam, kDims>(query, leaf);
        TypeParam nearest[kDims];  // a point on the box is as good as one of the leaf
        for (std::uint32_t d = 0; d < kDims; ++d) nearest[d] = std::clamp(query[d], box[d], box[kDims + d]);
        const TypeParam reduced = reduced_between(query, nearest);
        ASSERT_LE(to_leaf, cuda::near_enough(reduced)) << "seed " << seed << ", leaf " << first << ", round " << round;
        far += to_leaf > cuda::near_enough(reduced / 2) ? 1 : 0;
      }
    }
    if (shape == NastyShape::uniform) {
      EXPECT_GT(far, kRows) << "most boxes are not near";
    }
  }
}

}  // namespace
}  // namespace kith::test
