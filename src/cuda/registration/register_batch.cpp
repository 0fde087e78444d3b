// See register_batch.hpp. One kernel prepares all clouds, the host makes the plan of each pair, one kernel registers
// them all, and the host finishes each.
#include "cuda/registration/register_batch.hpp"

#include "core/cloud/registration_plan.hpp"
#include "core/dispatch.hpp"
#include "cuda/registration/pairs.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/device_points.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/runtime/shared_limit.hpp"
#include "cuda/runtime/staging.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <tuple>

namespace kith::cuda {
namespace {

static_assert(engine::kMostPairPoints == kMostSmallPoints && engine::kMostPairNeighbors == kMostSmallNeighbors);

/// Pairs at a time: enough to fill a GPU many times over, in at most about a GB. A record is kept for every iteration
/// that a pair may take, so that fewer pairs go together if these are many.
std::size_t pairs_at_a_time(const apps::RegistrationOptions& options) {
  constexpr std::uint64_t kMostPairs = 4096, kMostRecordBytes = std::uint64_t{1} << 29;
  const std::uint64_t bytes_each = (std::uint64_t{options.max_iterations} + 1) * sizeof(core::StepRecord);
  return std::clamp<std::uint64_t>(kMostRecordBytes / bytes_each, 1, kMostPairs);
}

template <typename T>
class BatchRegistrar {
 public:
  BatchRegistrar(const engine::PairsRequest& request, const Stream& stream)
      : request_(request),
        options_(request.options),
        error_(core::error_of(request.options.method)),
        dims_(request.pairs.front().target.dims()),
        stream_(stream) {}

  void run(std::size_t first, std::size_t last, std::vector<std::optional<apps::Registration>>& results) {
    collect(first, last);
    if (!fits_device()) return;
    prepare();
    make_plans(first);
    if (plans_.empty()) return;
    refine();
    finish(results);
  }

 private:
  struct Cloud {
    PointView points;
    std::uint64_t tree_at = 0;     ///< bytes
    std::uint64_t normals_at = 0;  ///< values
    std::uint64_t rows_at = 0;     ///< values, of clouds of the host
    bool has_normals = false;
    bool has_spacing = false;
  };
  /// Two clouds by their numbers.
  struct Pair {
    std::size_t source, target;
  };
  /// A pair that the GPU registers.
  struct Plan {
    std::size_t number;  ///< in the request
    Pair clouds;
    core::RegistrationPlan plan;
    core::StepRule rule;
  };

  static std::uint32_t count_of(const Cloud& cloud) { return static_cast<std::uint32_t>(cloud.points.rows()); }

  /// Every cloud once, however many pairs it is in.
  void collect(std::size_t first, std::size_t last) {
    clouds_.clear();
    pairs_.clear();
    std::map<std::tuple<const void*, std::uint64_t, std::int64_t>, std::size_t> known;
    const auto number_of = [&](PointView points) {
      const auto [at, is_new] = known.try_emplace({points.data(), points.rows(), points.row_stride()}, clouds_.size());
      if (is_new) clouds_.push_back({points});
      return at->second;
    };
    const bool wants_spacing = options_.max_distance == 0;
    std::vector<std::size_t> targets;
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t target = number_of(request_.pairs[i].target);
      clouds_[target].has_normals = error_ != core::PairError::point;
      clouds_[target].has_spacing = wants_spacing;
      targets.push_back(target);
    }
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t source = number_of(request_.pairs[i].source);
      if (error_ == core::PairError::gicp) clouds_[source].has_normals = true;
      pairs_.push_back({source, targets[i - first]});
    }
    require_clouds_on_device();
    most_points_ = most_targets_ = 0;
    for (const Pair& pair : pairs_) {
      most_points_ = std::max(most_points_, count_of(clouds_[pair.source]));
      most_targets_ = std::max(most_targets_, count_of(clouds_[pair.target]));
    }
  }

