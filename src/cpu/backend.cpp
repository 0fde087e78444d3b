// The CPU backend: which engines run here.
#include "cpu/brute_force/bit_search.hpp"
#include "cpu/brute_force/brute_force.hpp"
#include "cpu/cover_tree/bit_cover_search.hpp"
#include "cpu/cover_tree/cover_search.hpp"
#include "cpu/cover_tree/sequence_search.hpp"
#include "cpu/kd_tree/kd_search.hpp"
#include "cpu/instruction_set.hpp"
#include "engine/backend.hpp"
#include "runtime/parallel.hpp"
#include "runtime/physical_memory.hpp"

#include <kith/error.hpp>

#include <string>
#include <utility>
#include <vector>

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
  BuildBytes build_bytes(const PlanRequest& request) const override {
    return request.dtype == DType::f32 ? bytes_of<float>(request) : bytes_of<double>(request);
  }
  std::uint64_t free_bytes(Device) const override { return runtime::physical_memory(); }
  PointSet copy_to_host(PointView points, int) const override { return PointSet::copy_of(points); }

  std::unique_ptr<Searcher<float>> build(const BuildRequest<float>& request) const override { return make(request); }
  std::unique_ptr<Searcher<double>> build(const BuildRequest<double>& request) const override { return make(request); }
  std::unique_ptr<Searcher<float>> load_f32(const LoadRequest& request) const override { return load<float>(request); }
  std::unique_ptr<Searcher<double>> load_f64(const LoadRequest& request) const override {
    return load<double>(request);
  }

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

 private:
  template <typename T>
  static BuildBytes bytes_of(const PlanRequest& request) {
    if (request.engine == Engine::kd_tree) return cpu::kd_search_bytes<T>(request);
    if (request.engine == Engine::cover_tree) return cpu::cover_search_bytes<T>(request);
    return cpu::brute_force_bytes<T>(request);
  }

  template <typename T>
  static std::unique_ptr<Searcher<T>> load(const LoadRequest& request) {
    const Engine engine = request.file.facts().engine;
    if (engine == Engine::brute_force) return cpu::load_brute_force<T>(request);
    if (engine == Engine::kd_tree) return cpu::load_kd_search<T>(request);
    if (engine == Engine::cover_tree) return cpu::load_cover_search<T>(request);
    throw UsageError("engine " + std::string(name_of(engine)) + " does not run on the CPU in this version");
  }

  template <typename T>
  static std::unique_ptr<Searcher<T>> make(const BuildRequest<T>& request) {
    if (request.engine == Engine::brute_force) return cpu::build_brute_force(request);
    if (request.engine == Engine::kd_tree) return cpu::build_kd_search(request);
    if (request.engine == Engine::cover_tree) return cpu::build_cover_search(request);
    throw UsageError("engine " + std::string(name_of(request.engine)) + " does not run on the CPU in this version");
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
