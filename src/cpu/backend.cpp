// The CPU backend: which engines run here.
#include "cpu/brute_force/brute_force.hpp"
#include "cpu/kd_tree/kd_search.hpp"
#include "engine/backend.hpp"
#include "runtime/parallel.hpp"
#include "runtime/physical_memory.hpp"

#include <kith/error.hpp>

#include <string>

namespace kith::engine {
namespace {

class CpuBackend final : public Backend {
 public:
  std::vector<DeviceInfo> devices() const override {
    return {{Device::cpu(), "cpu", runtime::physical_memory(), runtime::resolve_threads(0)}};
  }

  bool has(Engine engine) const override { return engine == Engine::brute_force || engine == Engine::kd_tree; }

  std::unique_ptr<Searcher<float>> build(const BuildRequest<float>& request) const override { return make(request); }
  std::unique_ptr<Searcher<double>> build(const BuildRequest<double>& request) const override { return make(request); }
  std::unique_ptr<Searcher<float>> load_f32(const LoadRequest& request) const override { return load<float>(request); }
  std::unique_ptr<Searcher<double>> load_f64(const LoadRequest& request) const override {
    return load<double>(request);
  }

 private:
  template <typename T>
  static std::unique_ptr<Searcher<T>> load(const LoadRequest& request) {
    const Engine engine = request.file.facts().engine;
    if (engine == Engine::brute_force) return cpu::load_brute_force<T>(request);
    if (engine == Engine::kd_tree) return cpu::load_kd_search<T>(request);
    throw UsageError("engine " + std::string(name_of(engine)) + " does not run on the CPU in this version");
  }

  template <typename T>
  static std::unique_ptr<Searcher<T>> make(const BuildRequest<T>& request) {
    if (request.engine == Engine::brute_force) return cpu::build_brute_force(request);
    if (request.engine == Engine::kd_tree) return cpu::build_kd_search(request);
    throw UsageError("engine " + std::string(name_of(request.engine)) + " does not run on the CPU in this version");
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace kith::engine
