// See register_arrays.hpp. Boxes and sums, trees, lists and planes of the clouds, then a kernel per stage. The host
// waits for what it must know of the clouds, and for the end of each stage.
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
#include "cuda/runtime/rows_on_device.hpp"
#include "engine/kd_tree/kd_tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace kith::cuda {
namespace {

template <typename V>
void read(V* to, const V* from, std::uint64_t count, const Stream& stream) {
  check(cudaMemcpyAsync(to, from, count * sizeof(V), cudaMemcpyDeviceToHost, stream.get()), "copying to the host");
}

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
        copying_{.threads = request.options.threads, .progress = &request.options.progress},
        source_(request.source, request.device, stream_, copying_),
        target_(request.target, request.device, stream_, copying_) {}

  std::optional<apps::Registration> run() {
    try {
      prepare();
    } catch (const NonFinite&) {
      return std::nullopt;
    }
    const std::optional<Known> known = look();
    if (!known) return std::nullopt;
    core::RegistrationPlan plan(options_, target_.dims(), known->source, known->target);
    const std::uint64_t step = core::first_step(source_.count(), options_);
    if (step > 1) run_stage(plan, step, known->spacing, core::kFirstSlack);
    run_stage(plan, 1, known->spacing, 1);
    apps::Registration result = std::move(plan).finish();
    result.pairs = std::move(pairs_);
    return result;
  }

 private:
  /// What the host must know before the first stage.
  struct Known {
    core::CloudExtent source, target;
    double spacing = 0;  ///< the mean distance between neighbours of the target
  };
  /// The same as the GPU leaves it.
  struct Facts {
    OrderedKey<T> source_box[6], target_box[6];
    double source_sums[4], target_sums[4];
    double spacing;
  };
  /// What a stage leaves, records behind it.
  struct StageFacts {
    core::StageState state;
    double total[core::TermPlaces<7>::kCount];
    double surfaces[core::TermPlaces<7>::kCount];
    std::uint32_t counters[2], surface_counters[2];
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

  DeviceTree<T> tree_of(const CloudRows<T>& rows) {
    const PointSource<T> source{.values = rows.data(), .row_stride = rows.dims(), .dim_stride = 1, .indices = nullptr};
    return build_device_tree(source, rows.count(), rows.dims(), engine::leaf_size_of(0, rows.dims()), false, stream_);
  }

  /// Boxes and sums, trees, lists and planes.
  void prepare() {
    facts_ = DeviceBuffer<Facts>(1, stream_);
    scratch_ = DeviceBuffer<double>(
        total_scratch(std::max(source_.count(), target_.count()), core::TermPlaces<7>::kCount), stream_);
    check(cudaMemsetAsync(facts_.data(), 0, facts_.bytes(), stream_.get()), "writing zeros");
    Facts* const facts = facts_.data();
    describe(source_, facts->source_box, facts->source_sums);
    describe(target_, facts->target_box, facts->target_sums);
    tree_ = tree_of(target_);
    const OwnLists<T> lists(tree_, error_ == core::PairError::point ? 2 : options_.neighbors, stream_);
    if (error_ != core::PairError::point) target_normals_ = planes_of(target_, lists);
    if (target_.count() > 1) {
      const core::SpacingSample sample = core::spacing_sample(target_.count());
      sum_values_on_device(lists.distances.data() + 1, sample.step * lists.k, sample.count, scratch_.data(),
                           &facts->spacing, stream_);
    }
    if (error_ == core::PairError::gicp) {
      DeviceTree<T> tree = tree_of(source_);
      source_normals_ = planes_of(source_, OwnLists<T>(tree, options_.neighbors, stream_));
    }
  }

  void describe(const CloudRows<T>& rows, OrderedKey<T>* box, double* sums) {
    find_box_on_device(rows.data(), rows.count(), rows.dims(), box, stream_);
    sum_places_on_device(rows.data(), rows.count(), rows.dims(), box, scratch_.data(), sums, stream_);
  }

  DeviceBuffer<T> planes_of(const CloudRows<T>& rows, const OwnLists<T>& lists) {
    DeviceBuffer<T> normals(rows.count() * rows.dims(), stream_);
    fit_planes_on_device<T>(rows.data(), rows.count(), rows.dims(), lists.indices.data(), lists.k, normals.data(),
                            nullptr, stream_);
    return normals;
  }

