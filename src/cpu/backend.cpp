// The CPU backend: which engines run here.
#include "cpu/engines.hpp"
#include "cpu/instruction_set.hpp"
#include "runtime/parallel.hpp"
#include "runtime/physical_memory.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace kith::engine {
namespace {

class CpuBackend final : public Backend {
 public:
  CpuBackend() { cpu::choose_instruction_set(); }

  std::vector<DeviceInfo> devices() const override {
    DeviceInfo info = {Device::cpu(), "cpu", runtime::physical_memory(), runtime::resolve_threads(0)};
    info.instruction_set = cpu::instruction_set();
    info.instruction_sets = cpu::instruction_sets();
    return {std::move(info)};
  }

  std::string why_no_devices() const override { return {}; }

  bool has(Engine engine) const override { return engine != Engine::automatic; }

  bool checks_points() const override { return false; }
  std::uint64_t free_bytes(Device) const override { return runtime::physical_memory(); }
  PointSet copy_to_host(PointView points, int) const override { return PointSet::copy_of(points); }

  PointEngine<float> engine_f32(Engine engine) const override { return engine_of<float>(engine); }
  PointEngine<double> engine_f64(Engine engine) const override { return engine_of<double>(engine); }

  std::unique_ptr<BitSearcher> build_objects(const BitBuildRequest& request) const override {
    if (request.engine == Engine::cover_tree) return cpu::build_bit_cover_search(request);
    return cpu::build_bit_search(request);
  }
  std::unique_ptr<SequenceSearcher> build_objects(const SequenceBuildRequest& request) const override {
    return cpu::build_sequence_search(request);
  }
  std::unique_ptr<BitSearcher> load_objects(const BitLoadRequest& request) const override {
    if (request.made.engine == Engine::cover_tree) return cpu::load_bit_cover_search(request);
    require_rows_only(request.file);
    return cpu::build_bit_search(request.made);
  }
  std::unique_ptr<SequenceSearcher> load_objects(const SequenceLoadRequest& request) const override {
    return cpu::load_sequence_search(request);
  }

  apps::ClassifiedOnDevice label(const LabelRequest&) const override {
    throw UsageError("labels on a GPU, but the points are not on one; use classify or regress");
  }
  apps::DedupedOnDevice dedupe(const DedupeRequest&) const override {
    throw UsageError("duplicates on a GPU, but none is named; use dedupe");
  }
  void wait_for(Device, void*) const override {}
  std::optional<apps::Registration> register_clouds(const RegistrationRequest&) const override {
    throw UsageError("registration on a GPU, but none is named; use register_clouds");
  }
  std::vector<std::optional<apps::Registration>> register_pairs(const PairsRequest&) const override {
    throw UsageError("registration on a GPU, but none is named; use register_clouds");
  }
  std::optional<std::uint64_t> normals(const NormalsRequest&) const override { throw_no_gpu("normals"); }
  bool move(const MotionRequest&) const override { throw_no_gpu("transform"); }
  std::optional<apps::SampledOnDevice> sample_voxels(const VoxelRequest&) const override { throw_no_gpu("downsample"); }
  std::optional<apps::DirectedDistance> nearest_of_cloud(const NearestRequest&) const override {
    throw_no_gpu("cloud_distance");
  }
  std::optional<apps::OutliersOnDevice> outliers(const OutlierRequest&) const override { throw_no_gpu("outliers"); }
  void copy_to_device(void*, const void*, std::uint64_t, Device, void*) const override { throw_no_gpu("host memory"); }
  apps::TreeOnDevice export_tree(const TreeRequest&) const override {
    throw UsageError("a tree on a GPU, but none is named; use export_node_table or export_in_order");
  }
  bool is_right_tree(const TreeCheckRequest&) const override {
    throw UsageError("a tree on a GPU, but none is named; use verify_tree");
  }

 private:
  [[noreturn]] static void throw_no_gpu(const char* instead) {
    throw UsageError(fmt::format("a cloud on a GPU, but none is named; use {}", instead));
  }
  template <typename T>
  static PointEngine<T> engine_of(Engine engine) {
    if (engine == Engine::brute_force) return cpu::brute_force<T>();
    if (engine == Engine::kd_tree) return cpu::kd_tree<T>();
    if (engine == Engine::cover_tree) return cpu::cover_tree<T>();
    throw UsageError("engine " + std::string(name_of(engine)) + " does not run on the CPU in this version");
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

template <typename T>
std::unique_ptr<Searcher<T>> adopt_on_cpu(KdTree<T> tree, Metric metric, std::vector<T> period) {
  return cpu::adopt_kd_tree(std::move(tree), metric, std::move(period));
}

template std::unique_ptr<Searcher<float>> adopt_on_cpu(KdTree<float>, Metric, std::vector<float>);
template std::unique_ptr<Searcher<double>> adopt_on_cpu(KdTree<double>, Metric, std::vector<double>);

}  // namespace kith::engine
