// See cover_search.hpp.
#include "cuda/cover_tree/cover_search.hpp"

#include "core/metric/metrics.hpp"
#include "cuda/brute_force/rows_of_request.hpp"
#include "cuda/cover_tree/any_space.hpp"
#include "cuda/cover_tree/build.hpp"
#include "cuda/cover_tree/host_cover.hpp"
#include "cuda/cover_tree/search/cover_engine.hpp"
#include "cuda/cover_tree/search/prepared_cover.hpp"
#include "cuda/device_memory.hpp"
#include "cuda/device_scope.hpp"
#include "cuda/search/array_search.hpp"
#include "cuda/search/batch_search.hpp"
#include "cuda/staging.hpp"
#include "cuda/started_device.hpp"
#include "engine/cover_tree/tree_sections.hpp"
#include "engine/index_file/index_file_writer.hpp"
#include "runtime/time_spent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace kith::cuda {
namespace {

using engine::RunOptions;
using engine::SectionId;

template <typename T>
AnySpace space_of(std::uint32_t dims, Metric metric) {
  return {.kind = sizeof(T) == 4 ? SpaceKind::f32 : SpaceKind::f64,
          .stride = dims * static_cast<std::uint32_t>(sizeof(T) / 4),
          .metric = core::kind_of_reduction(metric)};
}

template <typename T>
const std::uint32_t* words_of(const DeviceBuffer<T>& rows) {
  return reinterpret_cast<const std::uint32_t*>(rows.data());
}

template <typename T>
class CoverSearch final : public engine::Searcher<T> {
 public:
  CoverSearch(DeviceBuffer<T> rows, DeviceCoverTree tree, std::uint32_t dims, Metric metric, Stream stream)
      : stream_(std::move(stream)),
        rows_(std::move(rows)),
        dims_(dims),
        cover_(std::move(tree), words_of(rows_), false, stream_),
        engine_(cover_, space_of<T>(dims, metric), dims, rows_.data()),
        search_(engine_, metric, {}, stream_),
        array_search_(engine_, metric, search_.metric(), stream_.device()) {}

  void knn(const engine::QueryBatch<T>& queries, std::uint32_t k, const engine::KnnRules<T>& rules,
           const RunOptions& run, std::uint32_t* indices, T* chains, std::uint8_t* exact) const override {
    search_.knn(queries, k, rules, run, indices, chains, exact);
  }
  engine::ChainLists<T> radius(const engine::QueryBatch<T>& queries, T bound, std::uint32_t most,
                               const RunOptions& run) const override {
    return search_.radius(queries, bound, most, run);
  }
  void count(const engine::QueryBatch<T>& queries, T bound, const RunOptions& run,
             std::uint32_t* counts) const override {
    search_.count(queries, bound, run, counts);
  }
  engine::IndexLists box(const engine::BoxBatch<T>& boxes, const RunOptions& run) const override {
    return search_.box(boxes, run);
  }
  void box_count(const engine::BoxBatch<T>& boxes, const RunOptions& run, std::uint32_t* counts) const override {
    search_.box_count(boxes, run, counts);
  }
  const engine::DeviceSearcher<T>* on_device() const override { return &array_search_; }
  void copy_rows(T* rows, int threads) const override {
    const DeviceScope scope(stream_.device());
    copy_to_host(rows, rows_.data(), rows_.bytes(), stream_, {.threads = threads});
  }
  void save(engine::IndexFileWriter& writer, const RunOptions& run) const override {
    std::call_once(once_, [&] {
      engine::with_memory(rows_.bytes(), "the host's copy of the points", [&] {
        saved_rows_.resize(rows_.size());
        copy_rows(saved_rows_.data(), run.threads);
      });
    });
    writer.add(SectionId::rows, std::span<const T>(saved_rows_), std::max(1u, dims_));
    engine::save_cover_tree(host_.of(cover_.tree(), stream_), writer);
  }

  std::uint64_t memory_bytes() const override { return rows_.bytes() + cover_.memory_bytes(); }
  std::string describe() const override {
    return fmt::format(
        "cover tree: {} points of {} dims, {} nodes, cells of up to {} points not split, {} bytes on the GPU\n"
        "device cuda:{}: searches run there; a query takes {} bytes and {} for each neighbour, and batches that take "
        "more than half of the {} bytes that are free are cut into chunks",
        cover_.size(), dims_, cover_.node_count(), cover_.tree().leaf_size, memory_bytes(), stream_.device(),
        BatchSearch<T>::bytes_per_query(dims_), BatchSearch<T>::kBytesPerNeighbor,
        memory_of_device(stream_.device()).free);
  }

