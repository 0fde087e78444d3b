// The cover tree engine for vectors on a GPU.
#include "cuda/engines.hpp"

#include "core/metric/metrics.hpp"
#include "cuda/cover_tree/spaces/any_space.hpp"
#include "cuda/cover_tree/build/build.hpp"
#include "cuda/cover_tree/host_cover.hpp"
#include "cuda/cover_tree/search/cover_engine.hpp"
#include "cuda/cover_tree/search/prepared_cover.hpp"
#include "cuda/runtime/device_memory.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/queries/rows_of_request.hpp"
#include "cuda/queries/engine_search.hpp"
#include "cuda/runtime/staging.hpp"
#include "cuda/runtime/started_device.hpp"
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

/// Rows, a tree of them, and the engine over both.
template <typename T>
struct CoverParts {
  DeviceBuffer<T> rows;
  std::uint32_t dims;
  PreparedCover cover;
  CoverEngine<T> engine;

  CoverParts(DeviceBuffer<T> of_points, DeviceCoverTree tree, std::uint32_t of_dims, Metric metric,
             const Stream& stream)
      : rows(std::move(of_points)),
        dims(of_dims),
        cover(std::move(tree), words_of(rows), false, stream),
        engine(cover, space_of<T>(dims, metric), dims, rows.data()) {}
};

template <typename T>
class CoverSearch final : public PointSearch<T> {
 public:
  CoverSearch(std::shared_ptr<const CoverParts<T>> parts, Metric metric, Stream stream)
      : PointSearch<T>({parts, &parts->engine}, metric, {}, std::move(stream)), parts_(std::move(parts)) {}

  void copy_rows(T* rows, int threads) const override {
    const DeviceScope scope(this->stream().device());
    copy_to_host(rows, parts_->rows.data(), parts_->rows.bytes(), this->stream(), {.threads = threads});
  }
  void save(engine::IndexFileWriter& writer, const RunOptions& run) const override {
    std::call_once(once_, [&] {
      engine::with_memory(parts_->rows.bytes(), "the host's copy of the points", [&] {
        saved_rows_.resize(parts_->rows.size());
        copy_rows(saved_rows_.data(), run.threads);
      });
    });
    writer.add(SectionId::rows, std::span<const T>(saved_rows_), std::max(1u, parts_->dims));
    engine::save_cover_tree(host_.of(parts_->cover.tree(), this->stream()), writer);
  }

  std::uint64_t memory_bytes() const override { return parts_->rows.bytes() + parts_->cover.memory_bytes(); }
  std::string describe() const override {
    const PreparedCover& cover = parts_->cover;
    const int device = this->stream().device();
    return fmt::format(
        "cover tree{}: {} points of {} dims, {} nodes, cells of up to {} points not split, {} bytes on the GPU\n"
        "device cuda:{}: searches run there; a query takes {} bytes and {} for each neighbour, and batches that take "
        "more than half of the {} bytes that are free are cut into chunks",
        cover.tree().rules.is_by_lists() ? " by lists, centres apart below each node only" : "", cover.size(),
        parts_->dims, cover.node_count(), cover.tree().rules.leaf_size, memory_bytes(), device,
        BatchSearch<T>::bytes_per_query(parts_->engine), BatchSearch<T>::kBytesPerNeighbor,
        memory_of_device(device).free);
  }

 private:
  /// It is never requested: rows and tree are copied each by itself.
  std::unique_ptr<engine::Searcher<T>> make_on_host(const RunOptions&) const override { return nullptr; }

  std::shared_ptr<const CoverParts<T>> parts_;
  HostCover host_;
  mutable std::once_flag once_;
  mutable std::vector<T> saved_rows_;
};

template <typename T>
engine::BuildBytes cover_search_bytes(const engine::PlanRequest& request) {
  const std::uint32_t stride = space_of<T>(request.dims, request.metric).stride;
  const BuildMemory memory =
      cover_index_memory(request.count, stride, CoverRules::of(request.leaf_size, request.builder),
                         memory_of_device(request.device.ordinal()).free);
  return {memory.index_bytes, memory.peak_bytes};
}

template <typename T>
std::unique_ptr<engine::Searcher<T>> build_cover_search(const engine::BuildRequest<T>& request) {
  const StartedDevice device(request.device.ordinal(), request.run);
  const AnySpace space = space_of<T>(request.dims, request.metric);
  const auto count = static_cast<std::uint32_t>(request.count);
  const CoverRules rules = CoverRules::of(request.leaf_size, request.builder);
  require_device_memory(request.device.ordinal(),
                        request.count * space.stride * sizeof(std::uint32_t) +
                            least_cover_build_memory(count, space.stride, rules.leaf_size).peak_bytes,
                        "building the index");
  DeviceBuffer<T> rows = take_rows_of(request, device.stream);
  const runtime::TimeSpent spent(runtime::member_of(request.run.times, &WorkTimes::device_ms));
  DeviceCoverTree tree = build_cover_tree_of(space, words_of(rows), count, rules, device.stream);
  if (request.run.times != nullptr) request.run.times->evaluations += tree.evaluations;
  const auto parts = std::make_shared<const CoverParts<T>>(std::move(rows), std::move(tree), request.dims,
                                                           request.metric, device.stream);
  return std::make_unique<CoverSearch<T>>(parts, request.metric, device.stream);
}

template <typename T>
std::unique_ptr<engine::Searcher<T>> load_cover_search(const engine::LoadRequest& request) {
  if (!request.file.is_trusted()) {  // the CPU checks what the file holds
    engine::cpu_backend().load<T>({request.file, Device::cpu(), request.period, request.run});
  }
  const engine::IndexFacts& facts = request.file.facts();
  const std::span<const T> values =
      request.file.template values<T>(SectionId::rows, facts.points, std::max(1u, facts.dims));
  const engine::CoverTree tree = engine::cover_tree_in_file(request.file);
  const std::uint32_t stride = space_of<T>(facts.dims, facts.metric).stride;
  const StartedDevice device(request.device.ordinal(), request.run);
  require_device_memory(
      request.device.ordinal(),
      2 * values.size_bytes() + tree.memory_bytes() + cover_prepared_bytes(tree.nodes.size(), stride) / 2, "the index");
  DeviceBuffer<T> rows(facts.points * facts.dims, device.stream);
  if (rows.size() > 0) {
    copy_to_device(rows.data(), values.data(), rows.bytes(), device.stream, CopyOptions::of_build(request.run));
  }
  DeviceCoverTree on_device = copy_to_device(tree, words_of(rows), stride, device.stream);
  const auto parts = std::make_shared<const CoverParts<T>>(std::move(rows), std::move(on_device), facts.dims,
                                                           facts.metric, device.stream);
  return std::make_unique<CoverSearch<T>>(parts, facts.metric, device.stream);
}

}  // namespace

template <typename T>
engine::PointEngine<T> cover_tree() {
  return {cover_search_bytes<T>, build_cover_search<T>, load_cover_search<T>};
}

template engine::PointEngine<float> cover_tree();
template engine::PointEngine<double> cover_tree();

}  // namespace kith::cuda
