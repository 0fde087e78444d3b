// Times searches in k-d trees on the GPU: gpu_search_timer RESULTS.json [quick|cliffs|CLOUD]
//
// Per case: the median of 9 searches after 3 by CUDA events, queries and answers in GPU memory, ordering of queries
// included; and whether a sample of the answers has the bytes of the CPU's, certificates included. The row "one" is a
// query from host memory and back, by the clock. `quick` leaves out more than a million points, the name of a cloud all
// others. `cliffs` measures what lies next to the fast paths: options, shapes and dims, each beside plain uniform
// points, as how many times as long a query takes.
#include "gpu_timing.hpp"

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/kd_tree/build/build.hpp"
#include "cuda/kd_tree/search/search.hpp"
#include "cuda/kd_tree/tree_copies.hpp"
#include "cuda/primitives/sum_counts.hpp"
#include "engine/backend.hpp"
#include "engine/kd_tree/kd_tree.hpp"
#include "engine/knn_rules.hpp"

#include <kith/apps/generate.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace kith;

enum class What : std::uint8_t { self, other, radius, one };
enum class Option : std::uint8_t { none, without_self, earlier_only, half_allowed, bounded, periodic };

const char* name_of(Option option) {
  switch (option) {
    case Option::none:
      return "";
    case Option::without_self:
      return ", without itself";
    case Option::earlier_only:
      return ", earlier only";
    case Option::half_allowed:
      return ", half allowed";
    case Option::bounded:
      return ", bounded";
    case Option::periodic:
      break;
  }
  return ", periodic";
}

const char* name_of(What what) {
  switch (what) {
    case What::self:
      return "self";
    case What::other:
      return "other";
    case What::radius:
      return "radius";
    case What::one:
      break;
  }
  return "one";
}

/// One search over a cloud.
struct Search {
  What what = What::self;
  std::uint32_t k = 8;  ///< of a radius search: about how many neighbours it finds
  std::uint64_t queries = 0;
  double eps = 0;
  std::uint32_t max_leaves = 0;
  Option option = Option::none;

  /// What it is called in results.
  std::string name() const {
    std::ostringstream text;
    text << name_of(what);
    if (eps > 0) text << ", eps " << eps;
    if (max_leaves > 0) text << ", " << max_leaves << (max_leaves == 1 ? " leaf" : " leaves");
    text << name_of(option);
    return text.str();
  }
};

struct Cloud {
  std::string shape;
  std::uint64_t points = 0;
  std::uint32_t dims = 3;
  DType dtype = DType::f32;
  std::vector<Search> searches;
};

struct Row {
  const Cloud* cloud = nullptr;
  Search search;
  std::uint64_t queries = 0;
  double ms = 0;
  bool is_right = false;
};

