// Times exported trees on the GPU: gpu_tree_timer RESULTS.json
//
// Per case: the least, the median and the most of ten calls from an array on the GPU to the node table there; the
// median time of each phase, measured apart; the time to check the table; and whether it is that of the CPU.
#include "gpu_timing.hpp"

#include "cuda/ordered_tree/tree_arrays.hpp"

#include <kith/apps/tree_export.hpp>
#include <kith/apps/tree_export_on_device.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace kith;

struct Case {
  std::string cloud;  ///< uniform, grid (64 values per axis), wide (over 100 binary orders)
  std::uint64_t points = std::uint64_t{1} << 24;
  std::uint32_t dims = 4;
  SplitRule split = SplitRule::widest;
};

std::vector<float> rows_of(const Case& what) {
  std::mt19937_64 random(1);
  std::vector<float> values(what.points * what.dims);
  for (float& value : values) {
    const std::uint64_t word = random();
    const float unit = static_cast<float>(word >> 40) * 0x1p-24f;
    value = what.cloud == "grid"   ? std::floor(unit * 64)
            : what.cloud == "wide" ? std::ldexp(1 + unit, static_cast<int>(word % 100) - 50)
                                   : unit;
  }
  return values;
}

void measure(const Case& what, Results& results) {
  constexpr int kCalls = 10;
  const std::vector<float> rows = rows_of(what);
  const cuda::Stream stream;
  const cuda::DeviceBuffer<float> rows_there = on_device<float>(rows, stream);
  cuda::DeviceBuffer<std::uint32_t> columns[4];
  for (auto& column : columns) column = {what.points, stream};
  const apps::DeviceTreeArrays arrays{columns[0].data(), columns[1].data(), columns[2].data(), columns[3].data()};
  apps::DeviceTreeOptions options;
  options.split = what.split;
  options.stream = stream.get();
  const PointView points(rows_there.data(), what.points, what.dims, Device::cuda());
  apps::TreeOnDevice found;
  const EventTimer timer(stream.get());
  std::vector<double> times;
  for (int run = -kWarmUps; run < kCalls; ++run) {
    const double ms = timer.once_ms([&] { found = apps::export_tree_on_device(points, arrays, options); });
    if (run >= 0) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  std::string phases;
  const auto add = [&](const std::string& prefix, const cuda::BuildPhase& phase) {
    char text[96];
    std::snprintf(text, sizeof text, "%s\"%s%s\": %.4f", phases.empty() ? "" : ", ", prefix.c_str(), phase.name.c_str(),
                  phase.ms);
    phases += text;
  };
  for (const cuda::BuildPhase& phase : phases_of([&](cuda::BuildPhases* into) {
         cuda::export_tree_arrays({points, arrays, options, Device::cuda()}, into);
       })) {
    add("", phase);
  }

  const PointView on_cpu(rows.data(), what.points, what.dims);
  const auto start = std::chrono::steady_clock::now();
  const apps::NodeTable expected = apps::export_node_table(on_cpu, {.split = what.split});
  const double cpu_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  bool right = found.root == expected.root && on_host(columns[0].data(), found.nodes) == expected.point &&
               on_host(columns[1].data(), found.nodes) == expected.split_dim &&
               on_host(columns[2].data(), found.nodes) == expected.less &&
               on_host(columns[3].data(), found.nodes) == expected.greater;
  double check_ms = 0;
  for (const cuda::BuildPhase& phase : phases_of([&](cuda::BuildPhases* into) {
         right = cuda::is_right_tree_of_arrays(
                     {on_cpu,
                      {expected.point.data(), expected.split_dim.data(), expected.less.data(), expected.greater.data()},
                      found,
                      options,
                      Device::cuda()},
                     into) &&
                 right;
       })) {
    check_ms += phase.ms;
  }
  char text[768];
  std::snprintf(text, sizeof text,
                "{\"cloud\": \"%s\", \"points\": %llu, \"dims\": %u, \"dtype\": \"f32\", \"split\": \"%s\", "
                "\"least_ms\": %.4f, \"ms\": %.4f, \"most_ms\": %.4f, \"phases\": {%s}, \"check_ms\": %.4f, "
                "\"cpu_ms\": %.1f, \"is_right\": %s}",
                what.cloud.c_str(), static_cast<unsigned long long>(what.points), what.dims,
                std::string(name_of(what.split)).c_str(), times.front(), median(times), times.back(), phases.c_str(),
                check_ms, cpu_ms, right ? "true" : "false");
  std::printf("%s\n", text);
  results.add(text, right);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Case> cases = {{.cloud = "uniform"},
                                   {.cloud = "uniform", .split = SplitRule::cycle},
                                   {.cloud = "grid", .dims = 3},
                                   {.cloud = "uniform", .points = 1'000'000, .dims = 3},
                                   {.cloud = "wide", .points = 1'000'000, .dims = 3},
                                   {.cloud = "uniform", .points = 1'000'000, .dims = 8},
                                   {.cloud = "uniform", .points = 100'000, .dims = 3}};
  return run_timer(argc, argv, "gpu_tree_timer RESULTS.json", [&](Results& results, const std::string&) {
    results.begin_list("rows");
    for (const Case& what : cases) measure(what, results);
  });
}