  /// Of clouds that lie one after the other in one array, the first and the last: CUDA takes its time for each address.
  void require_clouds_on_device() const {
    const std::byte* end = nullptr;  // of the cloud before
    for (std::size_t i = 0; i < clouds_.size(); ++i) {
      const PointView points = clouds_[i].points;
      if (points.device().kind() != Device::Kind::cuda) continue;
      const auto* const begin = static_cast<const std::byte*>(points.data());
      const bool goes_on = begin == end;
      end = begin + static_cast<std::int64_t>(points.rows()) * points.row_stride() * std::int64_t{sizeof(T)};
      const bool is_last = i + 1 == clouds_.size() || clouds_[i + 1].points.data() != end;
      if (!goes_on || is_last) require_on_device(begin, request_.device);
    }
  }

  bool fits_device() const {
    return shared_bytes_of_pairs<T>(dims_, most_points_, most_targets_) <= shared_limit_of(stream_.device());
  }

  template <typename V>
  DeviceBuffer<V> sent(const std::vector<V>& values) {
    DeviceBuffer<V> there(values.size(), stream_);
    copy_to_device(there.data(), values.data(), there.bytes(), stream_, copying());
    return there;
  }
  template <typename V>
  std::vector<V> received(const DeviceBuffer<V>& there) {
    std::vector<V> values(there.size());
    copy_to_host(values.data(), there.data(), there.bytes(), stream_, copying());
    return values;
  }
  /// What kernels leave unwritten, of facts without a value and behind the last record, is copied to the host, too.
  template <typename V>
  DeviceBuffer<V> zeros(std::uint64_t count) {
    DeviceBuffer<V> there(count, stream_);
    check(cudaMemsetAsync(there.data(), 0, there.bytes(), stream_.get()), "writing zeros");
    return there;
  }
  CopyOptions copying() const { return {.threads = options_.threads, .progress = &options_.progress}; }

  void prepare() {
    std::uint64_t tree_bytes = 0, normals = 0;
    std::vector<T> rows;  // of the host's clouds
    for (Cloud& cloud : clouds_) {
      cloud.tree_at = tree_bytes;
      cloud.normals_at = normals;
      tree_bytes += small_tree_bytes<T>(count_of(cloud), dims_);
      if (cloud.has_normals) normals += cloud.points.rows() * dims_;
      if (cloud.points.device().kind() == Device::Kind::cuda) continue;
      cloud.rows_at = rows.size();
      for (std::uint64_t i = 0; i < cloud.points.rows(); ++i) {
        const T* row = cloud.points.template row<T>(i);
        rows.insert(rows.end(), row, row + dims_);
      }
    }
    trees_ = DeviceBuffer<std::byte>(tree_bytes, stream_);
    normals_ = DeviceBuffer<T>(normals, stream_);
    if (!rows.empty()) host_rows_ = sent(rows);
    std::vector<CloudTask<T>> tasks(clouds_.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Cloud& cloud = clouds_[i];
      tasks[i] = {.rows = rows_of(cloud),
                  .row_stride = stride_of(cloud),
                  .points = count_of(cloud),
                  .neighbors = options_.neighbors,
                  .wants_spacing = cloud.has_spacing,
                  .tree = trees_.data() + cloud.tree_at,
                  .normals = cloud.has_normals ? normals_.data() + cloud.normals_at : nullptr};
    }
    const DeviceBuffer<CloudTask<T>> tasks_there = sent(tasks);
    DeviceBuffer<CloudFacts<T>> facts = zeros<CloudFacts<T>>(tasks.size());
    prepare_clouds_on_device(tasks_there.data(), static_cast<std::uint32_t>(tasks.size()), dims_,
                             std::max(most_points_, most_targets_),
                             error_ == core::PairError::point ? 0 : options_.neighbors, facts.data(), stream_);
    facts_ = received(facts);
  }

  const T* rows_of(const Cloud& cloud) const {
    if (cloud.points.device().kind() == Device::Kind::cuda) return static_cast<const T*>(cloud.points.data());
    return host_rows_.data() + cloud.rows_at;
  }
  std::uint64_t stride_of(const Cloud& cloud) const {
    if (cloud.points.device().kind() != Device::Kind::cuda) return dims_;
    return static_cast<std::uint64_t>(cloud.points.row_stride());
  }
  const T* normals_of(const Cloud& cloud) const {
    return cloud.has_normals ? normals_.data() + cloud.normals_at : nullptr;
  }

