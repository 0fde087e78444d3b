// Times brute force on the GPU, and where a k-d tree is faster: gpu_brute_timer RESULTS.json [quick|NUMBER]
//
// Per case: the median of 9 searches after 3 by CUDA events, points, queries and answers in GPU memory; how many
// queries were retried; and whether a sample of the answers has the bytes of the CPU's. The row "one" is a query
// from host memory and back, by the clock. Then both engines over dims and points, each with queries among its points.
// `quick` leaves the second part out, a number all but that case of the first part.
#include "gpu_timing.hpp"

#include "cuda/brute_force/scan_engine.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/kd_tree/build/build.hpp"
#include "cuda/kd_tree/search/tree_engine.hpp"
#include "engine/kd_tree/kd_tree.hpp"

#include <kith/apps/generate.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace kith;

struct Case {
  std::string shape;
  std::uint64_t points = 0;
  std::uint32_t dims = 3;
  std::uint64_t queries = 0;  ///< 0: every point asks
  std::uint32_t k = 10;
  DType dtype = DType::f32;
  Metric metric = Metric::l2();
};

struct Row {
  Case what;
  double ms = 0;
  double tree_ms = 0;  ///< 0: not measured
  std::uint64_t asked_again = 0;
  bool is_right = false;
  std::string name = "knn";
};

PointSet points_of(const Case& what, std::uint64_t rows, std::uint64_t seed) {
  return std::move(apps::generate({.shape = apps::parse_shape(what.shape),
                                   .points = rows,
                                   .dims = what.dims,
                                   .seed = seed,
                                   .dtype = what.dtype})
                       .points);
}

/// Searches of one case, by any engine.
template <typename T>
class Bench {
 public:
  Bench(const Case& what, const PointSet& points)
      : what_(what),
        points_(points),
        queries_(what.queries == 0 ? PointSet(what.dtype, 0, what.dims) : points_of(what, what.queries, 77)),
        count_(what.queries == 0 ? what.points : what.queries),
        rows_(on_device<T>(queries_.values<T>(), stream_)),
        indices_(count_ * what.k, stream_),
        reduced_(count_ * what.k, stream_),
        asked_again_(1, stream_),
        timer_(stream_.get()) {}

  double time(const cuda::SearchEngine<T>& engine) {
    return timer_.median_ms([&] { ask(engine); });
  }
  std::uint64_t asked_again(const cuda::SearchEngine<T>& engine) {
    cuda::check(cudaMemsetAsync(asked_again_.data(), 0, sizeof(std::uint32_t), stream_.get()), "writing zeros");
    ask(engine);
    stream_.synchronize();
    return on_host(asked_again_.data(), 1)[0];
  }
  /// Of the last search.
  bool is_right() const {
    constexpr std::uint64_t kSample = 24;
    const std::uint64_t step = std::max<std::uint64_t>(count_ / kSample, 1);
    const Index index =
        Index::build(points_.view(), {.engine = Engine::brute_force, .device = Device::cpu(), .metric = what_.metric});
    const PointView asking = what_.queries == 0 ? points_.view() : queries_.view();
    const std::vector<std::uint32_t> indices = on_host(indices_.data(), count_ * what_.k);
    const std::vector<T> reduced = on_host(reduced_.data(), count_ * what_.k);
    for (std::uint64_t q = 0; q < count_; q += step) {
      const Neighbors expected = index.knn(asking.slice(q, 1), what_.k, {.squared = what_.metric == Metric::l2()});
      for (std::uint32_t j = 0; j < what_.k; ++j) {
        if (expected.index(0, j) != indices[q * what_.k + j]) return false;
        if (what_.metric != Metric::cosine() && static_cast<T>(expected.distance(0, j)) != reduced[q * what_.k + j]) {
          return false;
        }
      }
    }
    return true;
  }
  cuda::Stream& stream() { return stream_; }