std::vector<Cloud> all_clouds(bool is_quick) {
  constexpr std::uint64_t k1M = 1'000'000, k10M = 10'000'000;
  const Search self{.k = 8};
  std::vector<Cloud> clouds = {
      {"uniform", 100'000, 3, DType::f32, {self}},
      {"uniform", k1M, 3, DType::f32, {self, {.k = 16}, {.k = 30}}},
      {"uniform", k1M, 8, DType::f32, {{What::other, 10, 100'000}}},
  };
  if (is_quick) return clouds;
  clouds.push_back({"uniform",
                    k10M,
                    3,
                    DType::f32,
                    {{.k = 1},
                     self,
                     {.k = 16},
                     {.k = 30},
                     {.k = 50},
                     {.k = 100},
                     {What::other, 8, k10M},
                     {What::other, 30, k10M},
                     {What::radius, 30, 0},
                     {What::one, 8, 1},
                     {What::self, 8, 0, 0.1},
                     {What::self, 8, 0, 0, 4},
                     {What::other, 1, 100'000, 0, 4},
                     {What::other, 8, 100'000, 0, 16}}});
  for (const char* shape : {"clusters", "lidar", "surface"}) {
    clouds.push_back({shape, k10M, 3, DType::f32, {self, {.k = 16}, {.k = 30}}});
  }
  clouds.push_back({"grid", 1 << 24, 3, DType::f32, {self}});
  for (const std::uint32_t dims : {2u, 4u, 5u}) clouds.push_back({"uniform", k10M, dims, DType::f32, {self}});
  clouds.push_back({"uniform", k10M, 3, DType::f64, {self, {.k = 30}}});
  return clouds;
}

/// Plain uniform points of each number of dims first: what the others are compared with.
std::vector<Cloud> clouds_of_cliffs() {
  constexpr std::uint64_t k1M = 1'000'000, kSome = 100'000;
  std::vector<Cloud> clouds;
  for (const std::uint32_t dims : {2u, 3u, 4u, 5u, 6u, 8u, 10u, 12u}) {
    Cloud cloud{"uniform", k1M, dims, DType::f32, {}};
    const std::uint64_t all = dims < 8 ? k1M : kSome, few = dims < 8 ? kSome : kSome / 10;
    for (const What what : {What::self, What::other}) {
      if (what == What::self && dims >= 8) continue;  // they take as long as others
      for (const std::uint64_t queries : {all, few}) {
        if (what == What::self && queries == few) continue;
        const std::uint64_t asked = what == What::self ? 0 : queries;
        cloud.searches.push_back({what, 8, asked});
        for (const double eps : {0.1, 1.0}) cloud.searches.push_back({what, 8, asked, eps});
        for (const std::uint32_t leaves : {1u, 4u, 16u, 64u}) cloud.searches.push_back({what, 8, asked, 0, leaves});
      }
      for (const Option option :
           {Option::without_self, Option::earlier_only, Option::half_allowed, Option::bounded, Option::periodic}) {
        if (what == What::other && (option == Option::without_self || option == Option::earlier_only)) continue;
        cloud.searches.push_back({what, 8, what == What::self ? 0 : all, 0, 0, option});
      }
    }
    clouds.push_back(cloud);
  }
  const std::vector<Search> plain = {{.k = 8}, {.k = 30}, {What::other, 8, k1M}};
  for (const char* shape :
       {"uniform", "clusters", "lidar", "surface", "grid", "line", "duplicates", "copies", "places"})
    clouds.push_back({shape, k1M, 3, DType::f32, plain});
  clouds.push_back({"uniform", k1M, 3, DType::f64, plain});
  return clouds;
}

/// "copies" are uniform points around 10^6, where f32 has steps of 1/16, and "places" a grid of 7 values in each dim.
PointSet points_of(const Cloud& cloud, std::uint64_t count, std::uint64_t seed) {
  const bool are_copies = cloud.shape == "copies", are_places = cloud.shape == "places";
  if (are_copies || are_places) {
    Cloud plain = cloud;
    plain.shape = "uniform";
    PointSet points = points_of(plain, count, seed);
    for (float& value : points.values<float>()) value = are_copies ? value + 1e6f : std::floor(value * 7);
    return points;
  }
  apps::GenerateOptions options;
  options.shape = apps::parse_shape(cloud.shape);
  options.points = count;
  options.dims = cloud.dims;
  options.dtype = cloud.dtype;
  options.seed = seed;
  return std::move(apps::generate(options).points);
}

/// A tree on the GPU, and a searcher on the CPU over the same tree.
template <typename T>
class Bench {
 public:
  explicit Bench(const Cloud& cloud) : cloud_(cloud), points_(points_of(cloud, cloud.points, 1)) {
    cuda::DeviceBuffer<T> values = on_device<T>(points_.values<T>(), stream_);
    const std::uint32_t leaf_size = engine::default_leaf_size(cloud.dims);
    tree_ = cuda::build_device_tree<T>({values.data(), cloud.dims, 1, nullptr}, points_.rows(), cloud.dims, leaf_size,
                                       false, stream_);
    view_ = cuda::SearchTree<T>(tree_.arrays(), tree_.shape);
    cpu_ = engine::adopt_on_cpu<T>(cuda::copy_tree_to_host(tree_, stream_, {}), Metric::l2(), {});
  }

  Row measure(const Search& search) {
    Row row{&cloud_, search, search.queries == 0 ? points_.rows() : search.queries, 0, false};
    switch (search.what) {
      case What::self:
        knn(row, nullptr);
        break;
      case What::other: {
        const PointSet queries = points_of(cloud_, row.queries, 2);
        knn(row, &queries);
        break;
      }
      case What::radius:
        radius(row);
        break;
      case What::one:
        one(row);
        break;
    }
    return row;
  }

 private:
  static constexpr std::uint64_t kSample = 2000;

  /// Rows of a sample of the queries: all of them every so many.
  std::vector<std::uint64_t> sample(std::uint64_t queries) const {
    std::vector<std::uint64_t> rows;
    for (std::uint64_t i = 0; i < std::min(kSample, queries); ++i)
      rows.push_back(i * queries / std::min(kSample, queries));
    return rows;
  }

  /// The bound that holds about so many points of a unit cube.
  T bound_for(double count) const {
    const double dims = cloud_.dims;
    const double unit_ball = std::pow(3.14159265358979, dims / 2) / std::tgamma(dims / 2 + 1);
    const double r = std::pow(count / static_cast<double>(points_.rows()) / unit_ball, 1 / dims);
    return static_cast<T>(r * r);
  }

  void knn(Row& row, const PointSet* queries) {
    const std::uint32_t k = row.search.k;
    const Option option = row.search.option;
    const T* rows = queries == nullptr ? points_.values<T>().data() : queries->template values<T>().data();
    cuda::DeviceBuffer<T> values;
    cuda::DeviceBuffer<std::uint32_t> order;
    cuda::DeviceBuffer<std::uint32_t> indices(row.queries * k, stream_);
    cuda::DeviceBuffer<T> reduced(row.queries * k, stream_);
    cuda::DeviceBuffer<std::uint8_t> exact(row.queries, stream_);
    engine::KnnRules<T> rules =
        engine::knn_rules<T>(Metric::l2(), SearchOptions{.eps = row.search.eps, .max_leaves = row.search.max_leaves},
                             {cloud_.dims, points_.rows()});
    if (option == Option::bounded) rules.bound = bound_for(k / 2.0);
    std::vector<std::uint64_t> allowed((points_.rows() + 63) / 64, 0x5a5a3c3c69696699);
    cuda::DeviceBuffer<std::uint64_t> allowed_there = on_device(std::span<const std::uint64_t>(allowed), stream_);
    const std::vector<T> period(option == Option::periodic ? cloud_.dims : 0, T(1));
    cuda::DeviceBuffer<T> period_there = on_device(std::span<const T>(period), stream_);
    cuda::KnnTask<T> task{{.metric = {.lengths = period.empty() ? nullptr : period_there.data()},
                           .filter = {.exclude_self = option == Option::without_self,
                                      .earlier_only = option == Option::earlier_only,
                                      .allowed = option == Option::half_allowed ? allowed_there.data() : nullptr},
                           .queries = {.count = row.queries},
                           .k = k,
                           .bound = rules.bound,
                           .answer = {indices.data(), reduced.data()}},
                          view_};
    if (queries != nullptr) {
      values = on_device(std::span(rows, row.queries * cloud_.dims), stream_);
      order = cuda::DeviceBuffer<std::uint32_t>(row.queries, stream_);
      task.queries.rows = values.data();
      task.queries.row_stride = cloud_.dims;
      task.queries.chosen = order.data();
    }
    row.ms = timer_.median_ms([&] {
      if (queries != nullptr) {
        cuda::order_queries(view_, values.data(), cloud_.dims, row.queries, order.data(), stream_);
      }
      if (rules.is_exact()) return cuda::search_knn(task, stream_);
      cuda::search_knn_approximately(
          cuda::ApproximateTask<T>{
              .knn = task, .shrink = rules.shrink, .max_leaves = rules.max_leaves, .exact = exact.data()},
          stream_);
    });
    row.is_right = true;
    const std::vector<std::uint32_t> found = on_host(indices.data(), indices.size());
    const std::vector<T> found_reduced = on_host(reduced.data(), reduced.size());
    const std::vector<std::uint8_t> certain =
        rules.is_exact() ? std::vector<std::uint8_t>(row.queries, 1) : on_host(exact.data(), exact.size());
    std::unique_ptr<engine::Searcher<T>> wrapped;
    if (!period.empty()) {
      wrapped = engine::adopt_on_cpu<T>(cuda::copy_tree_to_host(tree_, stream_, {}), Metric::l2(), period);
    }
    const engine::Searcher<T>& cpu = wrapped == nullptr ? *cpu_ : *wrapped;
    const std::uint32_t more = option == Option::without_self ? k + 1 : k;
    std::vector<std::uint32_t> expected(more);
    std::vector<T> expected_reduced(more);
    for (const std::uint64_t q : sample(row.queries)) {
      const auto below = static_cast<std::uint32_t>(q);
      const engine::QueryBatch<T> batch{
          .rows = rows + q * cloud_.dims,
          .row_stride = cloud_.dims,
          .count = 1,
          .filter = {.below = option == Option::earlier_only ? &below : nullptr,
                     .allowed = option == Option::half_allowed ? allowed.data() : nullptr}};
      std::uint8_t expected_certain = 0;
      cpu.knn(batch, more, rules, {.threads = 1}, expected.data(), expected_reduced.data(), &expected_certain);
      if (more > k) {  // the query itself, or the last one if it has too many copies
        std::uint32_t self = 0;
        while (self + 1 < more && expected[self] != below) ++self;
        std::copy(expected.begin() + self + 1, expected.end(), expected.begin() + self);
        std::copy(expected_reduced.begin() + self + 1, expected_reduced.end(), expected_reduced.begin() + self);
      }
      row.is_right = row.is_right && certain[q] == expected_certain;
      for (std::uint32_t j = 0; j < k; ++j) {
        row.is_right =
            row.is_right && found[q * k + j] == expected[j] && found_reduced[q * k + j] == expected_reduced[j];
      }
    }
  }

  void radius(Row& row) {
    const T bound = bound_for(row.search.k);
    cuda::DeviceBuffer<std::uint32_t> counts(row.queries, stream_);
    cuda::DeviceBuffer<std::uint64_t> starts(row.queries + 1, stream_);
    cuda::RadiusTask<T> task{
        {.metric = {}, .filter = {}, .queries = {.count = row.queries}, .bound = bound, .counts = counts.data()},
        view_};
    cuda::count_within(task, stream_);
    cuda::sum_counts(counts.data(), row.queries, starts.data(), stream_);
    stream_.synchronize();
    const std::vector<std::uint64_t> offsets = on_host(starts.data(), row.queries + 1);
    cuda::DeviceBuffer<std::uint32_t> indices(offsets.back(), stream_);
    cuda::DeviceBuffer<T> reduced(offsets.back(), stream_);
    task.starts = starts.data();
    task.indices = indices.data();
    task.reduced = reduced.data();
    row.ms = timer_.median_ms([&] {
      cuda::count_within(task, stream_);
      cuda::sum_counts(counts.data(), row.queries, starts.data(), stream_);
      cuda::list_within(task, stream_);
    });
    const std::vector<std::uint32_t> found = on_host(indices.data(), indices.size());
    row.is_right = true;
    for (const std::uint64_t q : sample(row.queries)) {
      const engine::QueryBatch<T> batch{
          .rows = points_.values<T>().data() + q * cloud_.dims, .row_stride = cloud_.dims, .count = 1, .filter = {}};
      const engine::ReducedLists<T> expected = cpu_->radius(batch, bound, 0, {.threads = 1});
      row.is_right = row.is_right && expected.indices.size() == offsets[q + 1] - offsets[q] &&
                     std::equal(expected.indices.begin(), expected.indices.end(),
                                found.begin() + static_cast<std::ptrdiff_t>(offsets[q]));
    }
  }

  /// Through the facade, by the clock.
  void one(Row& row) {
    const Index index = Index::build(points_.view(), {.engine = Engine::kd_tree, .device = Device::cuda()});
    const Index expected = Index::build(points_.view(), {.engine = Engine::kd_tree, .device = Device::cpu()});
    std::vector<double> times;
    row.is_right = true;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const PointView query = points_.view().slice(i * 997 % points_.rows(), 1);
      const auto start = std::chrono::steady_clock::now();
      const Neighbors found = index.knn(query, row.search.k, {.threads = 1});
      const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
      times.push_back(taken.count());
      if (i % 10 == 0) row.is_right = row.is_right && found == expected.knn(query, row.search.k, {.threads = 1});
    }
    row.ms = median(times);
  }

  const Cloud& cloud_;
  PointSet points_;
  cuda::Stream stream_;
  EventTimer timer_{stream_.get()};
  cuda::DeviceTree<T> tree_;
  cuda::SearchTree<T> view_;
  std::unique_ptr<engine::Searcher<T>> cpu_;
};

// --- reporting ---

/// Plain searches of uniform points by dims and dtype: what a query takes, of self-searches and of others.
using Plain = std::map<std::tuple<std::uint32_t, DType, What, std::uint64_t>, double>;

void report(const Row& row, Plain* plain, Results& results) {
  const char* dtype = row.cloud->dtype == DType::f32 ? "f32" : "f64";
  double ratio = 1;
  char text[512], beside[64] = "";
  if (plain != nullptr) {
    const std::tuple key(row.cloud->dims, row.cloud->dtype, row.search.what, row.queries);
    const bool is_plain = row.search.k == 8 && row.search.name() == name_of(row.search.what);
    if (is_plain && row.cloud->shape == "uniform") plain->try_emplace(key, row.ms);
    const auto there = plain->find(key);
    if (there != plain->end()) ratio = row.ms / there->second;
    std::snprintf(beside, sizeof beside, ", \"ratio\": %.3f", ratio);
  }
  std::snprintf(text, sizeof text,
                "{\"search\": \"%s\", \"cloud\": \"%s\", \"points\": %llu, \"dims\": %u, \"dtype\": \"%s\", "
                "\"k\": %u, \"queries\": %llu, \"ms\": %.4f%s, \"is_right\": %s}",
                row.search.name().c_str(), row.cloud->shape.c_str(), static_cast<unsigned long long>(row.cloud->points),
                row.cloud->dims, dtype, row.search.k, static_cast<unsigned long long>(row.queries), row.ms, beside,
                row.is_right ? "true" : "false");
  std::printf("%-22s %-10s %11llu %4u %s %5u %11llu %10.4f %9.1f", row.search.name().c_str(), row.cloud->shape.c_str(),
              static_cast<unsigned long long>(row.cloud->points), row.cloud->dims, dtype, row.search.k,
              static_cast<unsigned long long>(row.queries), row.ms, static_cast<double>(row.queries) / row.ms / 1e3);
  if (plain != nullptr) std::printf(" %8.2f", ratio);
  std::printf("  %s\n", row.is_right ? "right" : "WRONG");
  results.add(text, row.is_right);
}

template <typename T>
void measure_cloud(const Cloud& cloud, Plain* plain, Results& results) {
  Bench<T> bench(cloud);
  for (const Search& search : cloud.searches) report(bench.measure(search), plain, results);
}

}  // namespace

int main(int argc, char** argv) {
  return run_timer(argc, argv, "gpu_search_timer RESULTS.json [quick|cliffs|CLOUD]",
                   [](Results& results, const std::string& which) {
                     const bool are_cliffs = which == "cliffs";
                     std::printf("%-22s %-10s %11s %4s %s %5s %11s %10s %9s%s\n", "search", "cloud", "points", "dims",
                                 "   ", "k", "queries", "ms", "M/s", are_cliffs ? "    ratio" : "");
                     results.begin_list("rows");
                     Plain plain;
                     for (const Cloud& cloud : are_cliffs ? clouds_of_cliffs() : all_clouds(which == "quick")) {
                       if (!which.empty() && which != "quick" && !are_cliffs && which != cloud.shape) continue;
                       cloud.dtype == DType::f32 ? measure_cloud<float>(cloud, are_cliffs ? &plain : nullptr, results)
                                                 : measure_cloud<double>(cloud, are_cliffs ? &plain : nullptr, results);
                     }
                   });
}
