// The k-d tree engine on a GPU: the tree is built, and checked, there.
#include "cuda/engines.hpp"

#include "cuda/runtime/device_memory.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/kd_tree/build/build.hpp"
#include "cuda/kd_tree/check/check_tree.hpp"
#include "cuda/kd_tree/search/tree_engine.hpp"
#include "cuda/kd_tree/tree_copies.hpp"
#include "cuda/queries/engine_search.hpp"
#include "cuda/runtime/shared_limit.hpp"
#include "cuda/runtime/started_device.hpp"
#include "engine/kd_tree/kd_tree.hpp"
#include "engine/kd_tree/tree_sections.hpp"
#include "engine/with_memory.hpp"
#include "runtime/time_spent.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace kith::cuda {
namespace {

using engine::KdTree;
using engine::RunOptions;
using engine::Searcher;

/// A tree, and the engine over it.
template <typename T>
struct KdParts {
  DeviceTree<T> tree;
  TreeEngine<T> engine;

  explicit KdParts(DeviceTree<T> built) : tree(std::move(built)), engine(tree) {}
};

template <typename T>
class KdSearch final : public PointSearch<T> {
 public:
  KdSearch(DeviceTree<T> tree, Stream stream, Metric metric, std::vector<T> period, const char* origin)
      : KdSearch(std::make_shared<const KdParts<T>>(std::move(tree)), std::move(stream), metric, std::move(period),
                 origin) {}

  /// The tree is on the host already: nothing needs to be copied.
  void adopt(KdTree<T> on_host) { PointSearch<T>::adopt(as_searcher(std::move(on_host))); }

  std::uint64_t memory_bytes() const override { return parts_->tree.memory_bytes() + this->host_bytes(); }
  std::string describe() const override {
    const TreeShape& shape = parts_->tree.shape;
    const int device = this->stream().device();
    return fmt::format(
        "k-d tree: {} points of {} dims, {} levels, {} leaves of up to {} points, {} bytes on the GPU\n"
        "device cuda:{}: {} on the GPU, searches run there; a query takes {} bytes and {} for each neighbour, and "
        "batches that take more than half of the {} bytes that are free are cut into chunks",
        shape.geometry.points, shape.dims, shape.geometry.levels, shape.geometry.leaves(),
        shape.geometry.most_per_leaf(), parts_->tree.memory_bytes(), device, origin_,
        BatchSearch<T>::bytes_per_query(parts_->engine), BatchSearch<T>::kBytesPerNeighbor,
        memory_of_device(device).free);
  }

 private:
  KdSearch(std::shared_ptr<const KdParts<T>> parts, Stream stream, Metric metric, std::vector<T> period,
           const char* origin)
      : PointSearch<T>({parts, &parts->engine}, metric, std::move(period), std::move(stream)),
        parts_(std::move(parts)),
        origin_(origin) {}

  std::unique_ptr<Searcher<T>> make_on_host(const RunOptions& run) const override {
    const DeviceScope scope(this->stream().device());
    return engine::with_memory(parts_->tree.memory_bytes(), "the host's copy of the index", [&] {
      return as_searcher(copy_tree_to_host(parts_->tree, this->stream(), CopyOptions::of_build(run)));
    });
  }
  std::unique_ptr<Searcher<T>> as_searcher(KdTree<T> tree) const {
    return engine::adopt_on_cpu(std::move(tree), this->metric(), this->period());
  }