 private:
  void ask(const cuda::SearchEngine<T>& engine) {
    cuda::KnnRequest<T> request{
        .metric = cuda::SearchMetric<T>::of(what_.metric),
        .queries = {.rows = what_.queries == 0 ? nullptr : rows_.data(), .row_stride = what_.dims, .count = count_},
        .k = what_.k,
        .bound = std::numeric_limits<T>::infinity(),
        .answer = {indices_.data(), reduced_.data()},
        .asked_again = asked_again_.data()};
    if (what_.queries != 0 && engine.wants_order() && count_ >= 4096) {
      if (order_.size() == 0) order_ = cuda::DeviceBuffer<std::uint32_t>(count_, stream_);
      engine.order_queries(rows_.data(), what_.dims, count_, order_.data(), stream_);
      request.queries.chosen = order_.data();
    }
    engine.knn(request, {}, nullptr, stream_);
  }

  Case what_;
  const PointSet& points_;
  PointSet queries_;
  std::uint64_t count_;
  cuda::Stream stream_;
  cuda::DeviceBuffer<T> rows_;
  cuda::DeviceBuffer<std::uint32_t> indices_;
  cuda::DeviceBuffer<T> reduced_;
  cuda::DeviceBuffer<std::uint32_t> asked_again_, order_;
  EventTimer timer_;
};

template <typename T>
Row measured(const Case& what, bool has_tree) {
  const PointSet points = points_of(what, what.points, 1);
  Row row;
  row.what = what;
  Bench<T> bench(what, points);
  {
    const cuda::ScanEngine<T> engine(on_device<T>(points.values<T>(), bench.stream()), what.points, what.dims,
                                     what.metric, false, bench.stream());
    row.ms = bench.time(engine);
    row.asked_again = bench.asked_again(engine);
    row.is_right = bench.is_right();
  }
  if (has_tree) {
    const cuda::DeviceBuffer<T> values = on_device<T>(points.values<T>(), bench.stream());
    const cuda::PointSource<T> source{values.data(), what.dims, 1, nullptr};
    const cuda::DeviceTree<T> tree = cuda::build_device_tree<T>(
        source, what.points, what.dims, engine::default_leaf_size(what.dims), false, bench.stream());
    const cuda::TreeEngine<T> engine(tree);
    row.tree_ms = bench.time(engine);
  }
  return row;
}

/// One query at a time from host memory, and the answer back.
Row one_query(Case what) {
  const PointSet points = points_of(what, what.points, 1), queries = points_of(what, 64, 77);
  const Index index = Index::build(points.view(), {.engine = Engine::brute_force, .device = Device::cuda()});
  std::vector<double> times;
  for (std::uint64_t q = 0; q < queries.rows(); ++q) {
    const auto start = std::chrono::steady_clock::now();
    index.knn(queries.view().slice(q, 1), what.k);
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    if (q >= 8) times.push_back(taken.count());
  }
  const Index expected = Index::build(points.view(), {.engine = Engine::brute_force, .device = Device::cpu()});
  Row row;
  row.name = "one";
  row.what = what;
  row.ms = median(times);
  row.is_right = expected.knn(queries.view(), what.k) == index.knn(queries.view(), what.k);
  return row;
}

