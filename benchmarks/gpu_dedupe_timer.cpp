// Times the removal of equal points on the GPU: gpu_dedupe_timer RESULTS.json
//
// Per case: the least, the median and the most of ten calls from an array on the GPU to the kept rows and the map
// there; the median time of each phase, measured apart; and whether the answer is that of the CPU.
#include "gpu_timing.hpp"

#include "cuda/dedupe/dedupe_arrays.hpp"

#include <kith/apps/dedupe.hpp>
#include <kith/apps/dedupe_on_device.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace kith;

struct Case {
  std::string cloud;  ///< "uniform", or "places": copies of 1000 points
  std::uint64_t points = std::uint64_t{1} << 24;
  std::uint32_t dims = 4;
  bool has_scores = false;
};

/// One row in ten is a copy of an earlier one, or all but a thousand are.
std::vector<float> rows_of(const Case& what) {
  std::mt19937_64 random(1);
  std::vector<float> values(what.points * what.dims);
  const bool few = what.cloud == "places";
  for (std::uint64_t i = 0; i < what.points; ++i) {
    const std::uint64_t from = i == 0 ? 0 : random() % (few ? std::min<std::uint64_t>(i, 1000) : i);
    const bool is_copy = i > 0 && (few ? i >= 1000 : random() % 10 == 0);
    for (std::uint32_t d = 0; d < what.dims; ++d) {
      values[i * what.dims + d] = is_copy ? values[from * what.dims + d] : static_cast<float>(random() >> 40);
    }
  }
  return values;
}

void measure(const Case& what, Results& results) {
  constexpr int kCalls = 10;
  const std::vector<float> rows = rows_of(what);
  std::vector<double> scores(what.has_scores ? what.points : 0);
  std::mt19937_64 random(2);
  for (double& score : scores) score = static_cast<double>(random() % 1000000);

  const cuda::Stream stream;
  const cuda::DeviceBuffer<float> rows_there = on_device<float>(rows, stream);
  const cuda::DeviceBuffer<double> scores_there = on_device<double>(scores, stream);
  cuda::DeviceBuffer<std::uint32_t> kept(what.points, stream), map(what.points, stream);
  apps::DeviceDedupeOptions options;
  options.stream = stream.get();
  if (what.has_scores) options.scores = {scores_there.data(), scores.size()};
  const PointView points(rows_there.data(), what.points, what.dims, Device::cuda());
  apps::DedupedOnDevice found;
  const EventTimer timer(stream.get());
  std::vector<double> times;
  for (int run = -kWarmUps; run < kCalls; ++run) {
    const double ms = timer.once_ms([&] { found = dedupe_on_device(points, kept.data(), map.data(), options); });
    if (run >= 0) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  std::string phases;
  for (const cuda::BuildPhase& phase : phases_of([&](cuda::BuildPhases* into) {
         cuda::dedupe_arrays(
             {.points = points, .kept = kept.data(), .map = map.data(), .options = options, .device = Device::cuda()},
             into);
       })) {
    char text[96];
    std::snprintf(text, sizeof text, "%s\"%s\": %.4f", phases.empty() ? "" : ", ", phase.name.c_str(), phase.ms);
    phases += text;
  }

  apps::DedupeOptions on_cpu;
  on_cpu.scores = scores;
  const auto start = std::chrono::steady_clock::now();
  const apps::Deduped expected = apps::dedupe(PointView(rows.data(), what.points, what.dims), on_cpu);
  const double cpu_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const bool right =
      on_host(kept.data(), found.kept) == expected.kept && on_host(map.data(), what.points) == expected.map;
  char text[768];
  std::snprintf(
      text, sizeof text,
      "{\"cloud\": \"%s\", \"points\": %llu, \"dims\": %u, \"dtype\": \"f32\", \"scores\": %s, \"kept\": %llu, "
      "\"least_ms\": %.4f, \"ms\": %.4f, \"most_ms\": %.4f, \"phases\": {%s}, \"cpu_ms\": %.1f, "
      "\"is_right\": %s}",
      what.cloud.c_str(), static_cast<unsigned long long>(what.points), what.dims, what.has_scores ? "true" : "false",
      static_cast<unsigned long long>(found.kept), times.front(), median(times), times.back(), phases.c_str(), cpu_ms,
      right ? "true" : "false");
  std::printf("%s\n", text);
  results.add(text, right);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Case> cases = {{.cloud = "uniform"},
                                   {.cloud = "uniform", .has_scores = true},
                                   {.cloud = "places"},
                                   {.cloud = "uniform", .points = 1'000'000, .dims = 3},
                                   {.cloud = "uniform", .points = 1'000'000, .dims = 100}};
  return run_timer(argc, argv, "gpu_dedupe_timer RESULTS.json", [&](Results& results, const std::string&) {
    results.begin_list("rows");
    for (const Case& what : cases) measure(what, results);
  });
}
