// See register_arrays.hpp. The target's tree, lists and planes, and beside them, in a second stream, what the host must
// know of the clouds and all that belongs to the source; then a kernel per stage. The host waits for boxes and sums,
// which are there long before the trees, and for the end of each stage.
#include "cuda/registration/register_arrays.hpp"

#include "core/cloud/registration_plan.hpp"
#include "core/dispatch.hpp"
#include "cuda/kd_tree/build/build.hpp"
#include "cuda/kd_tree/search/search.hpp"
#include "cuda/registration/registration.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/device_points.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/runtime/event.hpp"
#include "cuda/runtime/rows_on_device.hpp"
#include "cuda/runtime/stream_pool.hpp"
#include "engine/kd_tree/kd_tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace kith::cuda {
namespace {

template <typename V>
void read(V* to, const V* from, std::uint64_t count, const Stream& stream) {
  check(cudaMemcpyAsync(to, from, count * sizeof(V), cudaMemcpyDeviceToHost, stream.get()), "copying to the host");
}

/// Lists of the target are kept for the iterations up to as many bytes, as on the CPU.
constexpr std::uint64_t kMostListBytes = std::uint64_t{128} << 20;

/// Streams for what runs beside the caller's. They live as long as the process.
StreamPool& side_streams(int device) {
  static std::mutex lock;
  static auto& pools = *new std::map<int, StreamPool>;
  const std::lock_guard guard(lock);
  return pools[device];
}

/// What is put into `later` from here on begins after what is in `stream` now.
void start_after(const Stream& stream, const Stream& later) {
  const Event event;
  event.record(stream.get());
  check(cudaStreamWaitEvent(later.get(), event.get()), "registering clouds");
}

/// Waits at the end, also where an error cuts the work short: memory of one stream is in use by the other.
struct Finished {
  const Stream& one;
  const Stream& other;
  ~Finished() {
    cudaStreamSynchronize(one.get());
    cudaStreamSynchronize(other.get());
  }
};

/// Rows of a cloud side by side in device memory: the caller's, or a copy.
template <typename T>
class CloudRows {
 public:
  CloudRows(PointView points, Device device, const Stream& stream, const CopyOptions& copying)
      : count_(points.rows()), dims_(points.dims()) {
    if (points.device().kind() != Device::Kind::cuda) {
      copy_ = copy_of<T>(points, stream, copying);
      rows_ = copy_.data();
      return;
    }
    require_on_device(points.data(), device);
    rows_ = static_cast<const T*>(points.data());
    if (points.row_stride() == static_cast<std::int64_t>(points.dims())) return;
    copy_ = DeviceBuffer<T>(count_ * dims_, stream);
    check(cudaMemcpy2DAsync(copy_.data(), dims_ * sizeof(T), rows_,
                            static_cast<std::uint64_t>(points.row_stride()) * sizeof(T), dims_ * sizeof(T), count_,
                            cudaMemcpyDeviceToDevice, stream.get()),
          "copying points");
    rows_ = copy_.data();
  }

  const T* data() const { return rows_; }
  std::uint64_t count() const { return count_; }
  std::uint32_t dims() const { return dims_; }

 private:
  DeviceBuffer<T> copy_;
  const T* rows_ = nullptr;
  std::uint64_t count_ = 0;
  std::uint32_t dims_ = 0;
};

/// The k nearest of each point, itself included.
template <typename T>
struct OwnLists {
  DeviceBuffer<std::uint32_t> indices;
  DeviceBuffer<T> distances;
  std::uint32_t k = 0;

  OwnLists(DeviceTree<T>& tree, std::uint32_t wanted, const Stream& stream) {
    const std::uint64_t count = tree.shape.geometry.points;
    k = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, count));
    indices = DeviceBuffer<std::uint32_t>(count * k, stream);
    distances = DeviceBuffer<T>(count * k, stream);
    KnnTask<T> task;
    task.tree = SearchTree<T>(tree.arrays(), tree.shape);
    task.queries.count = count;
    task.k = k;
    task.bound = std::numeric_limits<T>::infinity();
    task.answer = {.indices = indices.data(), .reduced = distances.data(), .is_reported = true, .takes_roots = true};
    search_knn(task, stream);
  }
};

template <typename T>
class ArrayRegistrar {
 public:
  explicit ArrayRegistrar(const engine::RegistrationRequest& request)
      : options_(request.options),
        error_(core::error_of(request.options.method)),
        stream_(stream_of(request)),
        lease_(side_streams(stream_.device())),
        side_(*lease_),
        copying_{.threads = request.options.threads, .progress = &request.options.progress},
        source_(request.source, request.device, stream_, copying_),
        target_(request.target, request.device, stream_, copying_) {}