std::vector<Case> main_cases() {
  constexpr std::uint64_t k1M = 1'000'000;
  return {{"uniform", 100'000, 3, 0, 16},
          {"uniform", k1M, 128, 10'000, 10},
          {"uniform", k1M, 128, 10'000, 100},
          {"uniform", 8'400'000, 3, 1, 10},
          {"uniform", k1M, 50, 2000, 5},
          {"uniform", 60'000, 784, 0, 10},
          {"clusters", k1M, 128, 10'000, 10},
          {"uniform", 100'000, 3, 0, 1},
          {"uniform", 100'000, 3, 0, 100},
          {"uniform", 100'000, 8, 0, 16},
          {"uniform", 100'000, 16, 0, 16},
          {"uniform", 100'000, 3, 10'000, 1000},
          {"uniform", k1M, 128, 1, 10},
          {"uniform", k1M, 128, 100, 10},
          {"uniform", 100'000, 3, 0, 16, DType::f64},
          {"uniform", 100'000, 128, 1000, 10, DType::f64},
          {"uniform", 100'000, 3, 0, 16, DType::f32, Metric::l1()},
          {"uniform", 100'000, 128, 10'000, 10, DType::f32, Metric::l1()},
          {"uniform", k1M, 8, 100'000, 10},
          {"uniform", k1M, 10, 100'000, 10},
          {"uniform", k1M, 12, 100'000, 10},
          {"uniform", k1M, 16, 100'000, 10},
          {"uniform", k1M, 24, 100'000, 10},
          {"uniform", k1M, 32, 100'000, 10},
          {"uniform", k1M, 33, 100'000, 10},
          {"uniform", k1M, 64, 100'000, 10},
          {"uniform", k1M, 128, 100'000, 10},
          {"clusters", k1M, 64, 10'000, 10},
          {"clusters", k1M, 10, 100'000, 10},
          {"clusters", k1M, 16, 100'000, 10},
          {"uniform", 10'000, 16, 0, 10},
          {"uniform", 30'000, 16, 0, 10}};
}

std::vector<Case> crossover_cases() {
  std::vector<Case> cases;
  for (const std::uint64_t points :
       {std::uint64_t{1000}, std::uint64_t{10'000}, std::uint64_t{100'000}, std::uint64_t{1'000'000}}) {
    for (const std::uint32_t dims : {2u, 3u, 4u, 6u, 8u, 10u, 12u, 16u, 24u}) {
      cases.push_back({"uniform", points, dims, std::min<std::uint64_t>(points, 10'000), 8});
    }
  }
  return cases;
}

void report(Results& results, const Row& row) {
  char text[512];
  const std::uint64_t queries = row.what.queries == 0 ? row.what.points : row.what.queries;
  std::snprintf(text, sizeof text,
                "{\"search\": \"%s\", \"cloud\": \"%s\", \"points\": %llu, \"dims\": %u, \"dtype\": \"%s\", "
                "\"metric\": \"%s\", \"queries\": %llu, \"k\": %u, \"ms\": %.4f, \"tree_ms\": %.4f, "
                "\"asked_again\": %llu, \"is_right\": %s}",
                row.name.c_str(), row.what.shape.c_str(), static_cast<unsigned long long>(row.what.points),
                row.what.dims, row.what.dtype == DType::f32 ? "f32" : "f64", row.what.metric.name().c_str(),
                static_cast<unsigned long long>(queries), row.what.k, row.ms, row.tree_ms,
                static_cast<unsigned long long>(row.asked_again), row.is_right ? "true" : "false");
  std::printf("%-4s %-9s %9llu %5u %s %-4s %8llu %5u %10.3f %10.3f %7llu  %s\n", row.name.c_str(),
              row.what.shape.c_str(), static_cast<unsigned long long>(row.what.points), row.what.dims,
              row.what.dtype == DType::f32 ? "f32" : "f64", row.what.metric.name().c_str(),
              static_cast<unsigned long long>(queries), row.what.k, row.ms, row.tree_ms,
              static_cast<unsigned long long>(row.asked_again), row.is_right ? "right" : "WRONG");
  results.add(text, row.is_right);
}

}  // namespace

int main(int argc, char** argv) {
  return run_timer(
      argc, argv, "gpu_brute_timer RESULTS.json [quick|NUMBER]", [](Results& results, const std::string& which) {
        std::printf("%-4s %-9s %9s %5s %s %-4s %8s %5s %10s %10s %7s\n", "", "cloud", "points", "dims", "   ", "",
                    "queries", "k", "brute ms", "tree ms", "again");
        results.begin_list("rows");
        const auto measure = [&](const Case& what, bool with_tree) {
          report(results,
                 what.dtype == DType::f32 ? measured<float>(what, with_tree) : measured<double>(what, with_tree));
        };
        const std::vector<Case> cases = main_cases();
        if (!which.empty() && which != "quick") return measure(cases.at(std::stoul(which)), false);
        for (const Case& what : cases) measure(what, false);
        report(results, one_query({"uniform", 8'400'000, 3, 1, 10}));
        if (which == "quick") return;
        for (const Case& what : crossover_cases()) measure(what, true);
      });
}
