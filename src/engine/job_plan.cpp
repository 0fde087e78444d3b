// See kith/job_plan.hpp.
#include <kith/job_plan.hpp>

#include "engine/choose_engine.hpp"
#include "engine/gpu_memory.hpp"
#include "engine/measured_times.hpp"
#include "engine/search_in_parts.hpp"
#include "engine/validate.hpp"

#include <kith/error.hpp>
#include <kith/profile.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kith::inline v0 {
namespace {

/// What a process that uses a GPU takes of its memory before it has allocated anything; about.
constexpr std::uint64_t kContextBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// The largest number in [0, most] that `fits`, which no number above one that does not fit does.
template <typename Fits>
std::uint64_t largest_that(std::uint64_t most, const Fits& fits) {
  std::uint64_t low = 0, high = most;
  while (low < high) {
    const std::uint64_t middle = high - (high - low) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/// A job on one device. Points are cut into parts of `rows`.
class Job {
 public:
  Job(const JobRequest& request, Engine engine)
      : request_(request),
        plan_request_{
            .engine = engine, .metric = {}, .dtype = request.dtype, .dims = request.dims, .builder = request.builder} {}

  std::uint64_t queries() const { return request_.queries.value_or(request_.points); }
  /// The points themselves are the queries as long as all of them are in one index.
  bool is_self(std::uint64_t rows) const { return !request_.queries && rows >= request_.points; }
  std::uint64_t fewest_parts() const {
    return std::max<std::uint64_t>(1, divide_up(request_.points, engine::kMostPoints));
  }
  std::uint64_t most_rows() const { return divide_up(request_.points, fewest_parts()); }

  /// As many parts as parts of `rows`, but none much smaller than another.
  std::uint64_t in_equal_parts(std::uint64_t rows) const {
    return rows == 0 ? 0 : divide_up(request_.points, divide_up(request_.points, rows));
  }

  std::uint64_t row_bytes() const { return request_.dims * size_of(request_.dtype); }
  std::uint64_t answer_bytes(std::uint64_t queries) const {
    return queries * request_.k * (sizeof(std::uint32_t) + size_of(request_.dtype));
  }
  /// The caller's: points of a part and queries of a call.
  std::uint64_t caller_bytes(std::uint64_t rows, std::uint64_t queries) const {
    return (rows + (is_self(rows) ? 0 : queries)) * row_bytes();
  }
  engine::PlanRequest of(std::uint64_t rows) const {
    engine::PlanRequest part = plan_request_;
    part.count = rows;
    return part;
  }
  engine::SearchShape shape(std::uint64_t rows, std::uint64_t queries) const {
    // A call with some of the points is no self-search.
    return {.is_self = is_self(rows) && queries == this->queries(), .queries = queries, .k = request_.k};
  }

 private:
  const JobRequest& request_;
  engine::PlanRequest plan_request_;
};

void plan_on_cpu(const Job& job, JobPlan& plan) {
  const engine::Backend& cpu = engine::cpu_backend();
  const auto search_bytes = [&](std::uint64_t rows, std::uint64_t queries) {
    return cpu.build_bytes(job.of(rows)).index + job.answer_bytes(queries) +
           (queries == 0 ? 0 : cpu.search_bytes(job.of(rows), job.shape(rows, queries)));
  };
  const auto host_bytes = [&](std::uint64_t rows, std::uint64_t queries) {
    return job.caller_bytes(rows, queries) + std::max(cpu.build_bytes(job.of(rows)).peak, search_bytes(rows, queries));
  };
  const std::uint64_t memory = plan.memory_bytes == 0 ? kUnlimited : plan.memory_bytes;
  const std::uint64_t at_least_one = std::min<std::uint64_t>(job.queries(), 1);
  plan.needed_bytes = host_bytes(job.most_rows(), job.queries());
  const std::uint64_t rows = job.in_equal_parts(
      largest_that(job.most_rows(), [&](std::uint64_t some) { return host_bytes(some, at_least_one) <= memory; }));
  if (rows == 0 && job.most_rows() > 0) return;
  plan.points_per_part = rows;
  const auto fits = [&](std::uint64_t some) { return host_bytes(rows, some) <= memory; };
  // All points at once, in the order of the tree, may take less than some of them.
  const std::uint64_t per_call = fits(job.queries()) ? job.queries() : largest_that(job.queries(), fits);
  plan.queries_per_chunk = per_call;
  plan.chunks = per_call == 0 ? 0 : divide_up(job.queries(), per_call);
  plan.index_bytes = cpu.build_bytes(job.of(rows)).index;
  plan.build_bytes = cpu.build_bytes(job.of(rows)).peak;
  plan.search_bytes = search_bytes(rows, per_call);
  plan.host_bytes = host_bytes(rows, per_call);
}

void plan_on_gpu(const Job& job, std::uint32_t shared_bytes, JobPlan& plan) {
  const std::uint64_t memory = plan.memory_bytes;
  const auto bytes = [&](std::uint64_t rows) { return engine::gpu_build_bytes(job.of(rows), shared_bytes, memory); };
  std::uint64_t rows = job.most_rows(), at_once = job.queries();
  plan.needed_bytes = engine::gpu_build_bytes(job.of(rows), shared_bytes, 0).peak;
  if (plan.engine == Engine::brute_force && plan.needed_bytes > memory) {
    plan.is_cut_by_kith = true;
    rows = std::max<std::uint64_t>(engine::gpu_rows_of_part(job.of(rows), memory) / 64 * 64, 64);
    const std::uint64_t width = std::max<std::uint64_t>(job.shape(rows, 1).k, 1);
    at_once = std::min(at_once, std::max<std::uint64_t>(engine::kEntriesAtOnce / width, 1));
    if (bytes(rows).peak > memory) return;
  } else {
    rows = job.in_equal_parts(largest_that(rows, [&](std::uint64_t some) { return bytes(some).peak <= memory; }));
    if (rows == 0 && job.most_rows() > 0) return;
  }
  plan.points_per_part = rows;
  plan.index_bytes = bytes(rows).index;
  plan.build_bytes = bytes(rows).peak;
  const auto chunks_of = [&](std::uint64_t queries) {
    return engine::gpu_knn_chunks(job.of(rows), job.shape(rows, queries), memory - plan.index_bytes);
  };
  const engine::GpuChunks chunks = chunks_of(at_once);
  if (at_once > 0) plan.chunks = job.queries() / at_once * chunks.chunks + chunks_of(job.queries() % at_once).chunks;
  plan.queries_per_chunk = chunks.queries;
  plan.search_bytes = plan.index_bytes + chunks.bytes;
  plan.host_bytes = job.caller_bytes(job.most_rows(), job.queries()) + job.answer_bytes(job.queries()) +
                    (plan.is_cut_by_kith ? job.most_rows() * job.row_bytes() : 0);
}

/// What the profile in use has measured on this device.
std::vector<TimedRun> own_times(bool is_gpu, const std::string& gpu) {
  for (DeviceProfile& device : profile_in_use().devices) {
    if (device.is_gpu == is_gpu && (!is_gpu || device.name == gpu)) return std::move(device.times);
  }
  return {};
}

void estimate_times(const JobRequest& request, const Job& job, std::optional<engine::Measured> on, double speed,
                    const std::vector<TimedRun>& own, JobPlan& plan) {
  if (!on) return;
  engine::TimedJob timed{.on = *on,
                         .engine = plan.engine,
                         .dtype = request.dtype,
                         .dims = request.dims,
                         .points = plan.points_per_part,
                         .queries = job.queries(),
                         .k = request.k,
                         .is_self = job.is_self(plan.points_per_part),
                         .speed = speed,
                         .own_times = own};
  const auto parts = static_cast<double>(plan.parts);
  if (const auto ms = engine::estimated_build_ms(timed); ms && engine::is_default(request.builder))
    plan.build_ms = *ms * parts;
  if (const auto ms = engine::estimated_search_ms(timed); ms && job.queries() > 0) plan.search_ms = *ms * parts;
}

/// A GPU of this machine by its data sheet, if it is known.
const GpuCard* card_of(const DeviceInfo& info) {
  for (const GpuCard& card : known_cards()) {
    const std::string_view chip = card.name.substr(0, card.name.find('-'));
    const double share = static_cast<double>(info.memory_bytes) / static_cast<double>(card.memory_bytes);
    if (info.name.find(chip) != std::string::npos && share > 0.9 && share < 1.1) return &card;
  }
  return nullptr;
}

}  // namespace

JobPlan plan_job(const JobRequest& request) {
  JobPlan plan;
  const GpuCard* card = request.card;
  std::string gpu;  // of this machine
  std::uint32_t shared_bytes = card == nullptr ? 0 : card->shared_bytes;
  const std::uint64_t rows = std::min(request.points, engine::kMostPoints);
  engine::require_shape(rows, request.dims);
  if (card != nullptr) {
    engine::require_build_options({.engine = request.engine, .device = Device::cuda(), .builder = request.builder});
    const engine::Choice choice = engine::engine_for({.engine = request.engine,
                                                      .device = Device::cuda(),
                                                      .points = rows,
                                                      .dims = request.dims,
                                                      .queries = request.queries.value_or(0),
                                                      .builder = request.builder});
    plan.engine = choice.engine;
    plan.reason = choice.reason;
    plan.device = card->name;
    plan.is_gpu = true;
    plan.memory_bytes = card->memory_bytes - kContextBytes;
  } else {
    const BuildPlan build = Index::plan(rows, request.dims, request.dtype,
                                        {.engine = request.engine,
                                         .device = request.device,
                                         .builder = request.builder,
                                         .expected_queries = request.queries.value_or(0)});
    plan.engine = build.engine;
    plan.reason = build.reason.substr(0, build.reason.find('\n'));
    plan.device = build.device.name();
    plan.is_gpu = build.device.kind() == Device::Kind::cuda;
    for (const DeviceInfo& info : available_devices()) {
      if (info.device != build.device) continue;
      plan.memory_bytes = plan.is_gpu ? engine::backend_of(info.device).free_bytes(info.device) : info.memory_bytes;
      if (plan.is_gpu) {
        card = card_of(info);
        gpu = info.name;
      }
      if (info.gpu) shared_bytes = info.gpu->shared_bytes;
    }
  }
  if (request.memory_bytes != 0) plan.memory_bytes = request.memory_bytes;

  const Job job(request, plan.engine);
  if (plan.is_gpu) {
    plan_on_gpu(job, shared_bytes, plan);
  } else {
    plan_on_cpu(job, plan);
  }
  if (plan.points_per_part == 0 && request.points > 0) return plan;
  plan.parts = request.points == 0 ? 1 : divide_up(request.points, plan.points_per_part);
  if (plan.is_gpu) {
    const double speed =
        card == nullptr ? 0 : card->gigabytes_per_second / card_named(engine::kMeasuredCard).gigabytes_per_second;
    const bool is_here = request.card == nullptr;
    estimate_times(request, job, engine::Measured::gpu, speed, is_here ? own_times(true, gpu) : std::vector<TimedRun>(),
                   plan);
  } else {
    estimate_times(request, job, engine::measured_cpu(), available_devices().front().threads, own_times(false, {}),
                   plan);
  }
  return plan;
}

}  // namespace kith::inline v0
