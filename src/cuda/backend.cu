// The CUDA backend: which GPUs are there, and which engines run on them.
#include "engine/backend.hpp"

#include <kith/error.hpp>

#include <cuda_runtime.h>

#include <string>

namespace kith::engine {
namespace {

class CudaBackend final : public Backend {
 public:
  /// A missing driver or GPU is not an error here: there are simply no devices.
  std::vector<DeviceInfo> devices() const override {
    std::vector<DeviceInfo> found;
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
      cudaGetLastError();  // clears the error, so that later calls start clean
      return found;
    }
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      cudaDeviceProp properties{};
      if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) continue;
      found.push_back(
          {Device::cuda(ordinal), properties.name, properties.totalGlobalMem, properties.multiProcessorCount});
    }
    return found;
  }

  bool has(Engine) const override { return false; }

  std::unique_ptr<Searcher<float>> build(const BuildRequest<float>& request) const override { return refuse(request); }
  std::unique_ptr<Searcher<double>> build(const BuildRequest<double>& request) const override {
    return refuse(request);
  }
  std::unique_ptr<Searcher<float>> load_f32(const LoadRequest& request) const override {
    return refuse<float>(request);
  }
  std::unique_ptr<Searcher<double>> load_f64(const LoadRequest& request) const override {
    return refuse<double>(request);
  }

 private:
  template <typename T>
  static std::unique_ptr<Searcher<T>> refuse(const BuildRequest<T>& request) {
    throw UsageError("engine " + std::string(name_of(request.engine)) + " does not run on a GPU in this version");
  }
  template <typename T>
  static std::unique_ptr<Searcher<T>> refuse(const LoadRequest& request) {
    throw UsageError("engine " + std::string(name_of(request.file.facts().engine)) +
                     " does not run on a GPU in this version");
  }
};

}  // namespace

const Backend* cuda_backend() {
  static const CudaBackend backend;
  return &backend;
}

}  // namespace kith::engine
