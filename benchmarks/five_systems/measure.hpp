// What the five share: the least, the median and the most of ten runs, rows of JSON, searches, and points.
#pragma once

#include "machine.hpp"

#include "../timer_results.hpp"

#include <kith/device_search.hpp>
#include <kith/index.hpp>
#include <kith/point_set.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace kith::five {

/// What is to be measured, and where results go.
struct Job {
  const Machine& machine;
  Results& results;
  std::uint64_t part = 1;  ///< sizes are divided by it, for machines that are slower than a GPU
  std::string data;        ///< a folder with real data; what is not there is made up

  std::uint64_t sized(std::uint64_t count) const { return count / part == 0 ? 1 : count / part; }
};

void measure_balanced_trees(const Job& job);
void measure_knn(const Job& job);
void measure_scans(const Job& job);
void measure_cover_trees(const Job& job);
void measure_classification(const Job& job);

/// Milliseconds: the least, the median and the most of ten.
using Spread = std::array<double, 3>;

inline Spread spread_of(std::vector<double> times) {
  const double middle = median(times);
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return {*least, middle, *most};
}

/// `work` by the clock of the host, until the device is done; after two runs that are not counted.
template <typename Work>
Spread timed(const Machine& machine, Work&& work) {
  std::vector<double> times;
  for (int run = -2; run < 10; ++run) {
    machine.wait();
    const auto start = std::chrono::steady_clock::now();
    work();
    machine.wait();
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
    if (run >= 0) times.push_back(passed.count());
  }
  return spread_of(times);
}

/// One JSON object.
class Row {
 public:
  Row& text(std::string_view name, std::string_view value) { return put(name) << '"' << value << '"', *this; }
  Row& flag(std::string_view name, bool value) { return put(name) << (value ? "true" : "false"), *this; }
  template <typename Number>
  Row& number(std::string_view name, Number value) {
    return put(name) << value, *this;
  }
  Row& times(std::string_view name, const Spread& ms) {
    return put(name) << '[' << ms[0] << ", " << ms[1] << ", " << ms[2] << ']', *this;
  }
  /// Prints it, and adds it to the results.
  void add_to(Results& results, bool is_right) {
    flag("is_right", is_right);
    const std::string whole = "{" + json_.str() + "}";
    std::printf("%s\n", whole.c_str());
    results.add(whole, is_right);
  }

 private:
  std::ostringstream& put(std::string_view name) {
    json_ << (json_.tellp() == 0 ? "\"" : ", \"") << name << "\": ";
    return json_;
  }
  std::ostringstream json_;
};

/// Answers of a kNN search where the points are.
struct Answers {
  Array<std::uint32_t> indices;
  Array<float> distances;
  Answers(const Machine& machine, std::uint64_t entries) : indices(machine, entries), distances(machine, entries) {}
};

inline bool operator==(const Answers& a, const Answers& b) {
  return a.indices.on_host() == b.indices.on_host() && a.distances.on_host() == b.distances.on_host();
}

/// kNN of queries in the memory of the device; the answers stay there.
inline void search(const Index& index, PointView queries, std::uint32_t k, const Answers& into,
                   std::uint32_t max_leaves = 0) {
  if (index.device() == Device::cpu()) {
    index.knn(queries, k, into.indices.span(), into.distances.span(), {.max_leaves = max_leaves});
  } else {
    DeviceSearch(index).knn(queries, k, into.indices.data(), into.distances.data(), {.max_leaves = max_leaves});
  }
}

/// Of points in [0, 1).
inline std::vector<float> uniform_rows(std::uint64_t rows, std::uint32_t dims, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(rows * dims);
  for (float& value : values) value = static_cast<float>(random() >> 40) * 0x1p-24f;
  return values;
}

}  // namespace kith::five
