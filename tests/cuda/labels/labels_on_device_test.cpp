// Labels and values by neighbours for arrays on a GPU: the bytes of the host's.
#include "cuda/on_device.hpp"
#include "engine/backend.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/apps/classify.hpp>
#include <kith/apps/classify_on_device.hpp>
#include <kith/apps/regress.hpp>
#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using apps::Weights;

/// A classification, on the host and the same on a GPU.
template <typename T>
struct LabelCase {
  PointSet points, queries;
  std::vector<std::uint32_t> codes;
  std::vector<double> values;
  std::uint32_t classes = 1;
  apps::ClassifyOptions options;
  std::uint64_t most_rows = 0;

  apps::DeviceClassifyOptions on_device() const {
    apps::DeviceClassifyOptions same;
    same.k = options.k;
    same.weights = options.weights;
    same.ties = options.ties;
    same.metric = options.metric;
    same.engine = options.engine;
    return same;
  }
  /// On the host whatever engine is quick.
  apps::ClassifyOptions on_host() const {
    apps::ClassifyOptions same = options;
    same.engine = Engine::automatic;
    same.want_shares = true;
    return same;
  }
};

template <typename T>
LabelCase<T> label_case(NastyShape shape, std::uint64_t points, std::uint64_t queries, std::uint32_t dims,
                        std::uint32_t classes, std::mt19937_64& random) {
  LabelCase<T> made;
  made.points = nasty_points(shape, dtype_of<T>, points, dims, random);
  made.queries = nasty_points(shape, dtype_of<T>, queries, dims, random);
  made.classes = classes;
  for (std::uint64_t i = 0; i < points; ++i) {
    made.codes.push_back(static_cast<std::uint32_t>(random() % classes));
    made.values.push_back(static_cast<double>(random() % 100000) / 7 - 5000);
  }
  return made;
}

/// Room for answers, filled with what no answer is.
template <typename V>
DeviceArray<V> storage(std::uint64_t entries) {
  return DeviceArray<V>(std::vector<V>(entries, static_cast<V>(0x5a5a5a5a)));
}

template <typename T>
void expect_labels_of_host(const LabelCase<T>& made, bool is_sequential, std::uint32_t gap) {
  SCOPED_TRACE(testing::Message() << (is_sequential ? "sequential, " : "") << made.points.rows() << " points, "
                                  << made.queries.rows() << " queries, " << made.points.dims() << " dims, k "
                                  << made.options.k << ", " << made.classes << " classes, "
                                  << made.options.metric.name() << ", " << name_of(made.options.engine));
  const apps::LabelView labels{made.codes, made.classes};
  const apps::Classified expected =
      is_sequential ? classify_sequential(made.points.view(), labels, made.queries.view(), made.on_host())
                    : classify(made.points.view(), labels, made.queries.view(), made.on_host());
  const RowsOnDevice<T> points(made.points.view(), made.points.dims() + gap);
  const RowsOnDevice<T> queries(made.queries.view(), made.points.dims() + 2 * gap);
  const DeviceArray<std::uint32_t> codes(made.codes), found = storage<std::uint32_t>(made.queries.rows());
  const DeviceArray<double> shares = storage<double>(made.queries.rows() * made.classes);
  cudaStream_t stream = nullptr;
  require_success(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  apps::DeviceClassifyOptions options = made.on_device();
  options.stream = stream;
  const apps::ClassifiedOnDevice told = engine::cuda_backend()->label({.points = points.view(),
                                                                       .queries = queries.view(),
                                                                       .options = options,
                                                                       .is_sequential = is_sequential,
                                                                       .codes = {codes.data(), made.classes},
                                                                       .labels = found.data(),
                                                                       .shares = shares.data(),
                                                                       .most_rows = made.most_rows});
  require_success(cudaStreamDestroy(stream));
  ASSERT_EQ(found.values(), expected.labels);
  ASSERT_EQ(shares.values(), expected.shares);
  if (is_sequential) {
    ASSERT_EQ(told.depth, expected.depth);
  }
}

template <typename T>
void expect_means_of_host(const LabelCase<T>& made) {
  const apps::Regressed expected = regress(made.points.view(), made.values, made.queries.view(), made.on_host());
  const RowsOnDevice<T> points(made.points.view(), made.points.dims()),
      queries(made.queries.view(), made.points.dims());
  const DeviceArray<double> values(made.values), means = storage<double>(made.queries.rows());
  engine::cuda_backend()->label({.points = points.view(),
                                 .queries = queries.view(),
                                 .options = made.on_device(),
                                 .values = values.data(),
                                 .means = means.data(),
                                 .most_rows = made.most_rows});
  ASSERT_EQ(means.values(), expected.values);
}

template <typename T>
class SmallLabelsOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallLabelsOnDevice, Types);

