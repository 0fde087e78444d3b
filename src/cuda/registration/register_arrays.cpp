// See register_arrays.hpp. The trees, lists and planes of the clouds, then a kernel per stage; the host waits for the
// boxes, for the sums over clouds, and for the end of each stage.
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
    const std::optional<core::CloudExtent> source = box_of(source_);
    const std::optional<core::CloudExtent> target = box_of(target_);
    if (!source || !target) return std::nullopt;
    prepare();
    core::CloudExtent extents[2] = {*source, *target};
    const double spacing = add_up(extents);
    core::RegistrationPlan plan(options_, target_.dims(), extents[0], extents[1]);
    const std::uint64_t step = core::first_step(source_.count(), options_);
    if (step > 1) run_stage(plan, step, spacing, core::kFirstSlack);
    run_stage(plan, 1, spacing, 1);
    apps::Registration result = std::move(plan).finish();
    result.pairs = std::move(pairs_);
    return result;
  }

 private:
  /// The caller's, or one of our own that begins after the work in the default stream.
  static Stream stream_of(const engine::RegistrationRequest& request) {
    if (request.options.stream != nullptr) {
      return Stream(static_cast<cudaStream_t>(request.options.stream), request.device.ordinal());
    }
    const Stream own;
    own.wait_for_default_stream();
    return own;
  }

  std::optional<core::CloudExtent> box_of(const CloudRows<T>& rows) {
    DeviceBuffer<OrderedKey<T>> keys(2 * rows.dims(), stream_);
    find_box_on_device(rows.data(), rows.count(), rows.dims(), keys.data(), stream_);
    OrderedKey<T> corners[6];
    read(corners, keys.data(), 2 * rows.dims(), stream_);
    stream_.synchronize();
    double lower[3], upper[3];
    for (std::uint32_t d = 0; d < rows.dims(); ++d) {
      lower[d] = static_cast<double>(value_of_key<T>(corners[d]));
      upper[d] = static_cast<double>(value_of_key<T>(corners[rows.dims() + d]));
      if (!std::isfinite(lower[d]) || !std::isfinite(upper[d])) return std::nullopt;
    }
    return core::extent_of_box(lower, upper, rows.dims());
  }

  DeviceTree<T> tree_of(const CloudRows<T>& rows) {
    const PointSource<T> source{.values = rows.data(), .row_stride = rows.dims(), .dim_stride = 1, .indices = nullptr};
    return build_device_tree(source, rows.count(), rows.dims(), engine::leaf_size_of(0, rows.dims()), false, stream_);
  }

  /// Trees, lists and planes.
  void prepare() {
    tree_ = tree_of(target_);
    const std::uint32_t k = error_ == core::PairError::point ? 2 : options_.neighbors;
    const OwnLists<T> lists(tree_, k, stream_);
    scratch_ = DeviceBuffer<double>(total_scratch(std::max(source_.count(), target_.count()), 38), stream_);
    totals_ = DeviceBuffer<double>(9, stream_);
    if (error_ != core::PairError::point) target_normals_ = planes_of(target_, lists);
    if (target_.count() > 1) {
      const core::SpacingSample sample = core::spacing_sample(target_.count());
      sum_values_on_device(lists.distances.data() + 1, sample.step * lists.k, sample.count, scratch_.data(),
                           totals_.data() + 8, stream_);
    }
    if (error_ == core::PairError::gicp) {
      DeviceTree<T> tree = tree_of(source_);
      source_normals_ = planes_of(source_, OwnLists<T>(tree, options_.neighbors, stream_));
    }
  }

  DeviceBuffer<T> planes_of(const CloudRows<T>& rows, const OwnLists<T>& lists) {
    DeviceBuffer<T> normals(rows.count() * rows.dims(), stream_);
    fit_planes_on_device<T>(rows.data(), rows.count(), rows.dims(), lists.indices.data(), lists.k, normals.data(),
                            nullptr, stream_);
    return normals;
  }

  /// Completes the extents of source and target; returns the mean distance between neighbours of the target.
  double add_up(core::CloudExtent (&extents)[2]) {
    sum_places_on_device(source_.data(), source_.count(), source_.dims(), extents[0].centre, scratch_.data(),
                         totals_.data(), stream_);
    sum_places_on_device(target_.data(), target_.count(), target_.dims(), extents[1].centre, scratch_.data(),
                         totals_.data() + 4, stream_);
    double totals[9];
    read(totals, totals_.data(), target_.count() > 1 ? 9 : 8, stream_);
    stream_.synchronize();
    core::add_sums(extents[0], totals, source_.count());
    core::add_sums(extents[1], totals + 4, target_.count());
    if (target_.count() < 2) return 0;
    return totals[8] / static_cast<double>(core::spacing_sample(target_.count()).count);
  }

  void run_stage(core::RegistrationPlan& plan, std::uint64_t step, double spacing, double slack) {
    const std::uint64_t points = (source_.count() + step - 1) / step;
    const core::StepRule rule = plan.rule(points, spacing, slack);
    core::StageState state = plan.start(rule);
    const int terms = plan.unknowns() == 7 ? core::TermPlaces<7>::kCount : core::TermPlaces<6>::kCount;

    DeviceBuffer<core::StageState> state_there(1, stream_);
    DeviceBuffer<core::StepRecord> records_there(std::uint64_t{rule.max_iterations} + 1, stream_);
    DeviceBuffer<std::uint32_t> matches(points, stream_), counters(2, stream_);
    DeviceBuffer<double> total(static_cast<std::uint64_t>(terms), stream_);
    check(cudaMemcpyAsync(state_there.data(), &state, sizeof state, cudaMemcpyHostToDevice, stream_.get()),
          "copying to the GPU");
    check(cudaMemsetAsync(matches.data(), 0xff, matches.bytes(), stream_.get()), "writing matches");
    check(cudaMemsetAsync(counters.data(), 0, counters.bytes(), stream_.get()), "writing zeros");
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
    task.state = state_there.data();
    task.records = records_there.data();
    task.matches = matches.data();
    task.sums = scratch_.data();
    task.total = total.data();
    task.counters = counters.data();
    refine_on_device(task, plan.unknowns(), stream_);

    std::vector<core::StepRecord> records(records_there.size());
    std::vector<double> sums(total.size());
    read(&state, state_there.data(), 1, stream_);
    stream_.synchronize();
    const bool has_few = state.end == core::StageEnd::few_pairs;
    records.resize(state.iteration + (has_few ? 1 : 0));
    read(records.data(), records_there.data(), records.size(), stream_);
    read(sums.data(), total.data(), sums.size(), stream_);
    std::vector<std::uint32_t> found(step == 1 && options_.want_pairs ? points : 0);
    read(found.data(), matches.data(), found.size(), stream_);
    stream_.synchronize();
    plan.take(state, records, sums, points);
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
  DeviceBuffer<double> scratch_, totals_;
  std::vector<apps::RegisteredPair> pairs_;
};

}  // namespace

std::optional<apps::Registration> register_arrays(const engine::RegistrationRequest& request) {
  const DeviceScope scope(request.device.ordinal());
  return core::visit_dtype(request.target.dtype(),
                           [&](auto type) { return ArrayRegistrar<decltype(type)>(request).run(); });
}

}  // namespace kith::cuda
