// See array_search.hpp.
#include "cuda/queries/array_search.hpp"

#include "core/metric/reported_distance.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_points.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/queries/array_queries.hpp"
#include "cuda/primitives/sum_counts.hpp"
#include "cuda/primitives/widen_numbers.hpp"

#include <kith/error.hpp>
#include <kith/tuning.hpp>

#include <fmt/format.h>

namespace kith::cuda {
namespace {

SearchFilter search_filter(const engine::PointFilter& filter) {
  return {filter.exclude_self, filter.earlier_only, filter.below, filter.allowed};
}

void fill(void* memory, std::uint8_t value, std::uint64_t bytes, const Stream& stream) {
  check(cudaMemsetAsync(memory, value, bytes, stream.get()), "filling an array");
}

}  // namespace

template <typename T>
void ArraySearch<T>::require_here(const void* memory, std::string_view what) const {
  const Device device = Device::cuda(device_);
  if (is_on_device(memory, device)) return;
  throw UsageError(fmt::format("{}: the array is not in the memory of {}, where the index is", what, device.name()));
}

template <typename T>
typename ArraySearch<T>::Prepared ArraySearch<T>::prepare(const engine::QueryBatch<T>& queries,
                                                          const engine::DeviceReach<T>& reach,
                                                          const engine::DeviceRun& run, const Stream& stream) const {
  Prepared prepared;
  prepared.source.count = queries.count;
  if (queries.is_self() && reach.radii == nullptr) return prepared;
  if (!queries.is_self()) prepared.rows = DeviceBuffer<T>(queries.count * engine_.dims(), stream);
  prepared.bounds = DeviceBuffer<T>(queries.count, stream);
  core::RowMap map = run.map;
  DeviceBuffer<double> values(map.size(), stream);
  if (map.size() != 0) {
    check(cudaMemcpyAsync(values.data(), map.values, map.size() * sizeof(double), cudaMemcpyHostToDevice, stream.get()),
          "copying the parameters of the metric");
    map.values = values.data();
  }
  prepare_queries(PrepareTask<T>{.rows = queries.rows,
                                 .row_stride = static_cast<std::uint64_t>(queries.row_stride),
                                 .count = queries.count,
                                 .map = map,
                                 .lengths = search_metric_.lengths,
                                 .bound = reach.bound,
                                 .radii = reach.radii,
                                 .metric = metric_,
                                 .bits = run.bits,
                                 .prepared = prepared.rows.data(),
                                 .bounds = prepared.bounds.data()},
                  stream);
  if (queries.is_self()) return prepared;
  prepared.source.rows = prepared.rows.data();
  prepared.source.row_stride = engine_.dims();
  if (queries.count < tuning().gpu_ordered_queries || !engine_.wants_order()) return prepared;
  prepared.order = DeviceBuffer<std::uint32_t>(queries.count, stream);
  engine_.order_queries(prepared.source.rows, prepared.source.row_stride, queries.count, prepared.order.data(), stream);
  prepared.source.chosen = prepared.order.data();
  return prepared;
}

template <typename T>
void ArraySearch<T>::knn(const engine::QueryBatch<T>& queries, std::uint32_t k, const engine::KnnRules<T>& rules,
                         const engine::DeviceRun& run, const engine::DeviceNeighbors<T>& rows) const {
  if (queries.count == 0) return;
  const DeviceScope scope(device_);
  const Stream stream = stream_of(run);
  if (rows.exact != nullptr) fill(rows.exact, 1, queries.count, stream);  // exact engines leave it so
  if (k == 0) return;
  const bool is_empty = engine_.points() == 0;  // then no bound is good
  const Prepared prepared = prepare(queries, {is_empty ? T(-1) : rules.bound}, run, stream);
  const KnnAnswer<T> answer{.indices = rows.indices,
                            .reduced = rows.distances,
                            .is_reported = true,
                            .takes_roots = takes_roots(run),
                            .wide = rows.wide};
  if (!is_empty) {
    engine_.knn(KnnRequest<T>{.metric = search_metric_,
                              .filter = search_filter(queries.filter),
                              .queries = prepared.source,
                              .k = k,
                              .bound = rules.bound,
                              .answer = answer},
                rules, rows.exact, stream);
    if (!answer.takes_roots) report(run, queries.count * k, nullptr, rows.distances, stream);
  }
  if (queries.is_self()) return;
  empty_rows(EmptyTask<T>{.bounds = prepared.bounds.data(),
                          .rows = queries.count,
                          .k = k,
                          .answer = answer,
                          .missing = static_cast<std::uint32_t>(engine_.points()),
                          .exact = rows.exact},
             stream);
}

template <typename T>
void ArraySearch<T>::report(const engine::DeviceRun& run, std::uint64_t entries, const std::uint64_t* entries_on_device,
                            T* distances, const Stream& stream) const {
  if (core::is_reported_as_is(metric_, run.squared)) return;
  report_distances(ReportTask<T>{.metric = metric_,
                                 .squared = run.squared,
                                 .entries = entries,
                                 .entries_on_device = entries_on_device,
                                 .distances = distances},
                   stream);
}

template <typename T>
RadiusRequest<T> ArraySearch<T>::radius_request(const engine::QueryBatch<T>& queries, const Prepared& prepared,
                                                T bound) const {
  return {.metric = search_metric_,
          .filter = search_filter(queries.filter),
          .queries = prepared.source,
          .bound = bound,
          .bounds = prepared.bounds.data()};
}

template <typename T>
void ArraySearch<T>::count(const engine::QueryBatch<T>& queries, const engine::DeviceReach<T>& reach,
                           const engine::DeviceRun& run, std::uint32_t* counts) const {
  if (queries.count == 0) return;
  const DeviceScope scope(device_);
  const Stream stream = stream_of(run);
  if (engine_.points() == 0) return fill(counts, 0, queries.count * sizeof(std::uint32_t), stream);
  const Prepared prepared = prepare(queries, reach, run, stream);
  RadiusRequest<T> request = radius_request(queries, prepared, reach.bound);
  request.counts = counts;
  engine_.count(request, stream);
}

template <typename T>
void ArraySearch<T>::offsets(const std::uint32_t* counts, std::uint64_t count, const engine::DeviceRun& run,
                             std::uint64_t* offsets) const {
  const DeviceScope scope(device_);
  const Stream stream = stream_of(run);
  if (count == 0) return fill(offsets, 0, sizeof(std::uint64_t), stream);
  sum_counts(counts, count, offsets, stream);
}

template <typename T>
void ArraySearch<T>::widen(const std::uint32_t* numbers, std::uint64_t count, const engine::DeviceRun& run,
                           std::int64_t* wide) const {
  const DeviceScope scope(device_);
  widen_numbers(numbers, count, wide, stream_of(run));
}

template <typename T>
void ArraySearch<T>::pack(const std::uint8_t* flags, std::uint64_t count, const engine::DeviceRun& run,
                          std::uint64_t* words) const {
  const DeviceScope scope(device_);
  pack_flags(flags, count, words, stream_of(run));
}

template <typename T>
void ArraySearch<T>::radius(const engine::QueryBatch<T>& queries, const engine::DeviceReach<T>& reach,
                            const engine::DeviceRun& run, const std::uint64_t* offsets,
                            const engine::DeviceNeighbors<T>& lists) const {
  if (queries.count == 0 || engine_.points() == 0) return;
  const DeviceScope scope(device_);
  const Stream stream = stream_of(run);
  const Prepared prepared = prepare(queries, reach, run, stream);
  RadiusRequest<T> request = radius_request(queries, prepared, reach.bound);
  request.starts = offsets;
  request.indices = lists.indices;
  request.wide = lists.wide;
  request.reduced = lists.distances;
  request.takes_roots = takes_roots(run);
  engine_.list(request, stream);
  if (!request.takes_roots) report(run, 0, offsets + queries.count, lists.distances, stream);
}

template <typename T>
BoxRequest<T> ArraySearch<T>::box_request(const engine::BoxBatch<T>& boxes) const {
  return {.filter = search_filter(boxes.filter), .lower = boxes.lower, .upper = boxes.upper, .count = boxes.count};
}

template <typename T>
void ArraySearch<T>::box_count(const engine::BoxBatch<T>& boxes, const engine::DeviceRun& run,
                               std::uint32_t* counts) const {
  if (boxes.count == 0) return;
  const DeviceScope scope(device_);
  BoxRequest<T> request = box_request(boxes);
  request.counts = counts;
  engine_.count_in_boxes(request, stream_of(run));
}

template <typename T>
void ArraySearch<T>::box(const engine::BoxBatch<T>& boxes, const engine::DeviceRun& run, const std::uint64_t* offsets,
                         std::uint32_t* indices) const {
  if (boxes.count == 0) return;
  const DeviceScope scope(device_);
  BoxRequest<T> request = box_request(boxes);
  request.starts = offsets;
  request.indices = indices;
  engine_.list_in_boxes(request, stream_of(run));
}

template class ArraySearch<float>;
template class ArraySearch<double>;

}  // namespace kith::cuda
