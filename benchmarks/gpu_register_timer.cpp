// Times registration on the GPU: gpu_register_timer RESULTS.json
//
// Per case: the least, the median and the most of ten calls from clouds on the GPU to the pose, trees and normals
// included; and whether the pose is that of the CPU. Cases with several pairs register them in one call.
#include "gpu_timing.hpp"

#include <kith/apps/registration.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace kith;

struct Case {
  std::string name;
  std::uint64_t source = 0, target = 0;
  apps::RegistrationMethod method = apps::RegistrationMethod::gicp;
  std::uint32_t iterations = 64;  ///< at most
  std::uint64_t pairs = 1;
};

/// A wavy sheet seen twice: the second time turned a little, shifted, with other points and noise.
std::vector<float> sheet(std::uint64_t points, std::uint64_t seed, bool is_moved) {
  std::mt19937_64 random(seed);
  const auto draw = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<float> rows;
  rows.reserve(points * 3);
  for (std::uint64_t i = 0; i < points; ++i) {
    double x = draw() * 2 - 1;
    double y = draw() * 2 - 1;
    double z = 0.2 * std::sin(5 * x) * std::cos(4 * y) + 0.05 * std::sin(17 * x + 11 * y);
    x += 0.0005 * draw();
    y += 0.0005 * draw();
    z += 0.0005 * draw();
    if (is_moved) {
      constexpr double kAngle = 0.03;
      const double turned = std::cos(kAngle) * x - std::sin(kAngle) * y;
      y = std::sin(kAngle) * x + std::cos(kAngle) * y + 0.01;
      x = turned - 0.02;
      z += 0.015;
    }
    for (const double value : {x, y, z}) rows.push_back(static_cast<float>(value));
  }
  return rows;
}

/// `pairs` clouds one after the other.
std::vector<float> sheets(std::uint64_t pairs, std::uint64_t points, std::uint64_t seed, bool is_moved) {
  std::vector<float> rows;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    const std::vector<float> cloud = sheet(points, seed + 2 * i, is_moved);
    rows.insert(rows.end(), cloud.begin(), cloud.end());
  }
  return rows;
}

std::vector<apps::CloudPair> pairs_at(const float* sources, const float* targets, const Case& what, Device device) {
  std::vector<std::uint64_t> from(what.pairs + 1), to(what.pairs + 1);
  for (std::uint64_t i = 0; i <= what.pairs; ++i) {
    from[i] = i * what.source;
    to[i] = i * what.target;
  }
  return apps::pairs_of(PointView(sources, from.back(), 3, device), from, PointView(targets, to.back(), 3, device), to);
}

std::vector<apps::Registration> registered(const std::vector<apps::CloudPair>& pairs,
                                           const apps::DeviceRegistrationOptions& options) {
  if (pairs.size() > 1) return apps::register_pairs(pairs, options);
  if (options.device.kind() == Device::Kind::cpu) {
    return {apps::register_clouds(pairs.front().source, pairs.front().target, options)};
  }
  return {apps::register_on_device(pairs.front().source, pairs.front().target, options)};
}

void measure(const Case& what, Results& results) {
  constexpr int kCalls = 10;
  const std::vector<float> source = sheets(what.pairs, what.source, 1, true);
  const std::vector<float> target = sheets(what.pairs, what.target, 2, false);
  const cuda::Stream stream;
  const cuda::DeviceBuffer<float> source_there = on_device<float>(source, stream);
  const cuda::DeviceBuffer<float> target_there = on_device<float>(target, stream);
  apps::DeviceRegistrationOptions options;
  options.method = what.method;
  options.max_iterations = what.iterations;
  options.max_distance = 0.1;
  if (what.iterations != 64) {  // all of them, however small the steps
    options.rotation_tolerance = 0;
    options.translation_tolerance = 1e-300;
  }
  options.stream = stream.get();
  const std::vector<apps::CloudPair> there = pairs_at(source_there.data(), target_there.data(), what, Device::cuda());
  std::vector<apps::Registration> found;
  std::vector<double> times;
  for (int call = -kWarmUps; call < kCalls; ++call) {
    const auto start = std::chrono::steady_clock::now();
    found = registered(there, options);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (call >= 0) times.push_back(took.count());
  }
  std::sort(times.begin(), times.end());
  apps::DeviceRegistrationOptions on_cpu = options;
  on_cpu.device = Device::cpu();
  const std::vector<apps::CloudPair> here = pairs_at(source.data(), target.data(), what, Device::cpu());
  const auto start = std::chrono::steady_clock::now();
  const std::vector<apps::Registration> expected = registered(here, on_cpu);
  const std::chrono::duration<double, std::milli> cpu = std::chrono::steady_clock::now() - start;
  bool is_right = found.size() == expected.size();
  std::size_t iterations = 0;
  for (std::size_t i = 0; is_right && i < found.size(); ++i) {
    is_right = std::memcmp(&found[i].transformation, &expected[i].transformation, sizeof(apps::Pose)) == 0 &&
               found[i].information == expected[i].information;
    iterations += found[i].iterations.size();
  }
  char text[512];
  std::snprintf(text, sizeof text,
                "{\"case\": \"%s\", \"source\": %llu, \"target\": %llu, \"method\": \"%s\", \"dtype\": \"f32\", "
                "\"iterations\": %zu, \"least_ms\": %.4f, \"ms\": %.4f, \"most_ms\": %.4f, \"cpu_ms\": %.2f, "
                "\"is_right\": %s}",
                what.name.c_str(), static_cast<unsigned long long>(what.source),
                static_cast<unsigned long long>(what.target), std::string(name_of(what.method)).c_str(),
                (iterations + what.pairs / 2) / what.pairs, times.front(), median(times), times.back(), cpu.count(),
                is_right ? "true" : "false");
  std::printf("%s\n", text);
  results.add(text, is_right);
}

}  // namespace

int main(int argc, char** argv) {
  using Method = apps::RegistrationMethod;
  const std::vector<Case> cases = {{"pair", 17000, 17000, Method::gicp},
                                   {"pair", 17000, 17000, Method::plane},
                                   {"1000 pairs", 2000, 2000, Method::gicp, 64, 1000},
                                   {"1000 pairs", 2000, 2000, Method::plane, 64, 1000},
                                   {"1000 pairs", 2000, 2000, Method::point, 64, 1000},
                                   {"object in a scene", 5000, 280000, Method::plane, 20},
                                   {"object in a scene", 5000, 280000, Method::gicp, 20},
                                   {"large pair", 1000000, 1000000, Method::plane, 20},
                                   {"large pair", 1000000, 1000000, Method::gicp, 20},
                                   {"large pair", 1000000, 1000000, Method::point, 20}};
  return run_timer(argc, argv, "gpu_register_timer RESULTS.json", [&](Results& results, const std::string&) {
    results.begin_list("rows");
    for (const Case& what : cases) measure(what, results);
  });
}