  std::optional<apps::Registration> run() {
    std::optional<Stage> first;
    const Finished finished{stream_, side_};
    start_after(stream_, side_);
    tree_ = tree_of(target_, stream_);
    const std::optional<Extents> extents = look();
    if (!extents) return std::nullopt;
    core::RegistrationPlan plan(options_, target_.dims(), extents->source, extents->target);
    const std::uint64_t step = core::first_step(source_.count(), options_);
    first.emplace(plan, source_.count(), step, step > 1 ? core::kFirstSlack : 1, side_);
    if (error_ == core::PairError::gicp) {
      DeviceTree<T> tree = tree_of(source_, side_);
      source_normals_ = planes_of(source_, OwnLists<T>(tree, options_.neighbors, side_), side_);
    }
    describe_target();
    start_after(side_, stream_);
    run_stage(plan, *first);
    if (step > 1) {
      Stage all(plan, source_.count(), 1, 1, stream_);
      run_stage(plan, all);
    }
    apps::Registration result = std::move(plan).finish();
    result.pairs = std::move(pairs_);
    return result;
  }

 private:
  struct Extents {
    core::CloudExtent source, target;
  };
  /// The same as the GPU leaves it.
  struct Facts {
    OrderedKey<T> source_box[6], target_box[6];
    double source_sums[4], target_sums[4];
  };
  /// What a stage leaves, records behind it.
  struct StageFacts {
    core::StageState state;
    double total[core::TermPlaces<7>::kCount];
    double surfaces[core::TermPlaces<7>::kCount];
    std::uint32_t counters[4];
  };
  /// A stage ready to run, its memory in the order of a stream.
  struct Stage {
    std::uint64_t step;
    std::uint64_t points;
    core::StepRule rule;
    DeviceBuffer<std::byte> facts;
    DeviceBuffer<std::uint32_t> matches;
    DeviceBuffer<double> sums;

    Stage(const core::RegistrationPlan& plan, std::uint64_t source_points, std::uint64_t every, double slack,
          const Stream& stream)
        : step(every), points((source_points + every - 1) / every), rule(plan.rule(points, 0, slack)) {
      StageFacts start{};
      start.state = plan.start(rule);
      const std::uint64_t record_bytes = (std::uint64_t{rule.max_iterations} + 1) * sizeof(core::StepRecord);
      facts = DeviceBuffer<std::byte>(sizeof start + record_bytes, stream);
      matches = DeviceBuffer<std::uint32_t>(points, stream);
      sums = DeviceBuffer<double>(refine_scratch(points, core::TermPlaces<7>::kCount), stream);
      check(cudaMemcpyAsync(facts.data(), &start, sizeof start, cudaMemcpyHostToDevice, stream.get()),
            "copying to the GPU");
      check(cudaMemsetAsync(facts.data() + sizeof start, 0, record_bytes, stream.get()), "writing zeros");
      check(cudaMemsetAsync(matches.data(), 0xff, matches.bytes(), stream.get()), "writing matches");
    }
  };

  /// The caller's, or one of our own that begins after the work in the default stream.
  static Stream stream_of(const engine::RegistrationRequest& request) {
    if (request.options.stream != nullptr) {
      return Stream(static_cast<cudaStream_t>(request.options.stream), request.device.ordinal());
    }
    const Stream own;
    own.wait_for_default_stream();
    return own;
  }

  static DeviceTree<T> tree_of(const CloudRows<T>& rows, const Stream& stream) {
    const PointSource<T> source{.values = rows.data(), .row_stride = rows.dims(), .dim_stride = 1, .indices = nullptr};
    return start_device_tree(source, rows.count(), rows.dims(), engine::leaf_size_of(0, rows.dims()), stream);
  }

  static DeviceBuffer<T> planes_of(const CloudRows<T>& rows, const OwnLists<T>& lists, const Stream& stream) {
    DeviceBuffer<T> normals(rows.count() * rows.dims(), stream);
    fit_planes_on_device<T>(rows.data(), rows.count(), rows.dims(), lists.indices.data(), lists.k, normals.data(),
                            nullptr, stream);
    return normals;
  }

  /// Boxes and sums of both clouds. Waits. Nothing if a coordinate is not finite.
  std::optional<Extents> look() {
    DeviceBuffer<Facts> there(1, side_);
    DeviceBuffer<double> scratch(total_scratch(std::max(source_.count(), target_.count()), 4), side_);
    check(cudaMemsetAsync(there.data(), 0, there.bytes(), side_.get()), "writing zeros");
    describe(source_, there.data()->source_box, there.data()->source_sums, scratch);
    describe(target_, there.data()->target_box, there.data()->target_sums, scratch);
    Facts facts;
    read(&facts, there.data(), 1, side_);
    side_.synchronize();
    Extents extents;
    if (!extent_of(facts.source_box, facts.source_sums, source_, extents.source)) return std::nullopt;
    if (!extent_of(facts.target_box, facts.target_sums, target_, extents.target)) return std::nullopt;
    return extents;
  }
  void describe(const CloudRows<T>& rows, OrderedKey<T>* box, double* sums, DeviceBuffer<double>& scratch) {
    find_box_on_device(rows.data(), rows.count(), rows.dims(), box, side_);
    sum_places_on_device(rows.data(), rows.count(), rows.dims(), box, scratch.data(), sums, side_);
  }
  static bool extent_of(const OrderedKey<T>* box, const double* sums, const CloudRows<T>& rows,
                        core::CloudExtent& extent) {
    double lower[3], upper[3];
    for (std::uint32_t d = 0; d < rows.dims(); ++d) {
      lower[d] = static_cast<double>(value_of_key<T>(box[d]));
      upper[d] = static_cast<double>(value_of_key<T>(box[rows.dims() + d]));
      if (!std::isfinite(lower[d]) || !std::isfinite(upper[d])) return false;
    }
    extent = core::extent_of_box(lower, upper, rows.dims());
    core::add_sums(extent, sums, rows.count());
    return true;
  }

