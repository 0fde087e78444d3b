// See search_times.hpp.
#include "search_times.hpp"

#include "readable.hpp"

#include <fmt/format.h>

namespace kith::cli {

std::string SearchTimes::text() const {
  const char* making = is_loaded ? "load" : "build";
  if (!ran_on_gpu()) {
    return fmt::format("read {}, {} {}, search {}, write {}", readable_duration(read_ms), making,
                       readable_duration(build.total_ms), readable_duration(search.total_ms),
                       readable_duration(write_ms));
  }
  std::string text = fmt::format(
      "read {}, start of the GPU {}, copy there {}, {} {}, copy of queries {}, search {}, copy back {}, host {}, "
      "write {}",
      readable_duration(read_ms), readable_duration(build.start_ms), readable_duration(build.copy_in_ms), making,
      readable_duration(build.device_ms), readable_duration(search.copy_in_ms), readable_duration(search.device_ms),
      readable_duration(search.copy_out_ms), readable_duration(host_ms()), readable_duration(write_ms));
  if (search.asked_again > 0) text += fmt::format("; queries retried {}", search.asked_again);
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
