// Times cover trees on the GPU, objects already there: gpu_cover_timer RESULTS.json [quick]
//
// Per case: the median of 9 builds after 3, as a call with memory from the pool; each phase's time; distances measured
// per object; GPU memory; and whether the CPU builds the same bytes, and how long that takes; by both builders. `quick`
// leaves out the largest cases.
#include "gpu_timing.hpp"

#include "cpu/cover_tree/build.hpp"
#include "cpu/cover_tree/build_by_lists.hpp"
#include "cpu/cover_tree/vector_space.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/cover_tree/build/build.hpp"
#include "cuda/cover_tree/build/build_vectors.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace kith;

constexpr std::uint32_t kLeafSize = 32;

/// Normal clusters whose axes are the shorter the later: of few dimensions, whatever `dims` says.
struct Case {
  std::uint32_t points = 0;
  std::uint32_t dims = 0;
  std::uint32_t clusters = 0;
};

struct Row {
  Case what;
  Builder builder = Builder::batch;
  double build_ms = 0;
  double cpu_ms = 0;
  double evaluations = 0;  ///< per point
  std::uint64_t nodes = 0;
  std::uint64_t tree_bytes = 0;
  bool is_right = false;
  std::vector<cuda::BuildPhase> phases;
};

std::vector<float> points_of(const Case& what) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> centres(std::size_t{what.clusters} * what.dims), axes(centres.size());
  for (float& x : centres) x = 10 * normal(random);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i] = 2 * std::abs(normal(random)) / static_cast<float>(1 + i % what.dims);
  }
  std::vector<float> rows(std::size_t{what.points} * what.dims);
  constexpr std::uint32_t kBlock = 4096;
  runtime::parallel_for((what.points + kBlock - 1) / kBlock, {.threads = 0}, [&](std::uint64_t block) {
    std::mt19937 own(static_cast<std::uint32_t>(block + 2));
    std::normal_distribution<float> distribution;
    for (std::uint64_t i = block * kBlock; i < std::min<std::uint64_t>(what.points, (block + 1) * kBlock); ++i) {
      const std::size_t cluster = own() % what.clusters * std::size_t{what.dims};
      for (std::uint32_t d = 0; d < what.dims; ++d) {
        rows[i * what.dims + d] = centres[cluster + d] + axes[cluster + d] * distribution(own);
      }
    }
  });
  return rows;
}

template <typename V>
bool same_bytes(std::span<const V> a, std::span<const V> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

Row measured(const Case& what, const std::vector<float>& rows, Builder builder) {
  const cuda::Stream stream;
  const EventTimer timer(stream.get());
  cuda::DeviceBuffer<float> values = on_device<float>(rows, stream);
  const auto build = [&](cuda::BuildPhases* phases) {
    return cuda::build_cover_tree_of_vectors(static_cast<const float*>(values.data()), what.points, what.dims,
                                             Metric::Kind::l2, cuda::CoverRules::of(kLeafSize, builder), stream,
                                             phases);
  };
  Row row;
  row.what = what;
  row.builder = builder;
  row.build_ms = timer.median_ms([&] { build(nullptr); });
  row.phases = phases_of(build);
  const cuda::DeviceCoverTree tree = build(nullptr);
  row.nodes = tree.nodes.size();
  row.tree_bytes = tree.memory_bytes();
  row.evaluations = static_cast<double>(tree.evaluations) / what.points;
  const engine::CoverTree built = cuda::copy_to_host(tree, stream);
  const cpu::VectorSpace<float> space(rows.data(), what.points, what.dims, Metric::l2());
  const auto start = std::chrono::steady_clock::now();
  const cpu::CoverBuildOptions options{.leaf_size = kLeafSize, .run = {.threads = 0}, .evaluations = nullptr};
  const engine::CoverTree expected = builder == Builder::lists ? cpu::build_cover_tree_by_lists(space, options)
                                                               : cpu::build_cover_tree(space, options);
  row.cpu_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  row.is_right = same_bytes(built.nodes, expected.nodes) && same_bytes(built.order, expected.order) &&
                 same_bytes(built.distances, expected.distances);
  return row;
}

void report(Results& results, const Row& row) {
  std::ostringstream out;
  std::printf("%8u x %3u, %5u clusters, %s: build %.2f ms (CPU %.0f ms), %.0f distances per point, %llu nodes%s\n",
              row.what.points, row.what.dims, row.what.clusters, name_of(row.builder).data(), row.build_ms, row.cpu_ms,
              row.evaluations, static_cast<unsigned long long>(row.nodes),
              row.is_right ? "" : ", NOT THE TREE OF THE CPU");
  out << "{\"points\": " << row.what.points << ", \"dims\": " << row.what.dims
      << ", \"clusters\": " << row.what.clusters << ", \"builder\": \"" << name_of(row.builder)
      << "\", \"build_ms\": " << row.build_ms << ", \"cpu_ms\": " << row.cpu_ms
      << ", \"evaluations_per_point\": " << row.evaluations << ", \"nodes\": " << row.nodes
      << ", \"tree_bytes\": " << row.tree_bytes << ", \"is_right\": " << (row.is_right ? "true" : "false")
      << ", \"phases\": [";
  bool is_first_phase = true;
  for (const cuda::BuildPhase& phase : row.phases) {
    std::printf("    %-12s %8.3f ms\n", phase.name.c_str(), phase.ms);
    out << (is_first_phase ? "" : ", ") << "{\"name\": \"" << phase.name << "\", \"ms\": " << phase.ms << "}";
    is_first_phase = false;
  }
  out << "]}";
  results.add(out.str(), row.is_right);
}

}  // namespace

int main(int argc, char** argv) {
  return run_timer(argc, argv, "gpu_cover_timer RESULTS.json [quick]", [](Results& results, const std::string& which) {
    std::vector<Case> cases = {{100'000, 16, 100}, {581'012, 54, 100}};
    if (which != "quick") {
      cases.push_back({581'012, 54, 10'000});
      cases.push_back({4'000'000, 8, 1000});
    }
    results.begin_list("builds");
    for (const Case& what : cases) {
      const std::vector<float> rows = points_of(what);
      for (const Builder builder : {Builder::batch, Builder::lists}) report(results, measured(what, rows, builder));
    }
  });
}
