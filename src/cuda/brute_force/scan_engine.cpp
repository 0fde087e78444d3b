// See scan_engine.hpp.
#include "cuda/brute_force/scan_engine.hpp"

#include "cuda/brute_force/scan/knn_rounds.hpp"
#include "cuda/brute_force/scan/scan_path.hpp"
#include "cuda/brute_force/scan_bytes.hpp"
#include "cuda/queries/boxes_among_rows.hpp"
#include "cuda/queries/tuning.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_facts.hpp"
#include "cuda/runtime/shared_limit.hpp"

#include <fmt/format.h>

#include <type_traits>
#include <utility>

namespace kith::cuda {
namespace {

/// Why tensor cores of this device do not filter, for people; null: they do.
template <typename T>
const char* why_no_products_on(int device, std::uint64_t points, std::uint32_t dims, Metric metric, bool is_periodic) {
  const char* reason = why_no_products<T>(points, dims, metric, is_periodic);
  if (reason != nullptr || product_filter_shared_bytes(dims) <= shared_limit_of(device)) return reason;
  return "its blocks need more shared memory than this GPU has";
}

const char* words_of(ScanPath path) {
  switch (path) {
    case ScanPath::bits:
      return "tiles of words of bits";
    case ScanPath::few:
      return "a scan for few queries";
    case ScanPath::narrow:
      return "tiles of points of few dims";
    case ScanPath::wide:
      return "tiles of points";
    case ScanPath::pairs:
      break;
  }
  return "pair by pair; tiles do not apply: they are for l2, l1, linf and ip without periodic axes";
}

}  // namespace

std::uint32_t most_filtered_dims(std::uint32_t shared_limit, std::uint32_t most_dims) {
  if (product_filter_shared_bytes(most_dims) <= shared_limit) return most_dims;
  std::uint32_t dims = 0;
  while (dims < most_dims && product_filter_shared_bytes(dims + kProductDims) <= shared_limit) dims += kProductDims;
  return dims;
}

template <typename T>
ScanEngine<T>::ScanEngine(DeviceBuffer<T> rows, std::uint64_t points, std::uint32_t dims, Metric metric,
                          bool is_periodic, const Stream& stream)
    : rows_(std::move(rows)), no_products_(why_no_products_on<T>(stream.device(), points, dims, metric, is_periodic)) {
  scanned_.points = {rows_.data(), points, dims};
  scanned_.order = spread_order(tiles_of(points));
  if constexpr (std::is_same_v<T, float>) {
    if (no_products_ != nullptr) return;
    const std::uint64_t capacity = padded_product_rows(points);
    halves_ = DeviceBuffer<std::uint16_t>(capacity * product_padded_dims(dims), stream);
    terms_ = DeviceBuffer<float>(capacity, stream);
    scales_ = DeviceBuffer<float>(capacity, stream);
    centre_ = DeviceBuffer<float>(dims, stream);
    if (has_half_sums(dims) && generation_of(stream.device()) >= kOldestForHalfSums) {
      half_sum_values_ = DeviceBuffer<std::uint16_t>(capacity * product_padded_dims(dims), stream);
      half_sum_terms_ = DeviceBuffer<std::uint16_t>(2 * capacity, stream);
      half_sum_scale_ = DeviceBuffer<float>(1, stream);
    }
    pack_points(scanned_.points,
                {halves_.data(), terms_.data(), scales_.data(), centre_.data(), half_sum_values_.data(),
                 half_sum_terms_.data(), half_sum_scale_.data()},
                stream);
    stream.synchronize();  // other streams read all this
    scanned_.half_sums = {half_sum_values_.data(), half_sum_terms_.data(), half_sum_scale_.data()};
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
std::string ScanEngine<T>::explain(const engine::SearchShape& shape, const SearchMetric<T>& metric) const {
  const std::string scan = words_of(scan_path(metric, dims(), shape.queries));
  if (shape.is_radius) return scan;
  const char* reason = no_products_;
  if (reason == nullptr && plan_rounds(points(), shape.k, shape.queries).ends.size() == 1) {
    reason = "the lists hold all points";
  }
  if (reason == nullptr) return "tensor cores filter all pairs, and what passes is measured exactly";
  return fmt::format("{}; the filter by tensor cores does not apply: {}", scan, reason);
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