 private:
  Stream stream_;
  DeviceBuffer<T> rows_;
  std::uint32_t dims_;
  PreparedCover cover_;
  CoverEngine<T> engine_;
  BatchSearch<T> search_;
  ArraySearch<T> array_search_;
  HostCover host_;
  mutable std::once_flag once_;
  mutable std::vector<T> saved_rows_;
};

/// What searches need besides the tree, if every object is a node.
std::uint64_t prepared_bytes(std::uint64_t count, std::uint32_t stride) {
  return 2 * count * (CoverNodes::kBytes + std::uint64_t{stride} * sizeof(std::uint32_t));
}

}  // namespace

template <typename T>
engine::BuildBytes cover_search_bytes(const engine::PlanRequest& request) {
  const std::uint32_t stride = space_of<T>(request.dims, request.metric).stride;
  const std::uint64_t rows = request.count * stride * sizeof(std::uint32_t);
  const BuildMemory build =
      cover_build_memory(static_cast<std::uint32_t>(request.count), stride, engine::cover_leaf_size(request.leaf_size));
  const std::uint64_t index = rows + build.index_bytes + prepared_bytes(request.count, stride);
  return {index, std::max(index, rows + build.peak_bytes)};
}

template <typename T>
std::unique_ptr<engine::Searcher<T>> build_cover_search(const engine::BuildRequest<T>& request) {
  const StartedDevice device(request.device.ordinal(), request.run);
  const AnySpace space = space_of<T>(request.dims, request.metric);
  const auto count = static_cast<std::uint32_t>(request.count);
  const std::uint32_t leaf_size = engine::cover_leaf_size(request.leaf_size);
  require_device_memory(request.device.ordinal(),
                        request.count * space.stride * sizeof(std::uint32_t) +
                            cover_build_memory(count, space.stride, leaf_size).peak_bytes,
                        "building the index");
  DeviceBuffer<T> rows = take_rows_of(request, device.stream);
  const runtime::TimeSpent spent(runtime::member_of(request.run.times, &WorkTimes::device_ms));
  DeviceCoverTree tree = build_cover_tree_of(space, words_of(rows), count, leaf_size, device.stream);
  if (request.run.times != nullptr) request.run.times->evaluations += tree.evaluations;
  return std::make_unique<CoverSearch<T>>(std::move(rows), std::move(tree), request.dims, request.metric,
                                          device.stream);
}

template <typename T>
std::unique_ptr<engine::Searcher<T>> load_cover_search(const engine::LoadRequest& request) {
  if (!request.file.is_trusted()) {  // the CPU checks what the file holds
    const engine::LoadRequest on_cpu{request.file, Device::cpu(), request.period, request.run};
    if constexpr (sizeof(T) == 4) {
      engine::cpu_backend().load_f32(on_cpu);
    } else {
      engine::cpu_backend().load_f64(on_cpu);
    }
  }
  const engine::IndexFacts& facts = request.file.facts();
  const std::span<const T> values =
      request.file.template values<T>(SectionId::rows, facts.points, std::max(1u, facts.dims));
  const engine::CoverTree tree = engine::cover_tree_in_file(request.file);
  const std::uint32_t stride = space_of<T>(facts.dims, facts.metric).stride;
  const StartedDevice device(request.device.ordinal(), request.run);
  require_device_memory(request.device.ordinal(),
                        2 * values.size_bytes() + tree.memory_bytes() + prepared_bytes(tree.nodes.size(), stride) / 2,
                        "the index");
  DeviceBuffer<T> rows(facts.points * facts.dims, device.stream);
  if (rows.size() > 0) {
    copy_to_device(rows.data(), values.data(), rows.bytes(), device.stream, CopyOptions::of_build(request.run));
  }
  DeviceCoverTree on_device = copy_to_device(tree, words_of(rows), stride, device.stream);
  return std::make_unique<CoverSearch<T>>(std::move(rows), std::move(on_device), facts.dims, facts.metric,
                                          device.stream);
}

template engine::BuildBytes cover_search_bytes<float>(const engine::PlanRequest&);
template engine::BuildBytes cover_search_bytes<double>(const engine::PlanRequest&);
template std::unique_ptr<engine::Searcher<float>> build_cover_search(const engine::BuildRequest<float>&);
template std::unique_ptr<engine::Searcher<double>> build_cover_search(const engine::BuildRequest<double>&);
template std::unique_ptr<engine::Searcher<float>> load_cover_search(const engine::LoadRequest&);
template std::unique_ptr<engine::Searcher<double>> load_cover_search(const engine::LoadRequest&);

}  // namespace kith::cuda
