// Searches of arrays on a GPU need an index there; without one the error says so. tests/cuda has the searches
// themselves.
#include "support/thrown_message.hpp"

#include <kith/device_search.hpp>
#include <kith/error.hpp>

#include <gtest/gtest.h>

namespace kith::test {
namespace {

TEST(DeviceSearch, RefusesAnIndexOnTheCpu) {
  const float points[] = {0, 1, 3};
  for (const Engine engine : {Engine::brute_force, Engine::kd_tree}) {
    const Index index = Index::build(PointView(points, 3, 1), {.engine = engine});
    EXPECT_PRED2(holds, thrown_message<UsageError>([&] { DeviceSearch search(index); }), "the index is on cpu");
  }
}

TEST(DeviceBitSearch, RefusesAnIndexOnTheCpu) {
  const std::uint8_t rows[] = {1, 2, 3};
  const BitIndex index = BitIndex::build(BitView(rows, 3, 8));
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { DeviceBitSearch search(index); }), "the index is on cpu");
}

}  // namespace
}  // namespace kith::test