TYPED_TEST(SmallLabelsOnDevice, EqualTheHost) {
  for (std::uint64_t seed = 0; seed < rounds(12); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto shape = seed % 3 == 0 ? NastyShape::grid : seed % 3 == 1 ? NastyShape::uniform : NastyShape::two_values;
    const std::uint64_t points = 1 + random() % 300, queries = 1 + random() % 200;
    const auto dims = static_cast<std::uint32_t>(1 + random() % 9);
    const auto classes = static_cast<std::uint32_t>(1 + random() % (seed % 4 == 0 ? 1000 : 5));
    LabelCase<TypeParam> made = label_case<TypeParam>(shape, points, queries, dims, classes, random);
    const Engine engines[] = {Engine::automatic, Engine::brute_force, Engine::kd_tree, Engine::cover_tree};
    made.options.engine = engines[seed % 4];
    made.options.metric = seed % 5 == 4                                   ? Metric::l1()
                          : seed % 5 == 3 && shape == NastyShape::uniform ? Metric::cosine()
                                                                          : Metric::l2();
    made.options.weights = seed % 2 == 0 ? Weights::uniform : Weights::distance;
    made.options.ties = static_cast<apps::Ties>(seed / 2 % 3);
    made.most_rows = seed % 3 == 2 ? 1 + random() % queries : 0;
    const std::uint64_t most = points + queries - 1;
    made.options.k = static_cast<std::uint32_t>(1 + random() % std::min<std::uint64_t>(most, seed % 2 == 0 ? 7 : 120));
    expect_labels_of_host(made, true, static_cast<std::uint32_t>(seed % 3));
    made.options.k = std::min(made.options.k, static_cast<std::uint32_t>(points));
    expect_labels_of_host(made, false, static_cast<std::uint32_t>(seed % 2));
    expect_means_of_host(made);
    if (this->HasFatalFailure()) return;
  }
}

template <typename T>
PointSet along_a_line(std::uint64_t rows, std::uint64_t first) {
  PointSet points(dtype_of<T>, rows, 3);
  const std::span<T> values = points.template values<T>();
  std::fill(values.begin(), values.end(), T(0));
  for (std::uint64_t i = 0; i < rows; ++i) values[3 * i] = static_cast<T>(first + i);
  return points;
}

/// Each depends on the one before.
template <typename T>
void expect_one_label_along_a_line(std::uint64_t rows) {
  const RowsOnDevice<T> points(along_a_line<T>(1, 0).view(), 3), queries(along_a_line<T>(rows, 1).view(), 3);
  const DeviceArray<std::uint32_t> codes(std::vector<std::uint32_t>{4}), found = storage<std::uint32_t>(rows);
  apps::DeviceClassifyOptions options;
  options.k = 1;
  const apps::ClassifiedOnDevice told =
      classify_sequential_on_device(points.view(), {codes.data(), 5}, queries.view(), found.data(), options);
  EXPECT_EQ(told.depth, rows);
  EXPECT_EQ(told.rounds, 1u);
  EXPECT_EQ(found.values(), std::vector<std::uint32_t>(rows, 4));
}

TYPED_TEST(SmallLabelsOnDevice, AlongALine) { expect_one_label_along_a_line<TypeParam>(1500); }

/// So long a chain that the host finds most labels.
TYPED_TEST(SmallLabelsOnDevice, AlongALineEqualTheHost) {
  LabelCase<TypeParam> made;
  made.points = along_a_line<TypeParam>(7, 0);
  made.queries = along_a_line<TypeParam>(4000, 7);
  made.codes = {3, 0, 1, 2, 1, 3, 0};
  made.classes = 4;
  for (const std::uint32_t k : {1u, 4u, 32u}) {
    for (const std::uint64_t most_rows : {0, 1300}) {
      if (rounds(2) < 2 && (k == 4) != (most_rows == 0)) continue;
      made.options.k = k;
      made.options.weights = k == 4 ? Weights::uniform : Weights::distance;
      made.options.ties = k == 4 ? apps::Ties::highest : apps::Ties::nearest;
      made.most_rows = most_rows;
      expect_labels_of_host(made, true, 0);
      if (this->HasFatalFailure()) return;
    }
  }
}

template <typename T>
class LargeLabelsOnDevice : public SmallLabelsOnDevice<T> {};
TYPED_TEST_SUITE(LargeLabelsOnDevice, Types);

TYPED_TEST(LargeLabelsOnDevice, AlongALine) { expect_one_label_along_a_line<TypeParam>(100000); }

