// What kith bench times: a fixed suite of searches, a row of sizes, and how fast this machine copies.
#pragma once

#include "terminal_progress.hpp"

#include <kith/index.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace kith::cli {

/// One search: uniform points and as many queries of the same kind.
struct BenchCase {
  std::uint64_t points = 0;
  std::uint64_t queries = 0;
  std::uint32_t dims = 0;
  std::uint32_t k = 0;
  DType dtype = DType::f32;

  friend bool operator==(const BenchCase&, const BenchCase&) = default;
};

struct Timing {
  BenchCase setting{};
  Engine engine = Engine::automatic;
  Device device;
  double build_ms = 0;
  double query_ms = 0;

  double pairs() const { return static_cast<double>(setting.points) * static_cast<double>(setting.queries); }
  double nanoseconds_per_pair() const { return query_ms * 1e6 / pairs(); }
  double queries_per_second() const { return static_cast<double>(setting.queries) / (query_ms / 1e3); }
  double points_per_second() const { return static_cast<double>(setting.points) / (build_ms / 1e3); }
};

/// The axes: few and many dims, small and large k, both types. A second or two each on two cores.
std::vector<BenchCase> bench_suite(bool quick);
/// Larger and larger sets of points in 3 dims, for a report.
std::vector<BenchCase> growing_cases(bool quick);

struct BenchRun {
  bool quick = false;
  std::uint64_t seed = 1;
  BuildOptions build;

  int rounds() const { return quick ? 2 : 3; }
};

/// The best of some rounds: other work on the machine only ever adds time. Throws Interrupted.
Timing time_case(const BenchCase& setting, const BenchRun& run, TerminalProgress& progress);

/// Bytes read and written per second by so many threads that copy large arrays.
double copied_bytes_per_second(int threads);

nlohmann::ordered_json json_of(const Timing& timing);

}  // namespace kith::cli
