// Who asks where the time went is told, on every engine; on the CPU there is nothing but a total.
#include "support/engines.hpp"
#include "support/random_case.hpp"

#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

namespace kith::test {
namespace {

class Times : public testing::TestWithParam<EngineOnDevice> {
 protected:
  static bool on_gpu() { return GetParam().device.kind() == Device::Kind::cuda; }

  static void expect_parts(const WorkTimes& times, bool copies_out) {
    EXPECT_GT(times.total_ms, 0);
    EXPECT_EQ(times.device_ms > 0, on_gpu());
    EXPECT_EQ(times.copy_out_ms > 0, on_gpu() && copies_out);
    EXPECT_GE(times.host_ms(), 0) << "the parts are more than the total";
    if (on_gpu()) return;
    EXPECT_EQ(times.start_ms + times.copy_in_ms, 0);
    EXPECT_EQ(times.host_ms(), times.total_ms);
  }
};

TEST_P(Times, AddUp) {
  std::mt19937_64 random(8);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 20000, 3, random);
  const PointView all = points.view();
  WorkTimes times{.total_ms = -1, .copy_in_ms = 1e9};  // whatever was there before is gone
  const Index index = Index::build(all, {.engine = GetParam().engine, .device = GetParam().device, .times = &times});
  expect_parts(times, false);
  EXPECT_EQ(times.copy_in_ms > 0, on_gpu());
  const std::vector<std::function<void(const SearchOptions&)>> searches = {
      [&](const SearchOptions& options) { index.knn(all.slice(0, 3000), 3, options); },
      [&](const SearchOptions& options) { index.radius(all.slice(0, 3000), 0.01, options); },
      [&](const SearchOptions& options) { index.count(all.slice(0, 3000), 0.01, options); },
      [&](const SearchOptions& options) { index.box(all.slice(0, 900), all.slice(900, 900), options); },
      [&](const SearchOptions& options) { index.box_count(all.slice(0, 900), all.slice(900, 900), options); }};
  for (std::size_t i = 0; i < searches.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "search " << i);
    times = {.total_ms = -1, .copy_in_ms = 1e9};
    searches[i]({.times = &times});
    expect_parts(times, true);
    EXPECT_EQ(times.copy_in_ms > 0, on_gpu());
  }
  index.knn_self(3, {.times = &times});
  expect_parts(times, true);
  index.knn(all.slice(0, 1), 3, {.times = &times});
  expect_parts(times, false);  // a single query is not copied
  const Index loaded = Index::from_bytes(index.to_bytes(), {.device = GetParam().device, .times = &times});
  expect_parts(times, false);
}

INSTANTIATE_TEST_SUITE_P(Available, Times, testing::ValuesIn(available_engines()));

}  // namespace
}  // namespace kith::test
