// Brute force on a GPU: the engine that compares every query with every point.
#include "cuda/engines.hpp"

#include "cuda/brute_force/scan_bytes.hpp"
#include "cuda/brute_force/scan_engine.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_memory.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/queries/rows_of_request.hpp"
#include "cuda/queries/engine_search.hpp"
#include "cuda/runtime/staging.hpp"
#include "cuda/runtime/started_device.hpp"
#include "engine/search_in_parts.hpp"
#include "engine/with_memory.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace kith::cuda {
namespace {

using engine::RunOptions;
using engine::Searcher;

template <typename T>
class BruteForce final : public PointSearch<T> {
 public:
  BruteForce(std::shared_ptr<const ScanEngine<T>> engine, Metric metric, std::vector<T> period, Stream stream)
      : PointSearch<T>(engine, metric, std::move(period), std::move(stream)), engine_(std::move(engine)) {}

  void knn(const engine::QueryBatch<T>& queries, std::uint32_t k, const engine::KnnRules<T>& rules,
           const RunOptions& run, std::uint32_t* indices, T* reduced, std::uint8_t* exact) const override {
    if (exact != nullptr) std::fill_n(exact, queries.count, std::uint8_t{1});  // looking at everything is always exact
    engine::KnnRules<T> exactly;
    exactly.bound = rules.bound;
    exactly.select = rules.select;
    PointSearch<T>::knn(queries, k, exactly, run, indices, reduced, nullptr);
  }
  void copy_rows(T* rows, int threads) const override {
    const DeviceScope scope(this->stream().device());
    const std::uint64_t bytes = engine_->points() * engine_->dims() * sizeof(T);
    copy_to_host(rows, engine_->rows(), bytes, this->stream(), {.threads = threads});
  }

  std::uint64_t memory_bytes() const override { return engine_->memory_bytes() + this->host_bytes(); }
  std::string describe() const override {
    const int device = this->stream().device();
    return fmt::format(
        "brute force: {} points of {} dims{}, {} bytes on the GPU\n"
        "device cuda:{}: searches run there; a query takes {} bytes and {} for each neighbour besides its lists of "
        "candidates, and batches that take more than half of the {} bytes that are free are cut into chunks",
        engine_->points(), engine_->dims(),
        engine_->has_filter()    ? ", filter by tensor cores with exact re-check"
        : this->period().empty() ? ""
                                 : ", periodic axes",
        engine_->memory_bytes(), device, BatchSearch<T>::bytes_per_query(*engine_), BatchSearch<T>::kBytesPerNeighbor,
        memory_of_device(device).free);
  }

 private:
  std::unique_ptr<Searcher<T>> make_on_host(const RunOptions& run) const override {
    const std::uint64_t values = engine_->points() * engine_->dims();
    return engine::with_memory(values * sizeof(T), "the host's copy of the points", [&] {
      std::vector<T> rows(values);
      copy_rows(rows.data(), run.threads);
      const engine::BuildRequest<T> request{.engine = Engine::brute_force,
                                            .metric = this->metric(),
                                            .rows = rows.data(),
                                            .row_stride = engine_->dims(),
                                            .count = engine_->points(),
                                            .dims = engine_->dims(),
                                            .period = this->period(),
                                            .run = {.threads = run.threads}};
      return engine::cpu_backend().build(request);
    });
  }

  std::shared_ptr<const ScanEngine<T>> engine_;
};

/// All points on the GPU.
template <typename T>
std::unique_ptr<Searcher<T>> build_at_once(const engine::BuildRequest<T>& request) {
  const StartedDevice device(request.device.ordinal(), request.run);
  require_device_memory(request.device.ordinal(),
                        scan_bytes<T>(request.count, request.dims, request.metric, !request.period.empty()),
                        "building the index");
  const auto engine =
      std::make_shared<const ScanEngine<T>>(take_rows_of(request, device.stream), request.count, request.dims,
                                            request.metric, !request.period.empty(), device.stream);
  return std::make_unique<BruteForce<T>>(engine, request.metric, request.period, device.stream);
}

template <typename T>
engine::BuildBytes brute_force_bytes(const engine::PlanRequest& request) {
  const std::uint64_t bytes = scan_bytes<T>(request.count, request.dims, request.metric, request.is_periodic);
  return {bytes, bytes};
}

template <typename T>
std::unique_ptr<Searcher<T>> build_brute_force(const engine::BuildRequest<T>& request) {
  const bool on_device = request.rows_on.kind() == Device::Kind::cuda;
  const std::uint64_t rows_per_part =
      on_device ? 0
                : rows_of_part<T>(request.count, request.dims, request.metric, !request.period.empty(),
                                  memory_of_device(request.device.ordinal()).free);
  if (rows_per_part == 0) return build_at_once(request);
  if (!request.is_known_finite) throw engine::NonFinite();  // the host looks at them then, and comes again
  return build_brute_force_in_parts(request, rows_per_part);
}

template <typename T>
std::unique_ptr<Searcher<T>> load_brute_force(const engine::LoadRequest& request) {
  // The CPU's engine checks what the file holds.
  const engine::LoadRequest on_cpu{request.file, Device::cpu(), request.period, request.run};
  const std::unique_ptr<Searcher<T>> checked = engine::cpu_backend().load<T>(on_cpu);
  const engine::IndexFacts& facts = request.file.facts();
  std::unique_ptr<Searcher<T>> loaded;
  engine::with_memory(facts.points * facts.dims * sizeof(T), "the points of the index", [&] {
    std::vector<T> rows(facts.points * facts.dims);
    checked->copy_rows(rows.data(), request.run.threads);
    loaded = build_brute_force<T>({.engine = facts.engine,
                                   .metric = facts.metric,
                                   .rows = rows.data(),
                                   .row_stride = facts.dims,
                                   .count = facts.points,
                                   .dims = facts.dims,
                                   .period = request.lengths<T>(),
                                   .device = request.device,
                                   .run = request.run});
  });
  return loaded;
}

}  // namespace

template <typename T>
std::unique_ptr<Searcher<T>> build_brute_force_in_parts(const engine::BuildRequest<T>& request,
                                                        std::uint64_t rows_per_part) {
  return engine::with_memory(request.count * request.dims * sizeof(T), "the host's copy of the points", [&] {
    engine::BuildRequest<T> pattern = request;  // of the parts
    const auto make = [pattern](const T* rows, std::uint64_t count, const RunOptions& run) {
      engine::BuildRequest<T> part = pattern;
      part.rows = rows;
      part.count = count;
      part.run = run;
      return build_at_once(part);
    };
    return std::unique_ptr<Searcher<T>>(std::make_unique<engine::SearchInParts<T>>(request, rows_per_part, make));
  });
}

template <typename T>
engine::PointEngine<T> brute_force() {
  return {brute_force_bytes<T>, build_brute_force<T>, load_brute_force<T>};
}

template engine::PointEngine<float> brute_force();
template engine::PointEngine<double> brute_force();
template std::unique_ptr<Searcher<float>> build_brute_force_in_parts(const engine::BuildRequest<float>&, std::uint64_t);
template std::unique_ptr<Searcher<double>> build_brute_force_in_parts(const engine::BuildRequest<double>&,
                                                                      std::uint64_t);

}  // namespace kith::cuda
