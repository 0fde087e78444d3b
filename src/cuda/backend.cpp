// The CUDA backend: which GPUs are there, and which engines run on them.
#include "cuda/brute_force/bit_search.hpp"
#include "cuda/brute_force/brute_force.hpp"
#include "cuda/brute_force/scan_engine.hpp"
#include "cuda/runtime/built_architectures.hpp"
#include "cuda/cover_tree/bit_cover_search.hpp"
#include "cuda/cover_tree/cover_search.hpp"
#include "cuda/cover_tree/sequence_search.hpp"
#include "cuda/runtime/device_memory.hpp"
#include "cuda/runtime/device_points.hpp"
#include "cuda/kd_tree/kd_search.hpp"
#include "cuda/labels/label_arrays.hpp"
#include "cuda/runtime/shared_limit.hpp"
#include "engine/backend.hpp"
#include "engine/validate.hpp"

#include <kith/error.hpp>

#include <cuda_runtime.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace kith::engine {
namespace {

/// Turing. Older ones have too little shared memory.
constexpr int kOldestCapability = 75;

class CudaBackend final : public Backend {
 public:
  /// A missing driver or GPU is not an error here: there are simply no devices. Those that were found stay: to look for
  /// them takes longer than many a search.
  std::vector<DeviceInfo> devices() const override {
    static std::mutex lock;
    static std::vector<DeviceInfo> known;
    const std::lock_guard guard(lock);
    if (known.empty()) known = look_for_devices();
    return known;
  }

  std::string why_no_devices() const override {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    cudaGetLastError();
    return status == cudaSuccess ? "no usable GPU found" : cudaGetErrorString(status);
  }

  bool has(Engine engine) const override { return engine != Engine::automatic; }
  bool checks_points() const override { return true; }

  BuildBytes build_bytes(const PlanRequest& request) const override {
    return request.dtype == DType::f32 ? bytes_of<float>(request) : bytes_of<double>(request);
  }
  std::uint64_t free_bytes(Device device) const override { return cuda::memory_of_device(device.ordinal()).free; }
  PointSet copy_to_host(PointView points, int threads) const override {
    return cuda::copy_points_to_host(points, threads);
  }

  std::unique_ptr<Searcher<float>> build(const BuildRequest<float>& request) const override { return make(request); }
  std::unique_ptr<Searcher<double>> build(const BuildRequest<double>& request) const override { return make(request); }
  std::unique_ptr<Searcher<float>> load_f32(const LoadRequest& request) const override { return load<float>(request); }
  std::unique_ptr<Searcher<double>> load_f64(const LoadRequest& request) const override {
    return load<double>(request);
  }

  std::unique_ptr<BitSearcher> build_objects(const BitBuildRequest& request) const override {
    if (request.engine == Engine::cover_tree) return cuda::build_bit_cover_search(request);
    return cuda::build_bit_search(request);
  }
  std::unique_ptr<SequenceSearcher> build_objects(const SequenceBuildRequest& request) const override {
    return cuda::build_sequence_search(request);
  }
  std::unique_ptr<BitSearcher> load_objects(const BitLoadRequest& request) const override {
    if (request.made.engine == Engine::cover_tree) return cuda::load_bit_cover_search(request);
    require_rows_only(request.file);
    return cuda::build_bit_search(request.made);
  }
  std::unique_ptr<SequenceSearcher> load_objects(const SequenceLoadRequest& request) const override {
    return cuda::load_sequence_search(request);
  }

  apps::ClassifiedOnDevice label(const LabelRequest& request) const override { return cuda::label_arrays(request); }

 private:
  static std::vector<DeviceInfo> look_for_devices() {
    std::vector<DeviceInfo> found;
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
      cudaGetLastError();  // clears the error, so that later calls start clean
      return found;
    }
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      cudaDeviceProp properties{};
      if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) continue;
      found.push_back({Device::cuda(ordinal), properties.name, properties.totalGlobalMem,
                       properties.multiProcessorCount, abilities_of(properties)});
    }
    return found;
  }
  static GpuInfo abilities_of(const cudaDeviceProp& properties) {
    GpuInfo gpu;
    gpu.compute_capability = 10 * properties.major + properties.minor;
    const auto of_device = static_cast<std::uint32_t>(properties.sharedMemPerBlockOptin);
    gpu.shared_bytes = cuda::lowered_shared_limit(of_device, std::getenv(cuda::kSharedLimitVariable));
    gpu.has_code = gpu.compute_capability >= kOldestCapability &&
                   cuda::has_code_for(KITH_BUILT_ARCHITECTURES, gpu.compute_capability);
    gpu.has_full_plan = gpu.shared_bytes >= cuda::kFullPlanSharedBytes;
    gpu.tensor_filter_dims = cuda::most_filtered_dims(gpu.shared_bytes, kMostDims);
    return gpu;
  }
  template <typename T>
  static BuildBytes bytes_of(const PlanRequest& request) {
    if (request.engine == Engine::kd_tree) return cuda::kd_search_bytes<T>(request);
    if (request.engine == Engine::cover_tree) return cuda::cover_search_bytes<T>(request);
    return cuda::brute_force_bytes<T>(request);
  }
  template <typename T>
  std::unique_ptr<Searcher<T>> make(const BuildRequest<T>& request) const {
    require(request.engine);
    if (request.rows_on.kind() == Device::Kind::cuda && request.count > 0) {
      cuda::require_on_device(request.rows, request.rows_on);
    }
    if (request.engine == Engine::brute_force) return cuda::build_brute_force(request);
    if (request.engine == Engine::cover_tree) return cuda::build_cover_search(request);
    return cuda::build_kd_search(request);
  }
  template <typename T>
  std::unique_ptr<Searcher<T>> load(const LoadRequest& request) const {
    require(request.file.facts().engine);
    if (request.file.facts().engine == Engine::brute_force) return cuda::load_brute_force<T>(request);
    if (request.file.facts().engine == Engine::cover_tree) return cuda::load_cover_search<T>(request);
    return cuda::load_kd_search<T>(request);
  }
  void require(Engine engine) const {
    if (has(engine)) return;
    throw UsageError("engine " + std::string(name_of(engine)) + " does not run on a GPU in this version");
  }
};

}  // namespace

const Backend* cuda_backend() {
  static const CudaBackend backend;
  return &backend;
}

}  // namespace kith::engine
