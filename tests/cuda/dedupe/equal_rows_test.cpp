// Equal rows, the kernels run on the host: what apps::dedupe keeps on the CPU.
#include "cuda/dedupe/dedupe_case.hpp"
#include "cuda/dedupe/equal_steps.cuh"
#include "cuda/emulation/emulated_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace kith::test {
namespace {

/// Bits of the hash: all, so few that rows collide, none.
constexpr std::uint64_t kMasks[] = {~std::uint64_t{0}, std::uint64_t{0x1f} << 59, 0xff, 0};

struct Emulated {
  apps::Deduped deduped;
  std::uint32_t first_bad = 0;
  std::uint32_t sorts = 0;
};

template <typename T>
Emulated emulated_dedupe(const DedupeCase& made, std::uint32_t gap, std::uint64_t hash_mask, bool want_map) {
  const auto count = static_cast<std::uint32_t>(made.points.rows());
  const std::uint32_t dims = made.points.dims(), stride = dims + gap;
  std::vector<T> rows(std::uint64_t{count} * stride, std::numeric_limits<T>::quiet_NaN());
  for (std::uint64_t i = 0; i < count; ++i) std::copy_n(made.points.view().row<T>(i), dims, rows.data() + i * stride);
  const cuda::EqualTask<T> task{.rows = rows.data(),
                                .row_stride = stride,
                                .count = count,
                                .dims = dims,
                                .scores = made.scores.empty() ? nullptr : made.scores.data(),
                                .prefer_low = made.prefer_low,
                                .hash_mask = hash_mask};
  const std::uint64_t bytes = cuda::lay_out_equal_scratch(count, nullptr).bytes;
  const auto memory = std::make_unique<std::byte[]>(bytes + 256);
  std::memset(memory.get(), 0xa5, bytes + 256);
  std::byte* aligned = memory.get() + (256 - reinterpret_cast<std::uintptr_t>(memory.get()) % 256) % 256;
  Emulated found;
  found.deduped.kept.resize(count);
  found.deduped.map.resize(want_map ? count : 0);
  cuda::EmulatedDevice device;
  cuda::EqualSteps<T, cuda::EmulatedDevice> steps(device, task, cuda::lay_out_equal_scratch(count, aligned),
                                                  found.deduped.kept.data(),
                                                  want_map ? found.deduped.map.data() : nullptr);
  const cuda::EqualReport report = steps.run();
  found.deduped.kept.resize(report.kept);
  found.deduped.skipped = report.bad;
  found.first_bad = report.first_bad();
  found.sorts = report.sorts;
  return found;
}

template <typename T>
class EmulatedEqualRows : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(EmulatedEqualRows, Types);

TYPED_TEST(EmulatedEqualRows, AreThoseOfTheCpu) {
  using T = TypeParam;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::uint64_t rows = seed % 10 == 0 ? 1 : seed % 10 == 1 ? 2 : seed % 10 == 2 ? 3000 : 1 + seed * 37 % 700;
    const auto dims = static_cast<std::uint32_t>(1 + seed % 20);
    const DedupeCase made = dedupe_case<T>(seed, rows, dims);
    apps::DedupeOptions options = made.options();
    options.want_map = seed % 6 != 5;
    const apps::Deduped expected = apps::dedupe(made.points.view(), options);
    for (const std::uint64_t mask : kMasks) {
      SCOPED_TRACE(testing::Message() << "dedupe_case(" << seed << ", " << rows << ", " << dims << "), mask " << mask);
      const Emulated found = emulated_dedupe<T>(made, static_cast<std::uint32_t>(seed % 3), mask, options.want_map);
      ASSERT_EQ(found.deduped.kept, expected.kept);
      ASSERT_EQ(found.deduped.map, expected.map);
      ASSERT_EQ(found.deduped.skipped, expected.skipped);
      if (mask == ~std::uint64_t{0} || mask == 0) {
        ASSERT_EQ(found.sorts, mask == 0 && expected.kept.size() > 1 ? 3u : 1u);
      }
    }
  }
}

TYPED_TEST(EmulatedEqualRows, ThatCollideInTheSortedBitsAreSortedByTheOthers) {
  const DedupeCase made = dedupe_case<TypeParam>(1, 600, 3);
  const apps::Deduped expected = apps::dedupe(made.points.view(), made.options());
  const Emulated found = emulated_dedupe<TypeParam>(made, 0, 0xffffffff, true);
  EXPECT_EQ(found.sorts, 2u);
  EXPECT_EQ(found.deduped.kept, expected.kept);
  EXPECT_EQ(found.deduped.map, expected.map);
}

TYPED_TEST(EmulatedEqualRows, TheFirstThatCannotBeUsedIsNamed) {
  using T = TypeParam;
  for (const std::uint32_t dims : {2u, 40u}) {
    DedupeCase made;
    made.points = PointSet(dtype_of<T>, 900, dims);
    std::ranges::fill(made.points.template values<T>(), T(0));
    for (const std::uint64_t row : {899, 300, 711}) {
      made.points.template values<T>()[row * dims + 1] = std::numeric_limits<T>::infinity();
    }
    EXPECT_EQ(emulated_dedupe<T>(made, 0, ~std::uint64_t{0}, false).first_bad, 300u);
    made.scores.assign(900, 3.0);
    made.scores[17] = std::numeric_limits<double>::quiet_NaN();
    const Emulated found = emulated_dedupe<T>(made, 0, ~std::uint64_t{0}, true);
    EXPECT_EQ(found.first_bad, 17u);
    EXPECT_EQ(found.deduped.skipped, 4u);
    EXPECT_EQ(found.deduped.kept, std::vector<std::uint32_t>{0});
  }
}

TEST(EqualRowKeys, SoManyBitsAreSorted) {
  EXPECT_EQ(cuda::sorted_bits(1), 8u);
  EXPECT_EQ(cuda::sorted_bits(1 << 24), 56u);
  EXPECT_EQ(cuda::sorted_bits(0xfffffffe), 64u);
}

}  // namespace
}  // namespace kith::test
