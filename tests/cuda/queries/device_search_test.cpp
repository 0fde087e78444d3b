// Searches with queries and answers in the memory of the GPU: the bytes of the host's searches, in the caller's stream.
#include "cuda/on_device.hpp"
#include "support/expect_same.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/device_search.hpp>
#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

/// A stream that does not wait for the default one.
class CallersStream {
 public:
  CallersStream() { require_success(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~CallersStream() { cudaStreamDestroy(stream_); }
  CallersStream(const CallersStream&) = delete;
  CallersStream& operator=(const CallersStream&) = delete;

  cudaStream_t get() const { return stream_; }
  void wait() const { require_success(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Room for answers, filled with what no answer is.
template <typename V>
DeviceArray<V> storage(std::uint64_t entries) {
  return DeviceArray<V>(std::vector<V>(entries, static_cast<V>(0x5a5a5a5a)));
}

/// What a search may be asked for, on the host and on the GPU.
struct Asked {
  bool is_self = false;
  SearchOptions host;
  DeviceSearchOptions device;
};

template <typename T>
void expect_knn_of_host(const DeviceSearch& search, PointView queries, std::uint32_t gap, std::uint32_t k,
                        const Asked& asked) {
  const Index& index = search.index();
  const Neighbors expected = asked.is_self ? index.knn_self(k, asked.host) : index.knn(queries, k, asked.host);
  const RowsOnDevice<T> rows(queries, queries.dims() + gap);
  const CallersStream stream;
  DeviceSearchOptions options = asked.device;
  options.stream = stream.get();
  // In 32 bits where they lie well and one entry further, and in 64.
  const auto expect_in = [&](auto number, std::uint64_t skipped) {
    const DeviceArray<decltype(number)> indices = storage<decltype(number)>(expected.indices().size() + skipped);
    const DeviceArray<T> distances = storage<T>(expected.indices().size() + skipped);
    const DeviceArray<std::uint8_t> exact = storage<std::uint8_t>(expected.queries());
    std::uint8_t* flags = skipped == 0 ? exact.data() : nullptr;
    if (asked.is_self) {
      search.knn_self(k, indices.data() + skipped, distances.data() + skipped, options, flags);
    } else {
      search.knn(rows.view(), k, indices.data() + skipped, distances.data() + skipped, options, flags);
    }
    stream.wait();
    if (flags != nullptr) {
      const std::vector<std::uint8_t> found = exact.values();
      for (std::uint64_t q = 0; q < found.size(); ++q) ASSERT_EQ(found[q], expected.is_exact(q) ? 1 : 0) << q;
    }
    const std::vector<decltype(number)> numbers = indices.values();
    std::vector<T> values = distances.values();
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(skipped));
    expect_same(expected, Neighbors(expected.queries(), k, expected.missing(),
                                    std::vector<std::uint32_t>(numbers.begin() + static_cast<std::ptrdiff_t>(skipped),
                                                               numbers.end()),
                                    Distances(std::move(values)), {expected.exact().begin(), expected.exact().end()}));
  };
  expect_in(std::uint32_t{}, 0);
  expect_in(std::uint32_t{}, 1);
  expect_in(std::int64_t{}, 0);
}

/// The same radii in the memory of the GPU, where each query has its own.
class RadiiThere {
 public:
  explicit RadiiThere(const Radii& radii)
      : there_(radii.each().value_or(std::span<const double>())), radii_(radii.all()) {
    if (radii.each()) radii_ = DeviceRadii(static_cast<const double*>(there_.data()));
  }
  const DeviceRadii& get() const { return radii_; }

 private:
  DeviceArray<double> there_;
  DeviceRadii radii_;
};

template <typename T>
void expect_radius_of_host(const DeviceSearch& search, PointView queries, std::uint32_t gap, const Radii& of_host,
                           const Asked& asked) {
  const Index& index = search.index();
  const NeighborLists expected =
      asked.is_self ? index.radius_self(of_host, asked.host) : index.radius(queries, of_host, asked.host);
  const RadiiThere there(of_host);
  const DeviceRadii radius = there.get();
  const RowsOnDevice<T> rows(queries, queries.dims() + gap);
  const std::uint64_t lists = expected.queries();
  const DeviceArray<std::uint32_t> counts = storage<std::uint32_t>(lists);
  const DeviceArray<std::uint64_t> offsets = storage<std::uint64_t>(lists + 1);
  const CallersStream stream;
  DeviceSearchOptions options = asked.device;
  options.stream = stream.get();
  if (asked.is_self) {
    search.count_self(radius, counts.data(), options);
  } else {
    search.count(rows.view(), radius, counts.data(), options);
  }
  search.offsets(counts.data(), lists, offsets.data(), options);
  stream.wait();
  const std::vector<std::uint64_t> found_offsets = offsets.values();
  ASSERT_EQ(found_offsets, std::vector<std::uint64_t>(expected.offsets().begin(), expected.offsets().end()));
  const auto expect_in = [&](auto number) {
    const DeviceArray<decltype(number)> indices = storage<decltype(number)>(found_offsets.back());
    const DeviceArray<T> distances = storage<T>(found_offsets.back());
    if (asked.is_self) {
      search.radius_self(radius, offsets.data(), indices.data(), distances.data(), options);
    } else {
      search.radius(rows.view(), radius, offsets.data(), indices.data(), distances.data(), options);
    }
    stream.wait();
    const std::vector<decltype(number)> numbers = indices.values();
    expect_same(expected, NeighborLists(expected.points(), found_offsets,
                                        std::vector<std::uint32_t>(numbers.begin(), numbers.end()),
                                        Distances(distances.values())));
  };
  expect_in(std::uint32_t{});
  expect_in(std::int64_t{});
}

template <typename T>
void expect_boxes_of_host(const DeviceSearch& search, PointView lower, PointView upper, const Asked& asked) {
  const PointLists expected = search.index().box(lower, upper, asked.host);
  const RowsOnDevice<T> low(lower, lower.dims()), high(upper, upper.dims());
  const DeviceArray<std::uint32_t> counts = storage<std::uint32_t>(expected.size());
  const DeviceArray<std::uint64_t> offsets = storage<std::uint64_t>(expected.size() + 1);
  const CallersStream stream;
  DeviceSearchOptions options = asked.device;
  options.stream = stream.get();
  search.box_count(low.view(), high.view(), counts.data(), options);
  search.offsets(counts.data(), expected.size(), offsets.data(), options);
  const DeviceArray<std::uint32_t> indices = storage<std::uint32_t>(expected.indices().size());
  search.box(low.view(), high.view(), offsets.data(), indices.data(), options);
  stream.wait();
  expect_same(expected, PointLists(expected.points(), offsets.values(), indices.values()));
}

BuildOptions tree_on_gpu(Metric metric = {}, std::vector<double> period = {}) {
  return {.engine = Engine::kd_tree, .device = Device::cuda(), .metric = metric, .period = std::move(period)};
}

template <typename T>
class SmallDeviceSearch : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }

  /// All searches of `rows` points of a shape.
  void expect_all_like_host(NastyShape shape, std::uint64_t rows, std::uint64_t queries, std::uint32_t dims,
                            BuildOptions build) {
    const PointSet points = nasty_points(shape, dtype_of<T>, rows, dims, random_);
    PointSet info = nasty_points(shape, dtype_of<T>, queries, dims, random_);
    for (std::uint64_t i = 0; i < queries / 50; ++i) {
      info.template values<T>()[random_() % (queries * dims)] = std::numeric_limits<T>::quiet_NaN();
    }
    const Index index = Index::build(points.view(), build);
    const DeviceSearch search(index);
    std::vector<std::uint64_t> allowed((rows + 63) / 64);
    for (std::uint64_t& word : allowed) word = random_() | random_();
    std::vector<std::uint32_t> below(queries);
    for (std::uint32_t& number : below) number = static_cast<std::uint32_t>(random_() % (rows + 1));
    const DeviceArray<std::uint64_t> allowed_there(allowed);
    const DeviceArray<std::uint32_t> below_there(below);
    const double radius = rows < 2 ? 1
                                   : index.knn_self(std::min<std::uint32_t>(9, static_cast<std::uint32_t>(rows)))
                                         .distance(random_() % rows, rows < 9 ? 1 : 8);
    for (const bool is_filtered : {false, true}) {
      for (const bool is_self : {false, true}) {
        SCOPED_TRACE(testing::Message() << (is_self ? "self" : "other") << (is_filtered ? ", filtered" : ""));
        Asked asked;
        asked.is_self = is_self;
        asked.host.skip_nonfinite = true;
        if (is_self) asked.host.exclude_self = asked.device.exclude_self = !is_filtered;
        if (is_filtered) {
          asked.host.allowed = allowed;
          asked.device.allowed = allowed_there.data();
          asked.host.squared = asked.device.squared = build.metric == Metric::l2();
          if (is_self) {
            asked.host.earlier_only = asked.device.earlier_only = true;
          } else {
            asked.host.index_below = below;
            asked.device.index_below = below_there.data();
          }
        }
        expect_radius_of_host<T>(search, info.view(), 1, radius, asked);
        std::vector<double> radii(is_self ? rows : queries);
        for (double& each : radii) each = radius * static_cast<double>(random_() % 1000) / 800;
        expect_radius_of_host<T>(search, info.view(), 1, radii, asked);
        if (!is_self && build.metric == Metric::l2() && build.period.empty()) {
          Asked boxes = asked;
          boxes.host.squared = boxes.device.squared = false;
          expect_boxes_of_host<T>(search, info.view(), info.view(), boxes);
        }
        if (is_filtered) asked.host.max_distance = asked.device.max_distance = radius;
        for (const std::uint32_t k : {1u, 8u, 40u, 700u}) {
          if (rows > 5000 && k > 100) continue;
          expect_knn_of_host<T>(search, info.view(), 2, k, asked);
        }
        asked.host.eps = asked.device.eps = is_self ? 1.5 : 0;
        asked.host.max_leaves = asked.device.max_leaves = is_self ? 0 : 3;
        for (const std::uint32_t k : {1u, 20u, 40u}) expect_knn_of_host<T>(search, info.view(), 2, k, asked);
        if (this->HasFatalFailure()) return;
      }
    }
  }

  std::mt19937_64 random_{31};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallDeviceSearch, Types);

TYPED_TEST(SmallDeviceSearch, EqualsTheHost) {
  for (const std::uint64_t rows : {0, 1, 2, 33, 900}) {
    SCOPED_TRACE(testing::Message() << rows << " points");
    this->expect_all_like_host(NastyShape::uniform, rows, 100, 3, tree_on_gpu());
    this->expect_all_like_host(NastyShape::grid, rows, 50, 2, tree_on_gpu(Metric::l1()));
    this->expect_all_like_host(NastyShape::all_equal, rows, 20, 5, tree_on_gpu(Metric::linf()));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SmallDeviceSearch, CosineAndPeriodsEqualTheHost) {
  this->expect_all_like_host(NastyShape::uniform, 700, 300, 4, tree_on_gpu(Metric::cosine()));
  this->expect_all_like_host(NastyShape::uniform, 700, 300, 3, tree_on_gpu({}, {1, 0, 2}));
}

TYPED_TEST(SmallDeviceSearch, OtherMetricsAndEnginesEqualTheHost) {
  this->expect_all_like_host(NastyShape::uniform, 500, 200, 3, tree_on_gpu(Metric::angular()));
  this->expect_all_like_host(NastyShape::uniform, 500, 200, 2, tree_on_gpu(Metric::haversine()));
  this->expect_all_like_host(NastyShape::uniform, 500, 200, 3, tree_on_gpu(Metric::lp(2.5)));
  for (const Engine engine : {Engine::brute_force, Engine::cover_tree}) {
    this->expect_all_like_host(NastyShape::clusters, 900, 200, 7, {.engine = engine, .device = Device::cuda()});
  }
}

/// A radius in the memory of the GPU cannot be refused: NaN and less than 0 find nothing.
TYPED_TEST(SmallDeviceSearch, BadRadiiFindNothing) {
  const PointSet points = nasty_points(NastyShape::uniform, dtype_of<TypeParam>, 300, 3, this->random_);
  const DeviceSearch search(Index::build(points.view(), tree_on_gpu()));
  std::vector<double> radii(300, 10);
  std::vector<std::uint32_t> expected(300, 300);
  for (std::size_t i = 0; i < radii.size(); i += 3) {
    radii[i] = i % 2 == 0 ? -1e-9 : std::numeric_limits<double>::quiet_NaN();
    expected[i] = 0;
  }
  const DeviceArray<double> there(radii);
  const DeviceArray<std::uint32_t> counts = storage<std::uint32_t>(300);
  search.count_self(there.data(), counts.data());
  require_success(cudaDeviceSynchronize());
  EXPECT_EQ(counts.values(), expected);
  const RowsOnDevice<TypeParam> rows(points.view(), 3);
  search.count(rows.view(), there.data(), counts.data());
  require_success(cudaDeviceSynchronize());
  EXPECT_EQ(counts.values(), expected);
}

TEST(SmallFlagsOnDevice, ArePackedAsFiltersHaveThem) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  const float points[] = {0, 1, 3};
  const DeviceSearch search(Index::build(PointView(points, 3, 1), tree_on_gpu()));
  for (const std::uint64_t count : {1, 64, 65, 100000}) {
    std::vector<std::uint8_t> flags;
    for (std::uint64_t i = 0; i < count; ++i) flags.push_back(i * i % 7 < 3 ? static_cast<std::uint8_t>(i | 1) : 0);
    std::vector<std::uint64_t> expected((count + 63) / 64, 0);
    for (std::uint64_t i = 0; i < count; ++i) expected[i / 64] |= std::uint64_t{flags[i] != 0} << i % 64;
    const DeviceArray<std::uint8_t> there(flags);
    const DeviceArray<std::uint64_t> words = storage<std::uint64_t>(expected.size());
    search.pack(there.data(), count, words.data());
    require_success(cudaDeviceSynchronize());
    EXPECT_EQ(words.values(), expected) << count;
  }
}

template <typename T>
class LargeDeviceSearch : public SmallDeviceSearch<T> {};
TYPED_TEST_SUITE(LargeDeviceSearch, Types);

/// Where queries are put into order and packets take them.
TYPED_TEST(LargeDeviceSearch, EqualsTheHost) {
  for (const NastyShape shape : {NastyShape::uniform, NastyShape::clusters, NastyShape::grid, NastyShape::two_values}) {
    SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape));
    this->expect_all_like_host(shape, 30000, 20000, 3, tree_on_gpu());
    if (this->HasFatalFailure()) return;
  }
}

