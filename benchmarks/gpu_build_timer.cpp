// Times the build of k-d trees on the GPU, points already there, by CUDA events: gpu_build_timer RESULTS.json [quick
// [CLOUD]]
//
// Per case: the median of 9 builds after 3, with memory prepared and as a call, each step's time and bytes, the GPU
// memory that a build takes, how long a plain copy of 16 bytes per point takes, and whether the tree is the contract's.
// `quick` leaves out 100 million points, CLOUD all other clouds.
#include "gpu_timing.hpp"

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/kd_tree/build/build.hpp"
#include "cuda/kd_tree/check/check_tree.hpp"
#include "cuda/kd_tree/build/tree_build.hpp"
#include "engine/kd_tree/kd_tree.hpp"
#include "runtime/parallel.hpp"

#include <kith/apps/generate.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace kith;

struct Case {
  std::string cloud;
  std::uint64_t points = 0;
  std::uint32_t dims = 3;
  DType dtype = DType::f32;
};

struct Row {
  Case what;
  double build_ms = 0;  ///< all kernels, memory prepared
  double call_ms = 0;   ///< the same with memory from the pool, and a word to the host at the end
  double copy_ms = 0;   ///< 16 bytes per point from one place of the GPU to another
  double check_ms = 0;  ///< of is_contract_tree
  bool is_right = false;
  std::uint64_t peak_bytes = 0;  ///< of GPU memory, without the caller's points
  std::uint64_t tree_bytes = 0;
  double host_ms = 0;  ///< Index::build from host memory, copies and all; 0: not measured
  std::vector<cuda::BuildPhase> phases;
};

// --- points ---

/// A number of its own for each coordinate, in [0, 2^32).
std::uint32_t scramble(std::uint64_t i) {
  i = (i + 1) * 0x9e3779b97f4a7c15;
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9;
  i = (i ^ (i >> 27)) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>(i >> 32);
}

/// f32 rows whose coordinates a function of (row, dimension, random number) gives.
template <typename Make>
PointSet made_points(const Case& what, Make&& make) {
  PointSet points(DType::f32, what.points, what.dims);
  float* out = points.values<float>().data();
  constexpr std::uint64_t kBlock = 1 << 16;
  runtime::parallel_for((what.points + kBlock - 1) / kBlock, {.threads = 0}, [&](std::uint64_t block) {
    for (std::uint64_t i = block * kBlock; i < std::min(what.points, (block + 1) * kBlock); ++i) {
      for (std::uint32_t d = 0; d < what.dims; ++d) {
        out[i * what.dims + d] = make(i, d, scramble(i * what.dims + d));
      }
    }
  });
  return points;
}

PointSet points_of(const Case& what) {
  constexpr float kUnit = 0x1.0p-32f;
  if (what.cloud == "grid of 32, random") {
    return made_points(what, [](auto, auto, std::uint32_t r) { return static_cast<float>(r >> 27); });
  }
  if (what.cloud == "sorted by x") {
    const auto rows = static_cast<float>(what.points);
    return made_points(what, [rows](std::uint64_t i, std::uint32_t d, std::uint32_t r) {
      return d == 0 ? static_cast<float>(i) / rows : static_cast<float>(r) * kUnit;
    });
  }
  if (what.cloud == "all equal") {
    return made_points(what, [](auto, auto, auto) { return 0.5f; });
  }
  if (what.cloud == "two values") {
    return made_points(what, [](auto, auto, std::uint32_t r) { return (r >> 31) == 0 ? -1.0f : 1.0f; });
  }
  return std::move(
      apps::generate(
          {.shape = apps::parse_shape(what.cloud), .points = what.points, .dims = what.dims, .dtype = what.dtype})
          .points);
}

std::vector<Case> all_cases(bool is_quick) {
  constexpr std::uint64_t k16M = 1 << 24, k1M = 1'000'000;
  std::vector<Case> cases;
  for (const std::uint64_t points :
       {std::uint64_t{10'000}, std::uint64_t{100'000}, k1M, std::uint64_t{10'000'000}, k16M}) {
    cases.push_back({"uniform", points});
  }
  if (!is_quick) cases.push_back({"uniform", 100'000'000});
  cases.push_back({"uniform", k16M, 4});
  cases.push_back({"uniform", k16M, 8});
  cases.push_back({"uniform", k16M, 3, DType::f64});
  for (const std::uint64_t points : {k1M, k16M}) {
    for (const char* cloud :
         {"clusters", "lidar", "surface", "grid", "grid of 32, random", "sorted by x", "all equal", "two values"}) {
      cases.push_back({cloud, points});
    }
  }
  return cases;
}

// --- measuring ---

/// The most memory of the device's pool that `work` had in use at a time.
std::uint64_t peak_of(const std::function<void()>& work) {
  int ordinal = 0;
  cudaMemPool_t pool = nullptr;
  std::uint64_t before = 0, high = 0;
  cuda::check(cudaGetDevice(&ordinal), "asking for the GPU");
  cuda::check(cudaDeviceGetDefaultMemPool(&pool, ordinal), "asking for its memory");
  cuda::check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high), "asking for its memory");
  cuda::check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &before), "asking for its memory");
  work();
  cuda::check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high), "asking for its memory");
  return high - std::min(high, before);
}

