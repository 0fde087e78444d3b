// How long each stage of a search took, for people and as JSON.
#pragma once

#include <kith/work_times.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace kith::cli {

/// On a GPU the stages of the library fall into parts of their own: what is copied there and back, and what is
/// computed.
struct SearchTimes {
  double read_ms = 0;
  bool is_loaded = false;  ///< the index came from a file
  WorkTimes build = {};    ///< or load
  WorkTimes search = {};
  double write_ms = 0;

  /// What took how long, in milliseconds, one after the other.
  std::vector<std::pair<std::string, double>> stages() const;
  /// "read 1.20 ms, build 0.50 ms, search 3.00 ms, write 0.10 ms"
  std::string text() const;
  /// How many distances were measured; empty if they were not counted.
  std::string evaluations_text(std::uint64_t queries) const;
  /// query_ms and write_ms, and the parts and the distances measured if there are any.
  void add_to(nlohmann::ordered_json& report) const;

 private:
  bool ran_on_gpu() const { return build.start_ms + build.device_ms + search.device_ms > 0; }
  double host_ms() const { return build.host_ms() + search.host_ms(); }
};

}  // namespace kith::cli