TYPED_TEST(LargeLabelsOnDevice, EqualTheHost) {
  std::mt19937_64 random(77);
  LabelCase<TypeParam> made = label_case<TypeParam>(NastyShape::clusters, 60000, 90000, 3, 20, random);
  for (const std::uint32_t k : {1u, 5u, 40u}) {
    made.options.k = k;
    made.options.weights = k == 5 ? Weights::distance : Weights::uniform;
    made.most_rows = k == 40 ? 50000 : 0;
    expect_labels_of_host(made, true, 0);
    expect_labels_of_host(made, false, 1);
    expect_means_of_host(made);
    if (this->HasFatalFailure()) return;
  }
  made = label_case<TypeParam>(NastyShape::uniform, 20000, 2000, 50, 50, random);
  expect_labels_of_host(made, true, 0);
  made = label_case<TypeParam>(NastyShape::uniform, 3000, 3000, 6, 1000, random);
  made.options.k = 2500;
  expect_labels_of_host(made, true, 0);
}

/// One new point after the other on the same spot: each has all before it as neighbours.
TYPED_TEST(LargeLabelsOnDevice, EqualPointsEqualTheHost) {
  std::mt19937_64 random(3);
  LabelCase<TypeParam> made = label_case<TypeParam>(NastyShape::all_equal, 30, 4000, 2, 3, random);
  for (const std::uint32_t k : {3u, 32u, 33u, 1000u}) {
    made.options.k = k;
    expect_labels_of_host(made, true, 0);
    if (this->HasFatalFailure()) return;
  }
}

TEST(LabelsOnDeviceErrors, SmallMistakesAreNamed) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(4);
  LabelCase<float> made = label_case<float>(NastyShape::uniform, 100, 40, 3, 5, random);
  made.values[70] = std::numeric_limits<double>::infinity();
  const RowsOnDevice<float> points(made.points.view(), 3), queries(made.queries.view(), 3);
  const DeviceArray<double> values(made.values), means = storage<double>(40);
  const DeviceArray<std::uint32_t> codes(made.codes), labels = storage<std::uint32_t>(40);
  std::vector<std::uint32_t> on_host(100);
  const auto classified = [&](PointView info, const std::uint32_t* of_points, std::uint32_t classes,
                              std::uint32_t* into, std::uint32_t k = 5) {
    apps::DeviceClassifyOptions options;
    options.k = k;
    apps::classify_on_device(points.view(), {of_points, classes}, info, into, options);
    apps::classify_sequential_on_device(points.view(), {of_points, classes}, info, into, options);
  };
  const auto said = [](const auto& call) { return thrown_message<UsageError>(call); };
  classified(queries.view(), codes.data(), 5, labels.data());
  const auto bad = static_cast<std::uint64_t>(std::find(made.codes.begin(), made.codes.end(), 4u) - made.codes.begin());
  EXPECT_PRED2(holds, said([&] { classified(queries.view(), codes.data(), 4, labels.data()); }),
               "labels: that of point " + std::to_string(bad) + " ");
  EXPECT_PRED2(holds, said([&] { classified(queries.view(), on_host.data(), 5, labels.data()); }),
               "codes: the array is not in the memory of cuda:0");
  EXPECT_PRED2(holds, said([&] { classified(queries.view(), codes.data(), 5, on_host.data()); }),
               "labels: the array is not in the memory of cuda:0");
  EXPECT_PRED2(holds, said([&] { classified(queries.view(), codes.data(), 5, nullptr); }),
               "labels: the pointer is null");
  EXPECT_PRED2(holds, said([&] { classified(made.queries.view(), codes.data(), 5, labels.data()); }),
               "queries: the array is said to be on cpu");
  EXPECT_PRED2(holds, said([&] { classified(queries.view(), codes.data(), 5, labels.data(), 101); }),
               "at most 100 neighbours");
  const auto averaged = [&] { apps::regress_on_device(points.view(), values.data(), queries.view(), means.data()); };
  EXPECT_PRED2(holds, thrown_message<BadData>(averaged), "values: that of point 70 ");

  made.queries.values<float>()[3 * 17 + 1] = std::numeric_limits<float>::quiet_NaN();
  made.queries.values<float>()[3 * 31] = std::numeric_limits<float>::infinity();
  const RowsOnDevice<float> with_nan(made.queries.view(), 3);
  const auto refused = [](const auto& call) { return thrown_message<BadData>(call); };
  EXPECT_PRED2(holds, refused([&] { classified(with_nan.view(), codes.data(), 5, labels.data()); }),
               "queries: row 17 ");
  EXPECT_PRED2(holds, refused([&] {
                 apps::classify_sequential_on_device(points.view(), {codes.data(), 5}, with_nan.view(), labels.data());
               }),
               "new points: row 17, column 1");
  const apps::ClassifiedOnDevice nothing =
      apps::classify_sequential_on_device(points.view(), {codes.data(), 5}, queries.view().slice(0, 0), nullptr);
  EXPECT_EQ(nothing.depth, 0u);
  EXPECT_EQ(nothing.rounds, 0u);
}

}  // namespace
}  // namespace kith::test
