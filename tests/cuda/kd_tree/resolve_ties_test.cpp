// Lists that coarse keys have put into order but for runs, the warp run on the host.
#include "cuda/kd_tree/search/warp/resolve_ties.cuh"

#include "cuda/emulation/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

using cuda::Candidate;

/// Lists of up to 256 entries in runs of up to `longest`, within which distances tie or not.
template <typename T>
void expect_resolved(std::uint64_t seed, std::uint32_t longest) {
  std::mt19937_64 random(seed);
  const auto entries = static_cast<std::uint32_t>(1 + random() % 255);
  const std::uint32_t found = entries + static_cast<std::uint32_t>(random() % (257 - entries));
  std::vector<Candidate<T>> ordered;  // by coarse keys
  std::vector<std::uint8_t> exact(512), order(256);
  for (std::uint32_t run = 1; ordered.size() < entries; ++run) {
    const std::uint64_t length = std::min<std::uint64_t>(1 + random() % longest, entries - ordered.size());
    exact[ordered.size()] = 1;
    for (std::uint64_t i = 0; i < length; ++i) {
      const T within = static_cast<T>(random() % 3) / 8;
      ordered.push_back({static_cast<T>(run) + within, static_cast<std::uint32_t>(random())});
    }
  }
  std::vector<std::uint32_t> places(found);
  for (std::uint32_t i = 0; i < found; ++i) places[i] = i;
  std::shuffle(places.begin(), places.end(), random);
  std::vector<T> reduced(found, std::numeric_limits<T>::infinity());
  std::vector<std::uint32_t> numbers(found, cuda::kNoPoint);
  for (std::uint32_t i = 0; i < entries; ++i) {
    order[i] = static_cast<std::uint8_t>(places[i]);
    reduced[places[i]] = ordered[i].distance;
    numbers[places[i]] = ordered[i].index;
  }
  std::sort(ordered.begin(), ordered.end());
  const auto k = static_cast<std::uint32_t>(1 + random() % entries);
  cuda::emulation::run_grid(1, cuda::kWarp, 0, cuda::emulation::Residence::one_by_one, [&] {
    cuda::resolve_ties<T>({{reduced.data(), numbers.data()}, found, entries, order.data(), exact.data()}, k);
  });
  for (std::uint32_t i = 0; i < k; ++i) {
    ASSERT_EQ(reduced[exact[i]], ordered[i].distance) << "seed " << seed << ", place " << i << " of " << k;
    ASSERT_EQ(numbers[exact[i]], ordered[i].index) << "seed " << seed << ", place " << i << " of " << k;
  }
}

TEST(ResolveTies, BringsRunsOfAnyLengthIntoOrder) {
  for (std::uint64_t seed = 0; seed < 60 && !HasFatalFailure(); ++seed) {
    for (const std::uint32_t longest : {2u, 12u, 33u, 48u, 49u, 256u}) {
      expect_resolved<float>(seed, longest);
      expect_resolved<double>(seed, longest);
    }
  }
}

}  // namespace
}  // namespace kith::test
