// Times the reading of one file and prints it as JSON: read_points_timer FILE [THREADS [REPEATS [f32|f64]]]
#include <kith/error.hpp>
#include <kith/io/read_points.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: read_points_timer FILE [THREADS [REPEATS [f32|f64]]]\n", stderr);
    return 2;
  }
  kith::io::ReadOptions options;
  options.threads = argc > 2 ? std::atoi(argv[2]) : 0;
  const int repeats = argc > 3 ? std::max(1, std::atoi(argv[3])) : 1;
  if (argc > 4) options.dtype = std::string_view(argv[4]) == "f32" ? kith::DType::f32 : kith::DType::f64;
  try {
    double best = 0;
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
    for (int i = 0; i < repeats; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const kith::io::PointFile file = kith::io::read_points(argv[1], options);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      best = i == 0 ? seconds : std::min(best, seconds);
      rows = file.points.rows();
      bytes = file.points.bytes();
    }
    std::printf("{\"seconds\": %.6f, \"rows\": %llu, \"bytes\": %llu, \"threads\": %d}\n", best,
                static_cast<unsigned long long>(rows), static_cast<unsigned long long>(bytes), options.threads);
  } catch (const kith::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
  return 0;
}
