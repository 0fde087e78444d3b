// Registration of many pairs: on the CPU threads take whole pairs, on a GPU small pairs run at once and others one by
// one.
#include "core/cloud/pose_motion.hpp"
#include "core/cloud/registration_plan.hpp"
#include "engine/backend.hpp"
#include "engine/choose_engine.hpp"
#include "engine/device_registration.hpp"
#include "runtime/memory_limit.hpp"
#include "runtime/parallel.hpp"

#include <kith/apps/registration.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
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

Registration register_there(const CloudPair& pair, const DeviceRegistrationOptions& options) {
  DeviceRegistrationOptions its = options;
  if (pair.initial_pose) its.initial_pose = pair.initial_pose;
  return register_on_device(pair.source, pair.target, its);
}

/// Small pairs of each GPU, type and number of dims together.
void register_small(std::span<const CloudPair> pairs, const DeviceRegistrationOptions& options,
                    std::vector<std::optional<Registration>>& results) {
  std::map<std::tuple<int, DType, std::uint32_t>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const CloudPair& pair = pairs[i];
    const Device device = gpu_or_cpu_of(pair, options);
    if (device.kind() != Device::Kind::cuda || !engine::is_small_pair(pair, options)) continue;
    if (core::wants_global_start(options) && !pair.initial_pose) continue;  // found one by one
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

/// Throws UsageError if the pair's own start is no pose that a registration can begin with.
void check_start(const CloudPair& pair) {
  if (pair.initial_pose) core::motion_of(*pair.initial_pose, core::Frame{}, pair.target.dims());
}

/// Pairs on the CPU, and those of which register_clouds chooses the place. Threads take whole pairs; clouds of more
/// than kMostWholePoints points, which keep all threads busy, are registered one by one. A target that several pairs
/// share is prepared once.
class HostRegistrar {
 public:
  HostRegistrar(std::span<const CloudPair> pairs, const DeviceRegistrationOptions& options,
                std::vector<std::optional<Registration>>& results)
      : pairs_(pairs), options_(options), results_(results), problems_(pairs.size()) {}

  void run(const std::vector<std::size_t>& numbers) {
    std::map<std::tuple<const void*, std::uint64_t, std::int64_t, std::uint32_t, DType>, Group> groups;
    for (const std::size_t i : numbers) {
      const PointView target = pairs_[i].target;
      groups[{target.data(), target.rows(), target.row_stride(), target.dims(), target.dtype()}].numbers.push_back(i);
    }
    std::vector<Job> small;
    for (auto& [key, group] : groups) {
      group.left = group.numbers.size();
      for (const std::size_t i : group.numbers) {
        if (is_small(i)) small.push_back({i, &group});
      }
    }
    run_together(small);
    for (auto& [key, group] : groups) run_large(group);
    // Of several pairs that fail the first is named, whichever thread is the fastest.
    for (const std::exception_ptr& problem : problems_) {
      if (problem) std::rethrow_exception(problem);
    }
  }

 private:
  static constexpr std::uint64_t kMostWholePoints = 1 << 15;

  /// The pairs of one target, which is let go with the last of them.
  struct Group {
    std::vector<std::size_t> numbers;
    std::mutex preparing;
    std::optional<RegistrationTarget> prepared;
    std::size_t left = 0;
  };
  struct Job {
    std::size_t number;
    Group* group;
  };

  bool has_small_source(std::size_t i) const { return pairs_[i].source.rows() <= kMostWholePoints; }
  bool is_small(std::size_t i) const {
    // A limit of memory is that of the calling thread, and for one index at a time.
    return runtime::device_memory_limit() == runtime::kNoLimit && has_small_source(i) &&
           pairs_[i].target.rows() <= kMostWholePoints;
  }

  void run_large(Group& group) {
    std::vector<Job> small_sources;
    bool is_prepared = false;
    for (const std::size_t i : group.numbers) {
      if (is_small(i)) continue;
      if (is_prepared && has_small_source(i) && runtime::device_memory_limit() == runtime::kNoLimit) {
        small_sources.push_back({i, &group});
      } else {
        run_one({i, &group}, options_.threads, options_.progress);  // by all threads, as is what the target needs
        is_prepared = group.numbers.size() > 1;
      }
    }
    run_together(small_sources);
  }

  void run_together(const std::vector<Job>& jobs) {
    if (jobs.size() == 1) return run_one(jobs.front(), options_.threads, options_.progress);
    constexpr double kNanosecondsPerPoint = 1000;  // at least, so that the threads come at once
    std::uint64_t points = 0;
    for (const Job& job : jobs) points += pairs_[job.number].source.rows();
    const double each = jobs.empty() ? 0 : static_cast<double>(points) / static_cast<double>(jobs.size());
    runtime::parallel_for(jobs.size(),
                          {.threads = options_.threads,
                           .stage = "registering",
                           .progress = &options_.progress,
                           .nanoseconds_per_task = each * kNanosecondsPerPoint},
                          [&](std::uint64_t job) { run_one(jobs[job], 1, {}); });
  }

  void run_one(const Job& job, int threads, const ProgressCallback& progress) {
    try {
      naming_pair(job.number, [&] { results_[job.number] = registered(job, threads, progress); });
    } catch (const Interrupted&) {
      throw;
    } catch (...) {
      problems_[job.number] = std::current_exception();
    }
    const std::scoped_lock lock(job.group->preparing);
    if (--job.group->left == 0) job.group->prepared.reset();
  }

  Registration registered(const Job& job, int threads, const ProgressCallback& progress) const {
    const CloudPair& pair = pairs_[job.number];
    DeviceRegistrationOptions options = options_;
    if (pair.initial_pose) options.initial_pose = pair.initial_pose;
    options.threads = threads;
    options.progress = progress;
    if (job.group->numbers.size() == 1) return register_clouds(pair.source, pair.target, options);
    return target_of(*job.group, pair, options).align(pair.source, options);
  }

  static RegistrationTarget target_of(Group& group, const CloudPair& pair, const RegistrationOptions& options) {
    const std::scoped_lock lock(group.preparing);
    if (!group.prepared) group.prepared.emplace(pair.target, options);
    return *group.prepared;
  }

  std::span<const CloudPair> pairs_;
  const DeviceRegistrationOptions& options_;
  std::vector<std::optional<Registration>>& results_;
  std::vector<std::exception_ptr> problems_;
};

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
      check_start(pairs[i]);
    });
  }
  std::vector<std::optional<Registration>> results(pairs.size());
  register_small(pairs, options, results);
  std::vector<std::size_t> here;  // on the CPU, or where an index would be
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (results[i]) continue;
    const Device device = gpu_or_cpu_of(pairs[i], options);
    if (device.kind() == Device::Kind::cuda) {
      naming_pair(i, [&] { results[i] = register_there(pairs[i], options); });
    } else {
      here.push_back(i);
    }
  }
  HostRegistrar(pairs, options, results).run(here);
  std::vector<Registration> all;
  all.reserve(results.size());
  for (std::optional<Registration>& result : results) all.push_back(std::move(*result));
  return all;
}

}  // namespace kith::apps::inline v0