  /// Waits. Nothing if a coordinate is not finite.
  std::optional<Known> look() {
    Facts facts;
    read(&facts, facts_.data(), 1, stream_);
    stream_.synchronize();
    Known known;
    if (!extent_of(facts.source_box, facts.source_sums, source_, known.source)) return std::nullopt;
    if (!extent_of(facts.target_box, facts.target_sums, target_, known.target)) return std::nullopt;
    known.spacing = facts.spacing / static_cast<double>(core::spacing_sample(target_.count()).count);
    return known;
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

  void run_stage(core::RegistrationPlan& plan, std::uint64_t step, double spacing, double slack) {
    const std::uint64_t points = (source_.count() + step - 1) / step;
    const core::StepRule rule = plan.rule(points, spacing, slack);
    StageFacts facts{};
    facts.state = plan.start(rule);
    const std::uint64_t record_bytes = (std::uint64_t{rule.max_iterations} + 1) * sizeof(core::StepRecord);
    DeviceBuffer<std::byte> there(sizeof facts + record_bytes, stream_);
    DeviceBuffer<std::uint32_t> matches(points, stream_);
    check(cudaMemcpyAsync(there.data(), &facts, sizeof facts, cudaMemcpyHostToDevice, stream_.get()),
          "copying to the GPU");
    check(cudaMemsetAsync(there.data() + sizeof facts, 0, record_bytes, stream_.get()), "writing zeros");
    check(cudaMemsetAsync(matches.data(), 0xff, matches.bytes(), stream_.get()), "writing matches");
    auto* const facts_there = reinterpret_cast<StageFacts*>(there.data());
    RefineTask<T> task;
    task.tree = SearchTree<T>(tree_.arrays(), tree_.shape);
    task.target = target_.data();
    task.target_normals = target_normals_.data();
    task.source = source_.data();
    task.source_normals = source_normals_.data();
    task.step = step;
    task.points = points;
    task.frame = plan.frame();
    task.rule = rule;
    task.state = &facts_there->state;
    task.records = reinterpret_cast<core::StepRecord*>(there.data() + sizeof facts);
    task.matches = matches.data();
    task.sums = scratch_.data();
    task.total = facts_there->total;
    task.counters = facts_there->counters;
    refine_on_device(task, plan.unknowns(), stream_);
    const bool wants_surfaces = error_ == core::PairError::gicp && step == 1;
    if (wants_surfaces) {  // the state has ended: only the sums are made anew
      RefineTask<T> surfaces = task;
      surfaces.rule.pair.error = core::PairError::plane;
      surfaces.total = facts_there->surfaces;
      surfaces.counters = facts_there->surface_counters;
      refine_on_device(surfaces, plan.unknowns(), stream_);
    }

    std::vector<std::byte> left(there.size());
    std::vector<std::uint32_t> found(step == 1 && options_.want_pairs ? points : 0);
    read(left.data(), there.data(), left.size(), stream_);
    if (!found.empty()) read(found.data(), matches.data(), found.size(), stream_);
    stream_.synchronize();
    std::memcpy(&facts, left.data(), sizeof facts);
    const bool has_moved =
        facts.state.end == core::StageEnd::converged || facts.state.end == core::StageEnd::iterations;
    std::vector<core::StepRecord> records(facts.state.iteration + (has_moved ? 0 : 1));
    if (!records.empty()) {
      std::memcpy(records.data(), left.data() + sizeof facts, records.size() * sizeof(core::StepRecord));
    }
    plan.take(facts.state, records, facts.total,
              wants_surfaces ? std::span<const double>(facts.surfaces) : std::span<const double>(), points);
    for (std::uint32_t i = 0; i < found.size(); ++i) {
      if (found[i] != kNoPoint) pairs_.push_back({i, found[i]});
    }
  }

  apps::RegistrationOptions options_;
  core::PairError error_;
  Stream stream_;
  CopyOptions copying_;
  CloudRows<T> source_;
  CloudRows<T> target_;
  DeviceTree<T> tree_;  ///< of the target
  DeviceBuffer<T> target_normals_, source_normals_;
  DeviceBuffer<Facts> facts_;
  DeviceBuffer<double> scratch_;
  std::vector<apps::RegisteredPair> pairs_;
};

}  // namespace

std::optional<apps::Registration> register_arrays(const engine::RegistrationRequest& request) {
  const DeviceScope scope(request.device.ordinal());
  return core::visit_dtype(request.target.dtype(),
                           [&](auto type) { return ArrayRegistrar<decltype(type)>(request).run(); });
}

}  // namespace kith::cuda