  /// Distances within a cloud do not overflow.
  static bool is_usable(const CloudFacts<T>& facts, const core::CloudExtent& extent) {
    return facts.is_finite &&
           extent.diagonal * extent.diagonal < static_cast<double>(std::numeric_limits<T>::max()) / 4;
  }
  core::CloudExtent extent_of(std::size_t cloud) const {
    const CloudFacts<T>& facts = facts_[cloud];
    if (!facts.is_finite) return {};
    double lower[3], upper[3];
    for (std::uint32_t d = 0; d < dims_; ++d) {
      lower[d] = static_cast<double>(facts.lower[d]);
      upper[d] = static_cast<double>(facts.upper[d]);
    }
    core::CloudExtent extent = core::extent_of_box(lower, upper, dims_);
    core::add_sums(extent, facts.sums, clouds_[cloud].points.rows());
    return extent;
  }

  void make_plans(std::size_t first) {
    plans_.clear();
    std::vector<core::CloudExtent> extents(clouds_.size());
    for (std::size_t i = 0; i < extents.size(); ++i) extents[i] = extent_of(i);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const auto [source, target] = pairs_[i];
      if (!is_usable(facts_[source], extents[source]) || !is_usable(facts_[target], extents[target])) continue;
      apps::RegistrationOptions options = options_;
      if (request_.pairs[first + i].initial_pose) options.initial_pose = request_.pairs[first + i].initial_pose;
      core::RegistrationPlan plan(options, dims_, extents[source], extents[target]);
      const std::uint64_t points = clouds_[target].points.rows();
      const double spacing = points < 2 ? 0 : facts_[target].spacing / static_cast<double>(points);
      const core::StepRule rule = plan.rule(clouds_[source].points.rows(), spacing, 1);
      plans_.push_back({first + i, pairs_[i], std::move(plan), rule});
    }
  }

  void refine() {
    std::uint64_t points = 0, known_bytes = 0;
    for (const Plan& plan : plans_) {
      const std::uint32_t count = count_of(clouds_[plan.clouds.source]);
      points += count;
      known_bytes += known_match_bytes<T>(count, dims_);
    }
    DeviceBuffer<std::byte> known(known_bytes, stream_);
    DeviceBuffer<std::uint32_t> matches(options_.want_pairs ? points : 0, stream_);
    DeviceBuffer<PairResult> results = zeros<PairResult>(plans_.size());
    const std::uint64_t records_each = std::uint64_t{options_.max_iterations} + 1;
    DeviceBuffer<core::StepRecord> records = zeros<core::StepRecord>(plans_.size() * records_each);
    std::vector<PairTask<T>> tasks(plans_.size());
    std::uint64_t at = 0, known_at = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Plan& plan = plans_[i];
      const Cloud& source = clouds_[plan.clouds.source];
      const Cloud& target = clouds_[plan.clouds.target];
      tasks[i] = {.source = rows_of(source),
                  .row_stride = stride_of(source),
                  .source_tree = trees_.data() + source.tree_at,
                  .source_normals = normals_of(source),
                  .points = count_of(source),
                  .targets = count_of(target),
                  .target_tree = trees_.data() + target.tree_at,
                  .target_normals = normals_of(target),
                  .frame = plan.plan.frame(),
                  .rule = plan.rule,
                  .start = plan.plan.start(plan.rule),
                  .known = known.data() + known_at,
                  .records = records.data() + i * records_each,
                  .matches = options_.want_pairs ? matches.data() + at : nullptr,
                  .result = results.data() + i};
      at += source.points.rows();
      known_at += known_match_bytes<T>(count_of(source), dims_);
    }
    const DeviceBuffer<PairTask<T>> tasks_there = sent(tasks);
    refine_pairs_on_device(tasks_there.data(), static_cast<std::uint32_t>(tasks.size()), dims_,
                           plans_.front().plan.unknowns(), most_points_, most_targets_, stream_);
    results_ = received(results);
    if (options_.want_pairs) matches_ = received(matches);
    records_each_ = 1;
    for (const PairResult& result : results_) {
      records_each_ = std::max<std::uint64_t>(records_each_, std::uint64_t{result.state.iteration} + 1);
    }
    records_each_ = std::min(records_each_, records_each);
    records_.resize(plans_.size() * records_each_);
    copy_rows_to_host(records_.data(), records.data(), records_each_ * sizeof(core::StepRecord),
                      records_each * sizeof(core::StepRecord), plans_.size(), stream_, copying());
  }

  void finish(std::vector<std::optional<apps::Registration>>& results) {
    std::vector<std::uint64_t> matches_at(plans_.size());
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      matches_at[i] = at;
      at += clouds_[plans_[i].clouds.source].points.rows();
    }
    constexpr std::size_t kPairsPerTask = 16;
    runtime::parallel_for((plans_.size() + kPairsPerTask - 1) / kPairsPerTask,
                          {.threads = options_.threads, .nanoseconds_per_task = 100e3}, [&](std::uint64_t task) {
                            const std::size_t end = std::min(plans_.size(), (task + 1) * kPairsPerTask);
                            for (std::size_t i = task * kPairsPerTask; i < end; ++i) {
                              results[plans_[i].number] = finished(i, matches_at[i]);
                            }
                          });
  }

  apps::Registration finished(std::size_t i, std::uint64_t matches_at) {
    core::RegistrationPlan& plan = plans_[i].plan;
    const PairResult& result = results_[i];
    const std::uint64_t points = clouds_[plans_[i].clouds.source].points.rows();
    const bool has_moved =
        result.state.end == core::StageEnd::converged || result.state.end == core::StageEnd::iterations;
    const std::span<const core::StepRecord> records(records_.data() + i * records_each_,
                                                    result.state.iteration + (has_moved ? 0 : 1));
    plan.take(result.state, records, result.total,
              error_ == core::PairError::gicp ? std::span<const double>(result.surfaces) : std::span<const double>(),
              points);
    apps::Registration registration = std::move(plan).finish();
    for (std::uint32_t point = 0; point < points && options_.want_pairs; ++point) {
      const std::uint32_t match = matches_[matches_at + point];
      if (match != core::kNoPoint) registration.pairs.push_back({point, match});
    }
    return registration;
  }

  const engine::PairsRequest& request_;
  const apps::DeviceRegistrationOptions& options_;
  core::PairError error_;
  std::uint32_t dims_;
  Stream stream_;
  std::vector<Cloud> clouds_;
  std::vector<Pair> pairs_;
  std::uint32_t most_points_ = 0, most_targets_ = 0;
  DeviceBuffer<std::byte> trees_;
  DeviceBuffer<T> normals_, host_rows_;
  std::vector<CloudFacts<T>> facts_;
  std::vector<Plan> plans_;
  std::vector<PairResult> results_;
  std::vector<std::uint32_t> matches_;
  std::vector<core::StepRecord> records_;
  std::uint64_t records_each_ = 0;
};

/// The caller's, or one of our own that begins after the work in the default stream.
Stream stream_of(const engine::PairsRequest& request) {
  if (request.options.stream != nullptr) {
    return Stream(static_cast<cudaStream_t>(request.options.stream), request.device.ordinal());
  }
  const Stream own;
  own.wait_for_default_stream();
  return own;
}

}  // namespace

std::vector<std::optional<apps::Registration>> register_batch(const engine::PairsRequest& request) {
  std::vector<std::optional<apps::Registration>> results(request.pairs.size());
  if (request.pairs.empty()) return results;
  const DeviceScope scope(request.device.ordinal());
  const Stream stream = stream_of(request);
  core::visit_dtype(request.pairs.front().target.dtype(), [&](auto type) {
    BatchRegistrar<decltype(type)> registrar(request, stream);
    const std::size_t together = pairs_at_a_time(request.options);
    for (std::size_t first = 0; first < results.size(); first += together) {
      registrar.run(first, std::min(results.size(), first + together), results);
    }
  });
  return results;
}

}  // namespace kith::cuda
