// Times the builders of the k-d tree on the GPU, which give the same tree, points already there: gpu_builders_timer
// RESULTS.json [BUNNY.ply]
//
// Per case and builder: the least of at least 5 builds with memory prepared, builders in turns, the time of each step
// of one build more, the memory, and whether the tree is the contract's.
#include "gpu_timing.hpp"

#include "cuda/kd_tree/build/tree_build.hpp"
#include "cuda/kd_tree/check/check_tree.hpp"
#include "engine/kd_tree/kd_tree.hpp"
#include "engine/validate.hpp"

#include <kith/apps/generate.hpp>
#include <kith/io/read_points.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace kith;

struct Case {
  std::string cloud;
  std::uint64_t points = 0;
  std::uint32_t dims = 3;
};

std::vector<Case> all_cases() {
  constexpr std::uint64_t k16M = 1 << 24;
  std::vector<Case> cases;
  for (const std::uint64_t points :
       {std::uint64_t{2'000}, std::uint64_t{200'000}, std::uint64_t{2'000'000}, k16M, std::uint64_t{100'000'000}}) {
    for (const std::uint32_t dims : {2u, 3u, 4u, 8u}) cases.push_back({"uniform", points, dims});
    if (points > k16M) continue;
    for (const char* cloud : {"surface", "lidar", "grid", "duplicates"}) cases.push_back({cloud, points});
  }
  return cases;
}

std::string measured(const std::string& cloud, PointView points, bool& is_right) {
  constexpr Builder kBuilders[] = {Builder::histogram, Builder::presort, Builder::select, Builder::segsort};
  const std::uint64_t count = points.rows();
  const std::uint32_t dims = points.dims(), leaf_size = engine::default_leaf_size(dims);
  cuda::Stream stream;
  const EventTimer timer(stream.get());
  const cuda::DeviceBuffer<float> values = on_device(std::span(points.row<float>(0), count * dims), stream);
  const cuda::PointSource<float> source{values.data(), dims, 1, nullptr};
  const cuda::TreeShape shape = cuda::tree_shape<float>(count, dims, leaf_size, false);
  std::ostringstream out;
  out << "{\"cloud\": \"" << cloud << "\", \"points\": " << count << ", \"dims\": " << dims << ", \"builders\": [";
  std::printf("%-11s %11llu %u", cloud.c_str(), static_cast<unsigned long long>(count), dims);
  const char* separator = "";
  for (const Builder builder : kBuilders) {
    cuda::TreeBuild<float> build(shape, leaf_size, stream, builder);
    double least = 0, all = 0;
    int runs = 0;
    for (; runs < 7 || (runs < 50 && all < 100); ++runs) {
      const double ms = timer.once_ms([&] { build.launch(source); });
      all += ms;
      if (runs == 2 || (runs > 2 && ms < least)) least = ms;
    }
    cuda::BuildPhases phases;
    build.launch(source, &phases);
    cuda::DeviceTree<float> tree = build.take();
    cuda::DeviceBuffer<std::byte> scratch(cuda::check_scratch_bytes(tree.shape.geometry), stream);
    const bool is_tree = cuda::is_contract_tree(tree.arrays(), tree.shape, leaf_size, scratch.data(), stream.get());
    is_right = is_right && is_tree;
    const std::uint64_t peak =
        cuda::build_memory<float>(shape, leaf_size, cuda::shared_limit_of(stream.device()), builder).peak_bytes;
    out << separator << "{\"name\": \"" << name_of(builder) << "\", \"ms\": " << least << ", \"runs\": " << runs - 2
        << ", \"peak_bytes\": " << peak << ", \"is_right\": " << (is_tree ? "true" : "false") << ", \"phases\": {";
    separator = ", ";
    for (std::size_t p = 0; p < phases.phases.size(); ++p) {
      out << (p == 0 ? "\"" : ", \"") << phases.phases[p].name << "\": " << phases.phases[p].ms;
    }
    out << "}}";
    std::printf("  %s %.3f ms%s", std::string(name_of(builder)).c_str(), least, is_tree ? "" : " WRONG");
  }
  std::printf("\n");
  out << "]}";
  return out.str();
}

}  // namespace

int main(int argc, char** argv) {
  return run_timer(
      argc, argv, "gpu_builders_timer RESULTS.json [BUNNY.ply]", [&](Results& results, const std::string& bunny) {
        results.begin_list("rows");
        const auto add = [&](const std::string& cloud, PointView points) {
          bool is_right = true;
          const std::string row = measured(cloud, points, is_right);
          results.add(row, is_right);
        };
        for (const Case& what : all_cases()) {
          const auto made =
              apps::generate({.shape = apps::parse_shape(what.cloud), .points = what.points, .dims = what.dims});
          add(what.cloud, made.points.view());
        }
        if (!bunny.empty()) add("bunny", io::read_points(bunny, {.dtype = DType::f32}).view());
      });
}
