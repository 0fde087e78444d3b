// The two backends as the engine sees them: the CPU is always there, CUDA may be null.
#pragma once

#include "engine/index_file/index_file.hpp"
#include "engine/searcher.hpp"

#include <kith/device.hpp>
#include <kith/index.hpp>
#include <kith/metric.hpp>

#include <memory>
#include <span>
#include <vector>

namespace kith::engine {

/// Clean points to prepare: finite, side by side, normalised if the metric is cosine.
template <typename T>
struct BuildRequest {
  Engine engine = Engine::brute_force;
  Metric metric;
  const T* rows = nullptr;  ///< count x dims
  std::uint64_t count = 0;
  std::uint32_t dims = 0;
  SplitRule split = SplitRule::widest;
  std::uint32_t leaf_size = 0;  ///< 0: the engine's own choice
  std::vector<T> period = {};   ///< per axis, infinity where it does not wrap; empty if none does
  Device device;
  RunOptions run;
};

/// A file to search in. The container and the header's facts are checked, the sections are not.
struct LoadRequest {
  const IndexFile& file;
  Device device;
  std::span<const double> period;  ///< as in BuildRequest
  RunOptions run;

  /// The period in the type of the points.
  template <typename T>
  std::vector<T> lengths() const {
    return std::vector<T>(period.begin(), period.end());
  }
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// The devices that can be used now; empty if there are none.
  virtual std::vector<DeviceInfo> devices() const = 0;
  /// Whether `build` knows the engine.
  virtual bool has(Engine engine) const = 0;
  virtual std::unique_ptr<Searcher<float>> build(const BuildRequest<float>& request) const = 0;
  virtual std::unique_ptr<Searcher<double>> build(const BuildRequest<double>& request) const = 0;
  /// Takes the sections of a file whose dtype is float, or double; throws CorruptFile that names the first thing wrong
  /// with them, unless the file is trusted.
  virtual std::unique_ptr<Searcher<float>> load_f32(const LoadRequest& request) const = 0;
  virtual std::unique_ptr<Searcher<double>> load_f64(const LoadRequest& request) const = 0;
};

/// src/cpu/backend.cpp
const Backend& cpu_backend();

/// The CUDA backend, or null if it was not compiled in: src/cuda/backend.cu or src/cuda/absent.cc.
const Backend* cuda_backend();

}  // namespace kith::engine