  std::shared_ptr<const KdParts<T>> parts_;
  const char* origin_;  ///< "built" or "checked"
};

/// The tree of rows that lie on the host or on the GPU.
template <typename T>
DeviceTree<T> build_tree(const engine::BuildRequest<T>& request, Stream& stream) {
  const std::uint32_t leaf_size = engine::leaf_size_of(request.leaf_size, request.dims);
  const bool cycles = request.split == SplitRule::cycle;
  const bool on_device = request.rows_on.kind() == Device::Kind::cuda;
  const TreeShape shape = tree_shape<T>(request.count, request.dims, leaf_size, cycles);
  const BuildMemory memory = build_memory<T>(shape, leaf_size, shared_limit_of(stream.device()), request.builder);
  require_device_memory(stream.device(), memory.peak_bytes, "building the index");
  if (!on_device) {
    return build_device_tree_from_host(request.rows, request.count, request.dims, leaf_size, cycles, stream,
                                       CopyOptions::of_build(request.run), request.builder);
  }
  stream.wait_for_default_stream();
  const PointSource<T> source{
      .values = request.rows, .row_stride = request.row_stride, .dim_stride = 1, .indices = nullptr};
  const runtime::TimeSpent spent(runtime::member_of(request.run.times, &WorkTimes::device_ms));
  return build_device_tree(source, request.count, request.dims, leaf_size, cycles, stream, nullptr, request.builder);
}

/// Throws CorruptFile unless the arrays are the contract's tree.
template <typename T>
void require_contract_tree(DeviceTree<T>& tree, const KdTree<T>& on_host, const engine::LoadRequest& request,
                           const Stream& stream) {
  DeviceBuffer<std::byte> scratch(check_scratch_bytes(tree.shape.geometry), stream);
  if (is_contract_tree(tree.arrays(), tree.shape, tree.leaf_size, scratch.data(), stream.get())) return;
  const std::string violation =
      engine::first_violation(on_host, request.run.threads);  // now the GPU knows that, not what
  if (!violation.empty()) request.file.refuse(violation);
  throw DeviceError(
      fmt::format("{}: the check on cuda:{} refuses the tree, the one on the CPU does not; the GPU is not "
                  "to be trusted: use `device=cpu`",
                  request.file.name(), stream.device()));
}

template <typename T>
engine::BuildBytes kd_search_bytes(const engine::PlanRequest& request) {
  const std::uint32_t leaf_size = engine::leaf_size_of(request.leaf_size, request.dims);
  const TreeShape shape = tree_shape<T>(request.count, request.dims, leaf_size, false);
  const BuildMemory memory = build_memory<T>(shape, leaf_size, kMostSharedBytes, request.builder);
  return {memory.index_bytes, memory.peak_bytes};
}

template <typename T>
std::unique_ptr<Searcher<T>> build_kd_search(const engine::BuildRequest<T>& request) {
  StartedDevice device(request.device.ordinal(), request.run);
  Stream& stream = device.stream;
  DeviceTree<T> tree;
  try {
    tree = build_tree(request, stream);
  } catch (const NonFinite&) {
    if (!request.is_known_finite) throw;
    throw DeviceError("the GPU found NaN among points that have none; it is not to be trusted: use `device=cpu`");
  }
  stream.synchronize();  // the caller may change the points now
  return std::make_unique<KdSearch<T>>(std::move(tree), stream, request.metric, request.period, "built");
}

template <typename T>
std::unique_ptr<Searcher<T>> load_kd_search(const engine::LoadRequest& request) {
  const StartedDevice device(request.device.ordinal(), request.run);
  const Stream& stream = device.stream;
  const KdTree<T> on_host = engine::tree_in_file<T>(request.file);
  const bool is_checked = !request.file.is_trusted();
  const std::uint64_t scratch = is_checked ? check_scratch_bytes(on_host.geometry) : 0;
  require_device_memory(request.device.ordinal(), on_host.memory_bytes() + scratch, "loading the index");
  DeviceTree<T> tree = copy_tree_to_device(on_host, stream, CopyOptions::of_build(request.run));
  if (is_checked) {
    const runtime::TimeSpent spent(runtime::member_of(request.run.times, &WorkTimes::device_ms));
    require_contract_tree(tree, on_host, request, stream);
    engine::require_inside_period(on_host, request);
  }
  stream.synchronize();
  auto search =
      std::make_unique<KdSearch<T>>(std::move(tree), stream, request.file.facts().metric, request.template lengths<T>(),
                                    is_checked ? "checked" : "copied there, not checked");
  search->adopt(on_host);
  return search;
}

}  // namespace

template <typename T>
engine::PointEngine<T> kd_tree() {
  return {kd_search_bytes<T>, build_kd_search<T>, load_kd_search<T>};
}

template engine::PointEngine<float> kd_tree();
template engine::PointEngine<double> kd_tree();

}  // namespace kith::cuda
