// The CUDA backend: which GPUs are there, and which engines run on them.
#include "cuda/engines.hpp"
#include "cuda/brute_force/scan_engine.hpp"
#include "cuda/clouds/cloud_arrays.hpp"
#include "cuda/runtime/built_architectures.hpp"
#include "cuda/runtime/device_memory.hpp"
#include "cuda/runtime/device_points.hpp"
#include "cuda/dedupe/dedupe_arrays.hpp"
#include "cuda/labels/label_arrays.hpp"
#include "cuda/ordered_tree/tree_arrays.hpp"
#include "cuda/registration/register_arrays.hpp"
#include "cuda/registration/register_batch.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/runtime/shared_limit.hpp"
#include "cuda/runtime/staging.hpp"
#include "engine/validate.hpp"

#include <kith/error.hpp>

#include <cuda_runtime.h>

#include <cstdlib>
#include <mutex>

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

  std::uint64_t free_bytes(Device device) const override { return cuda::memory_of_device(device.ordinal()).free; }
  PointSet copy_to_host(PointView points, int threads) const override {
    return cuda::copy_points_to_host(points, threads);
  }

  PointEngine<float> engine_f32(Engine engine) const override { return engine_of<float>(engine); }
  PointEngine<double> engine_f64(Engine engine) const override { return engine_of<double>(engine); }

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
  apps::DedupedOnDevice dedupe(const DedupeRequest& request) const override { return cuda::dedupe_arrays(request); }
  void wait_for(Device device, void* stream) const override {
    const cuda::DeviceScope scope(device.ordinal());
    cuda::Stream(static_cast<cudaStream_t>(stream), device.ordinal()).synchronize();
  }
  std::optional<apps::Registration> register_clouds(const RegistrationRequest& request) const override {
    return cuda::register_arrays(request);
  }
  std::vector<std::optional<apps::Registration>> register_pairs(const PairsRequest& request) const override {
    return cuda::register_batch(request);
  }
  std::optional<std::uint64_t> normals(const NormalsRequest& request) const override {
    return cuda::normals_of_arrays(request);
  }
  bool move(const MotionRequest& request) const override { return cuda::move_arrays(request); }
  std::optional<apps::SampledOnDevice> sample_voxels(const VoxelRequest& request) const override {
    return cuda::sample_voxels_of_arrays(request);
  }
  std::optional<apps::DirectedDistance> nearest_of_cloud(const NearestRequest& request) const override {
    return cuda::nearest_of_arrays(request);
  }
  std::optional<apps::OutliersOnDevice> outliers(const OutlierRequest& request) const override {
    return cuda::outliers_of_arrays(request);
  }
  void copy_to_device(void* to, const void* from, std::uint64_t bytes, Device device, void* stream) const override {
    cuda::require_on_device(to, device);
    const cuda::DeviceScope scope(device.ordinal());
    const cuda::Stream there(static_cast<cudaStream_t>(stream), device.ordinal());
    cuda::copy_to_device(to, from, bytes, there, {});
    there.synchronize();
  }
  apps::TreeOnDevice export_tree(const TreeRequest& request) const override {
    return cuda::export_tree_arrays(request);
  }
  bool is_right_tree(const TreeCheckRequest& request) const override { return cuda::is_right_tree_of_arrays(request); }

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
  static PointEngine<T> engine_of(Engine engine) {
    PointEngine<T> found = engine == Engine::brute_force ? cuda::brute_force<T>()
                           : engine == Engine::kd_tree   ? cuda::kd_tree<T>()
                                                         : cuda::cover_tree<T>();
    found.build = [build = found.build](const BuildRequest<T>& request) {
      if (request.rows_on.kind() == Device::Kind::cuda && request.count > 0) {
        cuda::require_on_device(request.rows, request.rows_on);
      }
      return build(request);
    };
    return found;
  }
};

}  // namespace

const Backend* cuda_backend() {
  static const CudaBackend backend;
  return &backend;
}

}  // namespace kith::engine