TEST(DeviceSearchErrors, SmallMistakesAreNamed) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(4);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 100, 3, random);
  const RowsOnDevice<float> rows(points.view(), 3);
  const DeviceSearch search(Index::build(points.view(), tree_on_gpu()));
  const DeviceArray<std::uint32_t> numbers = storage<std::uint32_t>(400);
  const DeviceArray<float> distances = storage<float>(400);
  const DeviceArray<double> doubles = storage<double>(400);
  const DeviceArray<std::uint64_t> offsets = storage<std::uint64_t>(101);
  std::vector<std::uint32_t> on_host(400);
  const auto said = [](const auto& call) { return thrown_message<UsageError>(call); };
  EXPECT_PRED2(holds, said([&] { search.knn(points.view(), 3, numbers.data(), distances.data()); }),
               "queries: the array is said to be on cpu, but the index is on cuda:0");
  const PointView lie(points.view().data(), DType::f32, 100, 3, 3, Device::cuda());
  EXPECT_PRED2(holds, said([&] { search.knn(lie, 3, numbers.data(), distances.data()); }),
               "queries: the array is not in the memory of cuda:0");
  EXPECT_PRED2(holds, said([&] { search.knn(rows.view(), 3, on_host.data(), distances.data()); }),
               "indices: the array is not in the memory of cuda:0");
  std::int64_t* const nothing = nullptr;
  EXPECT_PRED2(holds, said([&] { search.knn(rows.view(), 3, nothing, distances.data()); }), "indices: the pointer");
  EXPECT_PRED2(holds, said([&] { search.knn_self(3, numbers.data(), doubles.data()); }), "the points are f32");
  EXPECT_PRED2(holds, said([&] { search.count(rows.view(), -1, numbers.data()); }), "at least 0");
  const std::vector<double> radii(100, 1.0);
  EXPECT_PRED2(holds, said([&] { search.count(rows.view(), radii.data(), numbers.data()); }),
               "radii: the array is not");
  const double* const no_radii = nullptr;
  EXPECT_PRED2(holds, said([&] { search.count_self(no_radii, numbers.data()); }), "radii: the pointer is null");
  EXPECT_PRED2(holds, said([&] { search.knn_self(3, numbers.data(), distances.data(), {.eps = -1}); }), "eps");
  EXPECT_PRED2(holds, said([&] { search.count_self(1, numbers.data(), {.max_leaves = 1}); }), "max_leaves");
  std::vector<std::uint8_t> flags_on_host(100);
  EXPECT_PRED2(holds, said([&] { search.knn_self(3, numbers.data(), distances.data(), {}, flags_on_host.data()); }),
               "exact: the array is not");
  EXPECT_PRED2(holds, said([&] { search.count(rows.view(), 1, numbers.data(), {.exclude_self = true}); }),
               "exclude_self");
  EXPECT_PRED2(holds, said([&] { search.count_self(1, numbers.data(), {.index_below = numbers.data()}); }),
               "index_below");
  EXPECT_PRED2(holds, said([&] { search.count(rows.view(), 1, numbers.data(), {.index_below = on_host.data()}); }),
               "index_below: the array is not");
  const RowsOnDevice<float> apart(points.view(), 4);
  EXPECT_PRED2(holds, said([&] { search.box_count(apart.view(), rows.view(), numbers.data()); }), "side by side");
  EXPECT_PRED2(holds, said([&] { search.radius(rows.view(), 1, nullptr, numbers.data(), distances.data()); }),
               "offsets: the pointer is null");
  search.knn(rows.view(), 4, numbers.data(), distances.data());  // and still works, in the default stream
  require_success(cudaDeviceSynchronize());
  EXPECT_EQ(numbers.values()[0], 0u);

  PointSet with_nan = nasty_points(NastyShape::uniform, DType::f32, 100, 3, random);
  with_nan.values<float>()[5] = std::numeric_limits<float>::quiet_NaN();
  BuildOptions skipping = tree_on_gpu();
  skipping.skip_nonfinite = true;
  EXPECT_PRED2(holds, said([&] { DeviceSearch(Index::build(with_nan.view(), skipping)); }), "left out 1 of 100 points");
}

}  // namespace
}  // namespace kith::test