template <typename T>
Row measured(const Case& what) {
  const PointSet points = points_of(what);
  const std::uint64_t count = points.rows();
  const std::uint32_t leaf_size = engine::default_leaf_size(what.dims);
  cuda::Stream stream;
  const EventTimer timer(stream.get());
  Row row;
  row.what = what;
  {
    const cuda::DeviceBuffer<std::byte> from(16 * count, stream);
    cuda::DeviceBuffer<std::byte> to(16 * count, stream);
    row.copy_ms = timer.median_ms([&] {
      cuda::check(cudaMemcpyAsync(to.data(), from.data(), 16 * count, cudaMemcpyDeviceToDevice, stream.get()),
                  "copying");
    });
  }
  cuda::DeviceBuffer<T> values(count * what.dims, stream);
  cuda::check(
      cudaMemcpyAsync(values.data(), points.values<T>().data(), values.bytes(), cudaMemcpyHostToDevice, stream.get()),
      "copying points to the GPU");
  stream.synchronize();
  const cuda::PointSource<T> source{values.data(), what.dims, 1, nullptr};
  const auto build = [&](cuda::BuildPhases* phases) {
    return cuda::build_device_tree<T>(source, count, what.dims, leaf_size, false, stream, phases);
  };
  {
    cuda::TreeBuild<T> prepared(cuda::tree_shape<T>(count, what.dims, leaf_size, false), leaf_size, stream);
    row.build_ms = timer.median_ms([&] { prepared.launch(source); });
  }
  row.call_ms = timer.median_ms([&] { build(nullptr); });
  row.phases = phases_of(build);
  cuda::DeviceTree<T> tree;
  row.peak_bytes = peak_of([&] { tree = build(nullptr); });
  row.tree_bytes = tree.memory_bytes();
  cuda::DeviceBuffer<std::byte> scratch(cuda::check_scratch_bytes(tree.shape.geometry), stream);
  row.check_ms = timer.median_ms([&] {
    row.is_right = cuda::is_contract_tree(tree.arrays(), tree.shape, leaf_size, scratch.data(), stream.get());
  });
  if (what.cloud == "uniform" && count == 10'000'000) {
    std::vector<double> times;
    for (int run = -1; run < 5; ++run) {
      const auto start = std::chrono::steady_clock::now();
      const Index index = Index::build(points.view(), {.engine = Engine::kd_tree, .device = Device::cuda()});
      const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
      if (run >= 0) times.push_back(taken.count());
    }
    row.host_ms = median(times);
  }
  return row;
}

// --- reporting ---

std::string json_of(const Row& row) {
  std::ostringstream out;
  char text[1024];
  std::snprintf(text, sizeof text,
                "{\"cloud\": \"%s\", \"points\": %llu, \"dims\": %u, \"dtype\": \"%s\", \"build_ms\": %.4f, "
                "\"call_ms\": %.4f, \"copy_ms\": %.4f, \"check_ms\": %.4f, \"is_right\": %s, \"peak_bytes\": %llu, "
                "\"tree_bytes\": %llu, "
                "\"host_ms\": %.3f, \"phases\": [",
                row.what.cloud.c_str(), static_cast<unsigned long long>(row.what.points), row.what.dims,
                row.what.dtype == DType::f32 ? "f32" : "f64", row.build_ms, row.call_ms, row.copy_ms, row.check_ms,
                row.is_right ? "true" : "false", static_cast<unsigned long long>(row.peak_bytes),
                static_cast<unsigned long long>(row.tree_bytes), row.host_ms);
  out << text;
  for (std::size_t p = 0; p < row.phases.size(); ++p) {
    const cuda::BuildPhase& phase = row.phases[p];
    std::snprintf(text, sizeof text, "%s{\"name\": \"%s\", \"ms\": %.4f, \"bytes\": %llu}", p == 0 ? "" : ", ",
                  phase.name.c_str(), phase.ms, static_cast<unsigned long long>(phase.bytes));
    out << text;
  }
  out << "]}";
  return out.str();
}

void print_row(const Row& row) {
  const auto points = static_cast<double>(row.what.points);
  std::printf("%-20s %11llu %4u %s %9.3f %8.3f %9.1f %8.3f %7.1f %8.1f %8.3f  %s\n", row.what.cloud.c_str(),
              static_cast<unsigned long long>(row.what.points), row.what.dims,
              row.what.dtype == DType::f32 ? "f32" : "f64", row.build_ms, row.call_ms, points / row.build_ms / 1e3,
              row.copy_ms, row.build_ms / row.copy_ms, static_cast<double>(row.peak_bytes) / points, row.check_ms,
              row.is_right ? "right" : "WRONG");
  for (const cuda::BuildPhase& phase : row.phases) {
    std::printf("    %-24s %8.3f ms %8.0f GB/s\n", phase.name.c_str(), phase.ms,
                static_cast<double>(phase.bytes) / phase.ms / 1e6);
  }
  if (row.host_ms > 0) std::printf("    from host memory         %8.3f ms\n", row.host_ms);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string cloud = argc > 3 ? argv[3] : "";
  return run_timer(argc, argv, "gpu_build_timer RESULTS.json [quick [CLOUD]]",
                   [&](Results& results, const std::string& which) {
                     std::printf("%-20s %11s %4s %s %9s %8s %9s %8s %7s %8s %8s\n", "cloud", "points", "dims", "   ",
                                 "build ms", "call ms", "Mpts/s", "copy ms", "copies", "B/point", "check ms");
                     results.begin_list("rows");
                     for (const Case& what : all_cases(which == "quick")) {
                       if (!cloud.empty() && what.cloud != cloud) continue;
                       const Row row = what.dtype == DType::f32 ? measured<float>(what) : measured<double>(what);
                       print_row(row);
                       results.add(json_of(row), row.is_right);
                     }
                   });
}
