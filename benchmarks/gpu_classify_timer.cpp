// Times labels by neighbours on the GPU, one new point after the other: gpu_classify_timer RESULTS.json
//
// Per case: the median of several calls from arrays on the GPU to labels on the GPU, the index included; where the time
// went (index; searches and votes as the GPU measures them, the rest is the host's); and whether all labels are those
// of the CPU.
#include "gpu_timing.hpp"

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"

#include <kith/apps/classify.hpp>
#include <kith/apps/classify_on_device.hpp>
#include <kith/error.hpp>
#include <kith/point_set.hpp>

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace kith;

struct Case {
  std::string cloud;  ///< "uniform", or "line": each new point depends on the one before
  std::uint64_t points = 0, queries = 0;
  std::uint32_t dims = 50, classes = 50, k = 5;
};

/// Coordinates from -100 to 100.
std::vector<float> random_rows(std::uint64_t rows, std::uint32_t dims, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(rows * dims);
  for (float& value : values) value = static_cast<float>(random() >> 40) * (200.0f / 16777216.0f) - 100.0f;
  return values;
}

/// (first, 0, 0, ...), (first + 1, 0, 0, ...), ...
std::vector<float> rows_of_line(std::uint64_t rows, std::uint32_t dims, std::uint64_t first) {
  std::vector<float> values(rows * dims);
  for (std::uint64_t i = 0; i < rows; ++i) values[i * dims] = static_cast<float>(first + i);
  return values;
}

/// One call, and where its time went.
struct Times {
  std::vector<double> all, build, search, vote;
};

void measure(const Case& what, Results& results) {
  const bool is_line = what.cloud == "line";
  const std::vector<float> rows =
      is_line ? rows_of_line(what.points, what.dims, 0) : random_rows(what.points, what.dims, 1);
  const std::vector<float> asking =
      is_line ? rows_of_line(what.queries, what.dims, what.points) : random_rows(what.queries, what.dims, 2);
  std::vector<std::uint32_t> codes(what.points);
  std::mt19937_64 random(3);
  for (std::uint32_t& code : codes) code = static_cast<std::uint32_t>(random() % what.classes);

  const cuda::Stream stream;
  const cuda::DeviceBuffer<float> rows_there = on_device<float>(rows, stream),
                                  asking_there = on_device<float>(asking, stream);
  const cuda::DeviceBuffer<std::uint32_t> codes_there = on_device<std::uint32_t>(codes, stream);
  cuda::DeviceBuffer<std::uint32_t> labels(what.queries, stream);
  apps::DeviceClassifyOptions options;
  options.k = what.k;
  options.stream = stream.get();
  apps::ClassifiedOnDevice told;
  const EventTimer timer(stream.get());
  Times times;
  for (int run = -kWarmUps; run < kRuns; ++run) {
    const double ms = timer.once_ms([&] {
      told = classify_sequential_on_device(
          PointView(rows_there.data(), what.points, what.dims, Device::cuda()), {codes_there.data(), what.classes},
          PointView(asking_there.data(), what.queries, what.dims, Device::cuda()), labels.data(), options);
    });
    if (run < 0) continue;
    times.all.push_back(ms);
    times.build.push_back(told.work.build_ms);
    times.search.push_back(told.work.search_ms);
    times.vote.push_back(told.work.vote_ms);
  }
  std::vector<std::uint32_t> found(what.queries);
  cuda::check(cudaMemcpy(found.data(), labels.data(), labels.bytes(), cudaMemcpyDeviceToHost), "copying labels");

  apps::ClassifyOptions on_host;
  on_host.k = what.k;
  on_host.device = Device::cpu();  // `automatic` takes the GPU from a million points on
  const apps::Classified expected =
      classify_sequential(PointView(rows.data(), what.points, what.dims), {codes, what.classes},
                          PointView(asking.data(), what.queries, what.dims), on_host);
  const bool right = expected.labels == found && expected.depth == told.depth;
  const double cpu_ms = expected.work.build_ms + expected.work.search_ms + expected.work.vote_ms;
  char text[768];
  std::snprintf(text, sizeof text,
                "{\"cloud\": \"%s\", \"points\": %llu, \"new\": %llu, \"dims\": %u, \"classes\": %u, \"k\": %u, "
                "\"dtype\": \"f32\", \"engine\": \"%s\", \"ms\": %.4f, \"index_ms\": %.4f, \"search_ms\": %.4f, "
                "\"vote_ms\": %.4f, \"depth\": %llu, \"cpu_ms\": %.1f, \"is_right\": %s}",
                what.cloud.c_str(), static_cast<unsigned long long>(what.points),
                static_cast<unsigned long long>(what.queries), what.dims, what.classes, what.k,
                std::string(name_of(told.work.engine)).c_str(), median(times.all), median(times.build),
                median(times.search), median(times.vote), static_cast<unsigned long long>(told.depth), cpu_ms,
                right ? "true" : "false");
  std::printf(
      "%-8s %8llu points %8llu new %3u dims %3u classes k %u %-6s %9.3f ms (index %.3f, search %.3f, votes %.3f) depth "
      "%llu  CPU %.0f ms  %s\n",
      what.cloud.c_str(), static_cast<unsigned long long>(what.points), static_cast<unsigned long long>(what.queries),
      what.dims, what.classes, what.k, std::string(name_of(told.work.engine)).c_str(), median(times.all),
      median(times.build), median(times.search), median(times.vote), static_cast<unsigned long long>(told.depth),
      cpu_ms, right ? "right" : "WRONG");
  results.add(text, right);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::uint64_t k1M = 1'000'000, k256K = 256'000;
  const std::vector<Case> cases = {
      {.cloud = "uniform", .points = k1M, .queries = 2000},
      {.cloud = "uniform", .points = k256K, .queries = 2000},
      {.cloud = "uniform", .points = k256K, .queries = 1000},
      {.cloud = "uniform", .points = k256K, .queries = 2000, .classes = 100},
      {.cloud = "uniform", .points = k256K, .queries = 2000, .dims = 100},
      {.cloud = "uniform", .points = k1M, .queries = k1M, .dims = 3},
      {.cloud = "line", .points = 1, .queries = 100'000, .dims = 3, .classes = 2, .k = 1},
  };
  return run_timer(argc, argv, "gpu_classify_timer RESULTS.json", [&](Results& results, const std::string&) {
    results.begin_list("rows");
    for (const Case& what : cases) measure(what, results);
  });
}
