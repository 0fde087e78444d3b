// Registration of many pairs: on the CPU threads take whole pairs, on a GPU small pairs run at once and others one by
// one.
#include "core/cloud/registration_plan.hpp"
#include "engine/backend.hpp"
#include "engine/choose_engine.hpp"
#include "engine/device_registration.hpp"
#include "runtime/parallel.hpp"

#include <kith/apps/registration.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

/// The GPU of a pair; the CPU if it names none.
Device gpu_or_cpu_of(const CloudPair& pair, const RegistrationOptions& options) {
  for (const PointView cloud : {pair.source, pair.target}) {
    if (cloud.device().kind() == Device::Kind::cuda) return cloud.device();
  }
  return options.device.kind() == Device::Kind::cuda ? options.device : Device::cpu();
}

bool has_overlapping_rows(PointView points) {
  return points.device().kind() == Device::Kind::cuda && points.row_stride() < static_cast<std::int64_t>(points.dims());
}

/// Runs `work`; what is wrong with the data or the request names the pair.
template <typename Work>
void naming_pair(std::uint64_t pair, const Work& work) {
  try {
    work();
  } catch (const BadData& error) {
    throw BadData(fmt::format("pair {} (counted from 0): {}", pair, error.what()));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("pair {} (counted from 0): {}", pair, error.what()));
  }
}

Registration register_one(const CloudPair& pair, const DeviceRegistrationOptions& options, Device device, int threads) {
  DeviceRegistrationOptions its = options;
  if (pair.initial_pose) its.initial_pose = pair.initial_pose;
  its.threads = threads;
  if (device.kind() == Device::Kind::cuda) return register_on_device(pair.source, pair.target, its);
  return register_clouds(pair.source, pair.target, its);
}

/// Small pairs of each GPU, type and number of dims together.
void register_small(std::span<const CloudPair> pairs, const DeviceRegistrationOptions& options,
                    std::vector<std::optional<Registration>>& results) {
  std::map<std::tuple<int, DType, std::uint32_t>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const CloudPair& pair = pairs[i];
    const Device device = gpu_or_cpu_of(pair, options);
    if (device.kind() != Device::Kind::cuda || !engine::is_small_pair(pair, options)) continue;
    if (has_overlapping_rows(pair.source) || has_overlapping_rows(pair.target)) continue;
    groups[{device.ordinal(), pair.target.dtype(), pair.target.dims()}].push_back(i);
  }
  for (const auto& [kind, numbers] : groups) {
    if (numbers.size() == 1) continue;  // one pair has more than a block that way
    const Device device = Device::cuda(std::get<0>(kind));
    engine::require_gpu(device);
    std::vector<CloudPair> together;
    for (const std::size_t number : numbers) together.push_back(pairs[number]);
    std::vector<std::optional<Registration>> found =
        engine::cuda_backend()->register_pairs({together, options, device});
    for (std::size_t i = 0; i < numbers.size(); ++i) results[numbers[i]] = std::move(found[i]);
  }
}

}  // namespace

std::vector<CloudPair> pairs_of(PointView sources, std::span<const std::uint64_t> source_offsets, PointView targets,
                                std::span<const std::uint64_t> target_offsets) {
  if (source_offsets.size() != target_offsets.size()) {
    throw UsageError(fmt::format("{} offsets of sources, but {} of targets; pairs need as many", source_offsets.size(),
                                 target_offsets.size()));
  }
  const auto rows_of = [](PointView points, std::span<const std::uint64_t> offsets, std::size_t i, const char* what) {
    if (offsets[i] > offsets[i + 1] || offsets[i + 1] > points.rows()) {
      throw UsageError(
          fmt::format("{} {} (counted from 0) has the rows from {} to {} of {}; offsets must ascend and end "
                      "within their array",
                      what, i, offsets[i], offsets[i + 1], points.rows()));
    }
    return points.slice(offsets[i], offsets[i + 1] - offsets[i]);
  };
  std::vector<CloudPair> pairs;
  for (std::size_t i = 0; i + 1 < source_offsets.size(); ++i) {
    pairs.push_back({rows_of(sources, source_offsets, i, "source"), rows_of(targets, target_offsets, i, "target"), {}});
  }
  return pairs;
}

std::vector<Registration> register_pairs(std::span<const CloudPair> pairs, const DeviceRegistrationOptions& options) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    naming_pair(i, [&] {
      core::check_clouds(pairs[i].source, pairs[i].target.dims(), pairs[i].target.dtype());
      core::check_registration(pairs[i].target.dims(), options);
    });
  }
  std::vector<std::optional<Registration>> results(pairs.size());
  register_small(pairs, options, results);
  std::vector<std::size_t> here;  // on the CPU, or where an index would be
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (results[i]) continue;
    const Device device = gpu_or_cpu_of(pairs[i], options);
    if (device.kind() == Device::Kind::cuda) {
      naming_pair(i, [&] { results[i] = register_one(pairs[i], options, device, options.threads); });
    } else {
      here.push_back(i);
    }
  }
  // Of several pairs that fail the first is named, whichever thread is the fastest.
  std::vector<std::exception_ptr> problems(here.size());
  const int threads_each = here.size() == 1 ? options.threads : 1;
  DeviceRegistrationOptions quiet = options;
  if (here.size() > 1) quiet.progress = {};
  runtime::parallel_for(
      here.size(), {.threads = options.threads, .stage = "registering", .progress = &options.progress},
      [&](std::uint64_t task) {
        const std::size_t i = here[task];
        try {
          naming_pair(i, [&] { results[i] = register_one(pairs[i], quiet, Device::cpu(), threads_each); });
        } catch (const Interrupted&) {
          throw;
        } catch (...) {
          problems[task] = std::current_exception();
        }
      });
  for (const std::exception_ptr& problem : problems) {
    if (problem) std::rethrow_exception(problem);
  }
  std::vector<Registration> all;
  all.reserve(results.size());
  for (std::optional<Registration>& result : results) all.push_back(std::move(*result));
  return all;
}

}  // namespace kith::apps::inline v0
