// See search_times.hpp.
#include "search_times.hpp"

#include "readable.hpp"

#include <fmt/format.h>

namespace kith::cli {

std::vector<std::pair<std::string, double>> SearchTimes::stages() const {
  const std::string making = is_loaded ? "load" : "build";
  if (!ran_on_gpu()) {
    return {{"read", read_ms}, {making, build.total_ms}, {"search", search.total_ms}, {"write", write_ms}};
  }
  return {{"read", read_ms},
          {"start of the GPU", build.start_ms},
          {"copy there", build.copy_in_ms},
          {making, build.device_ms},
          {"copy of queries", search.copy_in_ms},
          {"search", search.device_ms},
          {"copy back", search.copy_out_ms},
          {"host", host_ms()},
          {"write", write_ms}};
}

std::string SearchTimes::text() const {
  std::string text;
  for (const auto& [stage, ms] : stages()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", stage, readable_duration(ms));
  }
  if (ran_on_gpu() && search.asked_again > 0) text += fmt::format("; queries retried {}", search.asked_again);
  return text;
}

std::string SearchTimes::evaluations_text(std::uint64_t queries) const {
  if (build.evaluations + search.evaluations == 0) return "";
  return fmt::format("distances measured: {} by the build, {} by the search, {:.1f} per query",
                     readable_count(build.evaluations), readable_count(search.evaluations),
                     static_cast<double>(search.evaluations) / static_cast<double>(queries == 0 ? 1 : queries));
}

void SearchTimes::add_to(nlohmann::ordered_json& report) const {
  report["query_ms"] = search.total_ms;
  report["write_ms"] = write_ms;
  if (build.evaluations + search.evaluations > 0) {
    report["build_evaluations"] = build.evaluations;
    report["evaluations"] = search.evaluations;
  }
  if (!ran_on_gpu()) return;
  report["gpu"] = {{"start_ms", build.start_ms},    {"copy_points_ms", build.copy_in_ms},
                   {"build_ms", build.device_ms},   {"copy_queries_ms", search.copy_in_ms},
                   {"search_ms", search.device_ms}, {"copy_back_ms", search.copy_out_ms},
                   {"host_ms", host_ms()},          {"queries_asked_again", search.asked_again}};
}

}  // namespace kith::cli
