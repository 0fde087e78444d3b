// Rows of bits searched on a GPU: every query is compared with every row. Words travel as f32 through everything that
// searches by coordinates do; only the kernels that measure know better, because the requests say so (bit_scan.cuh).
#include "cuda/engines.hpp"

#include "cuda/brute_force/scan/knn_rounds.hpp"
#include "cuda/brute_force/scan/scan_search.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/device_memory.hpp"
#include "cuda/queries/engine_search.hpp"
#include "cuda/queries/tuning.hpp"
#include "cuda/runtime/staging.hpp"
#include "cuda/runtime/started_device.hpp"
#include "runtime/time_spent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kith::cuda {
namespace {

/// Owns the rows; every request becomes one about bits.
class BitEngine final : public SearchEngine<float> {
 public:
  BitEngine(DeviceBuffer<float> rows, std::uint64_t count, std::uint32_t words) : rows_(std::move(rows)) {
    scanned_.points = {rows_.data(), count, words};
    scanned_.order = spread_order(tiles_of(count));
  }

  std::uint64_t points() const override { return scanned_.points.count; }
  std::uint32_t dims() const override { return scanned_.points.dims; }
  std::uint64_t memory_bytes() const { return rows_.bytes(); }
  const float* rows() const { return rows_.data(); }

  void knn(const KnnRequest<float>& request, const engine::KnnRules<float>& rules, std::uint8_t*,
           const Stream& stream) const override {
    KnnRequest<float> here = request;
    here.metric.is_hamming = true;
    if (request.queries.rows == nullptr || request.queries.count > kMostInHostMemory) {
      return scan_knn(scanned_, here, rules.select, stream);
    }
    DeviceBuffer<float> rows(request.queries.count * dims(), stream);
    check(cudaMemcpyAsync(rows.data(), request.queries.rows, rows.bytes(), cudaMemcpyDefault, stream.get()),
          "copying queries");
    here.queries.rows = rows.data();
    scan_knn(scanned_, here, rules.select, stream);
  }
  void count(const RadiusRequest<float>& request, const Stream& stream) const override {
    scan_count(scanned_, of_bits(request), stream);
  }
  void list(const RadiusRequest<float>& request, const Stream& stream) const override {
    scan_list(scanned_, of_bits(request), stream);
  }
  // There are no boxes of bits, and no request for them.
  void count_in_boxes(const BoxRequest<float>&, const Stream&) const override {}
  void list_in_boxes(const BoxRequest<float>&, const Stream&) const override {}
  bool wants_order() const override { return false; }
  void order_queries(const float*, std::uint64_t, std::uint64_t, std::uint32_t*, const Stream&) const override {}
  bool wants_chosen() const override { return false; }
  void choose_points(std::uint32_t, std::uint32_t, std::uint32_t*, std::uint32_t*, const Stream&) const override {}

 private:
  static RadiusRequest<float> of_bits(RadiusRequest<float> request) {
    request.metric.is_hamming = true;
    return request;
  }

  DeviceBuffer<float> rows_;
  ScannedPoints<float> scanned_;
};

class BitSearch final : public ObjectSearch<engine::BitSearcher, engine::BitRows> {
 public:
  BitSearch(DeviceBuffer<float> rows, std::uint64_t count, std::uint32_t words, Stream stream)
      : stream_(std::move(stream)),
        engine_(std::move(rows), count, words),
        search_(engine_, Metric::l1(), {}, stream_),
        array_search_(engine_, Metric::l1(), search_.metric(), stream_.device()) {}

  void knn(const engine::BitQueries& queries, std::uint32_t k, const engine::KnnRules<float>& rules,
           const engine::RunOptions& run, std::uint32_t* indices, float* distances,
           std::uint8_t* exact) const override {
    ObjectSearch::knn(queries, k, {.bound = rules.bound, .select = rules.select}, run, indices, distances, nullptr);
    if (exact != nullptr) std::fill_n(exact, queries.count, std::uint8_t{1});
  }
  void copy_rows(std::uint64_t* words, const engine::RunOptions& run) const override {
    copy_to_host(words, engine_.rows(), engine_.memory_bytes(), stream_, CopyOptions::of_search(run));
  }
  const engine::DeviceSearcher<float>* on_device() const override { return &array_search_; }
  void save(engine::IndexFileWriter&, const engine::RunOptions&) const override {}  // the rows are all there is
  std::uint64_t memory_bytes() const override { return engine_.memory_bytes(); }
  std::string describe() const override {
    return fmt::format("bits: {} rows of {} words, {} bytes on the GPU", engine_.points(), engine_.dims() / 2,
                       engine_.memory_bytes());
  }

 private:
  Asked ask(const engine::BitQueries& queries, const engine::RunOptions&) const override {
    return {search_, batch_of(queries, queries.rows.words, engine_.dims())};
  }

  Stream stream_;
  BitEngine engine_;
  BatchSearch<float> search_;
  ArraySearch<float> array_search_;
};

}  // namespace

std::unique_ptr<engine::BitSearcher> build_bit_search(const engine::BitBuildRequest& request) {
  const std::uint64_t count = request.rows.count;
  const std::uint32_t words = 2 * request.rows.words_per_row;  // of 32 bits
  const StartedDevice device(request.device.ordinal(), request.run);
  require_device_memory(request.device.ordinal(), count * words * sizeof(float), "building the index");
  DeviceBuffer<float> rows(count * words, device.stream);
  if (count > 0) {
    copy_to_device(rows.data(), request.rows.words, rows.bytes(), device.stream, CopyOptions::of_build(request.run));
  }
  {
    const runtime::TimeSpent spent(runtime::member_of(request.run.times, &WorkTimes::device_ms));
    device.stream.synchronize();  // other streams read the rows
  }
  return std::make_unique<BitSearch>(std::move(rows), count, words, device.stream);
}

}  // namespace kith::cuda
