// See scan_engine.hpp.
#include "cuda/brute_force/scan_engine.hpp"

#include "core/metric/metrics.hpp"
#include "cuda/brute_force/scan/knn_rounds.hpp"
#include "cuda/queries/boxes_among_rows.hpp"
#include "cuda/queries/tuning.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/shared_limit.hpp"

#include <type_traits>
#include <utility>

namespace kith::cuda {
namespace {

template <typename T>
bool products_pay(std::uint64_t points, std::uint32_t dims, Metric metric, bool is_periodic) {
  return std::is_same_v<T, float> && dims >= kFewestDimsForProducts && points >= kFewestPointsForProducts &&
         core::kind_of_reduction(metric) == Metric::Kind::l2 && !is_periodic;
}

/// Whether a block of the filter may have the shared memory that it needs.
bool can_hold_products(std::uint32_t dims, int device) {
  return product_filter_shared_bytes(dims) <= shared_limit_of(device);
}

}  // namespace

std::uint32_t most_filtered_dims(std::uint32_t shared_limit, std::uint32_t most_dims) {
  if (product_filter_shared_bytes(most_dims) <= shared_limit) return most_dims;
  std::uint32_t dims = 0;
  while (dims < most_dims && product_filter_shared_bytes(dims + kProductDims) <= shared_limit) dims += kProductDims;
  return dims;
}

template <typename T>
std::uint64_t ScanEngine<T>::bytes_of(std::uint64_t points, std::uint32_t dims, Metric metric, bool is_periodic) {
  std::uint64_t bytes = points * dims * sizeof(T);
  if (products_pay<T>(points, dims, metric, is_periodic)) {
    bytes += padded_product_rows(points) * (2 * product_padded_dims(dims) + 2 * sizeof(float)) + dims * sizeof(float);
  }
  return bytes;
}

template <typename T>
ScanEngine<T>::ScanEngine(DeviceBuffer<T> rows, std::uint64_t points, std::uint32_t dims, Metric metric,
                          bool is_periodic, const Stream& stream)
    : rows_(std::move(rows)) {
  scanned_.points = {rows_.data(), points, dims};
  scanned_.order = spread_order(tiles_of(points));
  if constexpr (std::is_same_v<T, float>) {
    if (!products_pay<T>(points, dims, metric, is_periodic) || !can_hold_products(dims, stream.device())) return;
    const std::uint64_t capacity = padded_product_rows(points);
    halves_ = DeviceBuffer<std::uint16_t>(capacity * product_padded_dims(dims), stream);
    terms_ = DeviceBuffer<float>(capacity, stream);
    scales_ = DeviceBuffer<float>(capacity, stream);
    centre_ = DeviceBuffer<float>(dims, stream);
    pack_points(scanned_.points, halves_.data(), terms_.data(), scales_.data(), centre_.data(), stream);
    stream.synchronize();  // other streams read all this
    scanned_.product = {halves_.data(), terms_.data(), scales_.data(), product_padded_dims(dims)};
    scanned_.centre = centre_.data();
  }
}

template <typename T>
void ScanEngine<T>::knn(const KnnRequest<T>& request, const engine::KnnRules<T>& rules, std::uint8_t*,
                        const Stream& stream) const {
  const QuerySource<T>& queries = request.queries;
  if (queries.rows == nullptr || queries.count > kMostInHostMemory || queries.row_stride != dims()) {
    return scan_knn(scanned_, request, rules.select, stream);
  }
  DeviceBuffer<T> rows(queries.count * dims(), stream);
  check(cudaMemcpyAsync(rows.data(), queries.rows, rows.bytes(), cudaMemcpyDefault, stream.get()), "copying queries");
  KnnRequest<T> here = request;
  here.queries.rows = rows.data();
  scan_knn(scanned_, here, rules.select, stream);
}

template <typename T>
void find_in_rows(const T* rows, std::uint64_t count, std::uint32_t dims, const BoxRequest<T>& request, bool lists,
                  const Stream& stream) {
  ScannedPoints<T> scanned;
  scanned.points = {rows, count, dims};
  scanned.order = spread_order(tiles_of(count));
  scan_in_boxes(scanned, request, lists, stream);
}

template class ScanEngine<float>;
template class ScanEngine<double>;
template void find_in_rows(const float*, std::uint64_t, std::uint32_t, const BoxRequest<float>&, bool, const Stream&);
template void find_in_rows(const double*, std::uint64_t, std::uint32_t, const BoxRequest<double>&, bool, const Stream&);

}  // namespace kith::cuda
