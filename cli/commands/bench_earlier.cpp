// See bench_earlier.hpp.
#include "commands/bench_earlier.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

namespace kith::cli {
namespace {

using nlohmann::json;

DType dtype_named(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    if (name == name_of(dtype)) return dtype;
  }
  throw UsageError(fmt::format("there is no type {}", name));
}

Timing timing_of(const json& one) {
  Timing timing;
  timing.setting = {one.at("points").get<std::uint64_t>(), one.at("queries").get<std::uint64_t>(),
                    one.at("dims").get<std::uint32_t>(), one.at("k").get<std::uint32_t>(),
                    dtype_named(one.at("dtype").get<std::string>())};
  timing.engine = parse_engine(one.at("engine").get<std::string>());
  timing.device = Device::parse(one.at("device").get<std::string>());
  timing.build_ms = one.at("build_ms").get<double>();
  timing.query_ms = one.at("query_ms").get<double>();
  if (!(timing.build_ms > 0 && timing.query_ms > 0)) throw UsageError("times must be positive");
  return timing;
}

}  // namespace

const Timing* EarlierBench::find(const BenchCase& setting) const {
  const auto found = std::ranges::find(timings, setting, &Timing::setting);
  return found == timings.end() ? nullptr : &*found;
}

EarlierBench read_earlier_bench(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  EarlierBench earlier;
  try {
    const json report = json::parse(file);
    earlier.version = report.at("version").get<std::string>();
    earlier.threads = report.at("threads").get<int>();
    for (const json& one : report.at("cases")) earlier.timings.push_back(timing_of(one));
    if (report.contains("sizes")) {
      for (const json& one : report.at("sizes")) earlier.timings.push_back(timing_of(one));
    }
  } catch (const json::exception&) {
    throw CorruptFile(fmt::format("{}: this is not what kith bench --json prints", path));
  } catch (const UsageError& error) {
    throw CorruptFile(fmt::format("{}: this is not what kith bench --json prints: {}", path, error.what()));
  }
  return earlier;
}

}  // namespace kith::cli