  /// Lists, planes and the spacing of its points.
  void describe_target() {
    const bool has_planes = error_ != core::PairError::point;
    lists_.emplace(tree_, has_planes ? options_.neighbors : 2, stream_);
    if (has_planes) target_normals_ = planes_of(target_, *lists_, stream_);
    spacing_ = DeviceBuffer<double>(1, stream_);
    check(cudaMemsetAsync(spacing_.data(), 0, spacing_.bytes(), stream_.get()), "writing zeros");
    if (target_.count() > 1) {
      const core::SpacingSample sample = core::spacing_sample(target_.count());
      DeviceBuffer<double> scratch(total_scratch(sample.count, 1), stream_);
      sum_values_on_device(lists_->distances.data() + 1, sample.step * lists_->k, sample.count, scratch.data(),
                           spacing_.data(), stream_);
    }
    if (!has_planes || lists_->indices.bytes() + lists_->distances.bytes() > kMostListBytes) lists_.reset();
  }

  void run_stage(core::RegistrationPlan& plan, Stage& stage) {
    auto* const there = reinterpret_cast<StageFacts*>(stage.facts.data());
    const bool is_last = stage.step == 1;
    RefineTask<T> task;
    task.tree = SearchTree<T>(tree_.arrays(), tree_.shape);
    task.target = target_.data();
    task.target_normals = target_normals_.data();
    task.source = source_.data();
    task.source_normals = source_normals_.data();
    task.step = stage.step;
    task.points = stage.points;
    task.frame = plan.frame();
    task.rule = stage.rule;
    task.spacing = {spacing_.data(), static_cast<double>(core::spacing_sample(target_.count()).count)};
    if (lists_) task.near = {lists_->indices.data(), lists_->distances.data(), lists_->k};
    task.state = &there->state;
    task.records = reinterpret_cast<core::StepRecord*>(stage.facts.data() + sizeof(StageFacts));
    task.matches = stage.matches.data();
    task.sums = stage.sums.data();
    task.total = there->total;
    task.surfaces = is_last && error_ == core::PairError::gicp ? there->surfaces : nullptr;
    task.counters = there->counters;
    refine_on_device(task, plan.unknowns(), stream_);

    std::vector<std::byte> left(stage.facts.size());
    std::vector<std::uint32_t> found(is_last && options_.want_pairs ? stage.points : 0);
    read(left.data(), stage.facts.data(), left.size(), stream_);
    if (!found.empty()) read(found.data(), stage.matches.data(), found.size(), stream_);
    stream_.synchronize();
    StageFacts facts;
    std::memcpy(&facts, left.data(), sizeof facts);
    const bool has_moved =
        facts.state.end == core::StageEnd::converged || facts.state.end == core::StageEnd::iterations;
    std::vector<core::StepRecord> records(facts.state.iteration + (has_moved ? 0 : 1));
    if (!records.empty()) {
      std::memcpy(records.data(), left.data() + sizeof facts, records.size() * sizeof(core::StepRecord));
    }
    plan.take(facts.state, records, facts.total,
              task.surfaces != nullptr ? std::span<const double>(facts.surfaces) : std::span<const double>(),
              stage.points);
    for (std::uint32_t i = 0; i < found.size(); ++i) {
      if (found[i] != kNoPoint) pairs_.push_back({i, found[i]});
    }
  }

  apps::RegistrationOptions options_;
  core::PairError error_;
  Stream stream_;
  StreamPool::Lease lease_;
  const Stream& side_;  ///< for all that the target's tree does not wait for
  CopyOptions copying_;
  CloudRows<T> source_;
  CloudRows<T> target_;
  DeviceTree<T> tree_;  ///< of the target
  std::optional<OwnLists<T>> lists_;
  DeviceBuffer<T> target_normals_, source_normals_;
  DeviceBuffer<double> spacing_;  ///< the sum over a sample
  std::vector<apps::RegisteredPair> pairs_;
};

}  // namespace

std::optional<apps::Registration> register_arrays(const engine::RegistrationRequest& request) {
  const DeviceScope scope(request.device.ordinal());
  return core::visit_dtype(request.target.dtype(),
                           [&](auto type) { return ArrayRegistrar<decltype(type)>(request).run(); });
}

}  // namespace kith::cuda
