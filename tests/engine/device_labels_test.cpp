// Labels of arrays on a GPU: what is refused before anybody looks for one. tests/cuda has the labels themselves.
#include "support/thrown_message.hpp"

#include <kith/apps/classify_on_device.hpp>
#include <kith/error.hpp>

#include <gtest/gtest.h>

namespace kith::apps {
namespace {

using test::holds;
using test::thrown_message;

/// The arrays are the host's, but they are never read.
struct Arrays {
  float points[6] = {0, 1, 2, 3, 4, 5};
  std::uint32_t codes[3] = {0, 1, 1};
  double values[3] = {1, 2, 3};
  std::uint32_t labels[2] = {};
  double means[2] = {};

  PointView of_points(Device device) const { return PointView(points, 3, 2, device); }
  PointView of_queries(Device device) const { return PointView(points, 2, 2, device); }
  DeviceLabelView of_codes() const { return {codes, 2}; }
};

DeviceClassifyOptions with_k(std::uint32_t k) {
  DeviceClassifyOptions options;
  options.k = k;
  return options;
}

TEST(DeviceLabels, ArraysOfTheHostAreForOthers) {
  Arrays arrays;
  const PointView points = arrays.of_points(Device::cpu()), queries = arrays.of_queries(Device::cpu());
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] {
                 classify_on_device(points, arrays.of_codes(), queries, arrays.labels, with_k(2));
               }),
               "points: the array is said to be on cpu; arrays of the host are for classify and regress");
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] {
                 regress_on_device(points, arrays.values, queries, arrays.means, with_k(2));
               }),
               "points: the array is said to be on cpu");
}

TEST(DeviceLabels, MistakesAreNamed) {
  Arrays arrays;
  const Device gpu = Device::cuda();
  const PointView points = arrays.of_points(gpu), queries = arrays.of_queries(gpu);
  const auto said = [&](const DeviceClassifyOptions& options, PointView asking) {
    return thrown_message<UsageError>(
        [&] { classify_on_device(points, arrays.of_codes(), asking, arrays.labels, options); });
  };
  EXPECT_PRED2(holds, said(with_k(0), queries), "k must be at least 1");
  EXPECT_PRED2(holds, said(with_k(4), queries), "k is 4, but there are at most 3 neighbours");
  EXPECT_PRED2(holds, said(with_k(2), PointView(arrays.points, 3, 1, gpu)), "queries: 1 dimensions");
  EXPECT_PRED2(holds, said(with_k(2), PointView(arrays.points, DType::f32, 2, 2, 1, gpu)),
               "queries: rows that overlap");
  EXPECT_PRED2(holds, said(with_k(2), arrays.of_queries(Device::cuda(1))), "the points are on cuda:0");
  DeviceClassifyOptions by_product = with_k(2);
  by_product.weights = Weights::distance;
  by_product.metric = Metric::inner_product();
  EXPECT_PRED2(holds, said(by_product, queries), "weights by distance");
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] {
                 classify_sequential_on_device(points, arrays.of_codes(), queries, arrays.labels, with_k(5));
               }),
               "k is 5, but there are at most 4 neighbours");
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { classify_on_device(points, {}, queries, arrays.labels); }),
               "codes: the pointer is null");
  EXPECT_PRED2(holds, thrown_message<BadData>([&] {
                 classify_on_device(points.slice(0, 0), arrays.of_codes(), queries, arrays.labels, with_k(1));
               }),
               "2 queries, but no points");
}

TEST(DeviceLabels, NoQueriesNeedNoGpu) {
  const Arrays arrays;
  const PointView points = arrays.of_points(Device::cuda());
  const ClassifiedOnDevice found =
      classify_sequential_on_device(points, arrays.of_codes(), points.slice(0, 0), nullptr, with_k(3));
  EXPECT_EQ(found.depth, 0u);
  EXPECT_EQ(found.rounds, 0u);
}

}  // namespace
}  // namespace kith::apps
