// The two backends as the engine sees them: the CPU is always there, CUDA may be null.
#pragma once

#include "engine/device_clouds.hpp"
#include "engine/device_dedupe.hpp"
#include "engine/device_labels.hpp"
#include "engine/device_registration.hpp"
#include "engine/device_trees.hpp"
#include "engine/index_file/index_file.hpp"
#include "engine/kd_tree/kd_order.hpp"
#include "engine/kd_tree/kd_tree.hpp"
#include "engine/non_finite.hpp"
#include "engine/object_searcher.hpp"
#include "engine/searcher.hpp"

#include <kith/device.hpp>
#include <kith/index.hpp>
#include <kith/metric.hpp>
#include <kith/point_set.hpp>
#include <kith/point_view.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::engine {

/// Clean points to prepare: finite, normalised if the metric is cosine.
template <typename T>
struct BuildRequest {
  Engine engine = Engine::brute_force;
  Metric metric;
  const T* rows = nullptr;       ///< count x dims
  std::uint64_t row_stride = 0;  ///< dims in host memory: side by side; at least dims in a GPU's memory
  Device rows_on = {};           ///< the CPU, or `device` itself
  bool is_known_finite = true;   ///< if not, the backend looks itself and throws NonFinite; only if `checks_points()`
  std::uint64_t count = 0;
  std::uint32_t dims = 0;
  SplitRule split = SplitRule::widest;
  Builder builder = Builder::automatic;
  std::uint32_t leaf_size = 0;  ///< 0: the engine's own choice
  std::vector<T> period = {};   ///< per axis, infinity where it does not wrap; empty if none does
  /// The k-d tree on the CPU only: `rows` are those of the order, which is taken over; null: they are in the order of
  /// their numbers.
  const KdOrder<T>* order = nullptr;
  Device device = {};
  RunOptions run;
};

/// A file to search in. The container and the header's facts are checked, the sections are not.
struct LoadRequest {
  const IndexFile& file;
  Device device = {};
  std::span<const double> period;  ///< as in BuildRequest
  RunOptions run;

  /// The period in the type of the points.
  template <typename T>
  std::vector<T> lengths() const {
    return std::vector<T>(period.begin(), period.end());
  }
};

/// What is to be built, for an estimate of its memory.
struct PlanRequest {
  Engine engine = Engine::brute_force;
  Metric metric;
  DType dtype = DType::f32;
  std::uint64_t count = 0;
  std::uint32_t dims = 0;
  Builder builder = Builder::automatic;
  std::uint32_t leaf_size = 0;  ///< 0: the engine's own choice
  bool is_periodic = false;
  Device device = {};
  Device points_on = {};  ///< where the caller's points are
  int threads = 0;
};

/// Memory on the device where an index is built. The caller's points are not counted.
struct BuildBytes {
  std::uint64_t index = 0;  ///< what stays
  std::uint64_t peak = 0;   ///< the most that is in use at a time
};

/// One engine of a backend for points of this type.
template <typename T>
struct PointEngine {
  /// What `build` needs. Allocates nothing.
  std::function<BuildBytes(const PlanRequest&)> bytes;
  /// Throws OutOfMemory, DeviceError, Interrupted, and NonFinite as BuildRequest says.
  std::function<std::unique_ptr<Searcher<T>>(const BuildRequest<T>&)> build;
  /// Takes the sections of a file of this type; throws CorruptFile that names the first thing wrong with them, unless
  /// the file is trusted.
  std::function<std::unique_ptr<Searcher<T>>(const LoadRequest&)> load;
  /// On the CPU: what kNN allocates at most besides the answers.
  std::function<std::uint64_t(const PlanRequest&, const SearchShape&)> search_bytes = {};
};

/// For engines whose searcher takes the request as it is.
template <typename S, typename Request>
std::unique_ptr<S> make_searcher(const Request& request) {
  return std::make_unique<S>(request);
}

class Backend {
 public:
  virtual ~Backend() = default;

  /// The devices that can be used now; empty if there are none.
  virtual std::vector<DeviceInfo> devices() const = 0;
  /// Why `devices` is empty, in a few words.
  virtual std::string why_no_devices() const = 0;
  /// Whether `build` knows the engine.
  virtual bool has(Engine engine) const = 0;
  /// Whether `build` itself finds points that are not finite, in memory of its own or of the host.
  virtual bool checks_points() const = 0;
  /// The engine, which is one that `has` knows.
  virtual PointEngine<float> engine_f32(Engine engine) const = 0;
  virtual PointEngine<double> engine_f64(Engine engine) const = 0;
  /// How much memory an allocation on the device could get now.
  virtual std::uint64_t free_bytes(Device device) const = 0;
  /// A copy of points that lie in the memory of one of this backend's devices. Throws UsageError if they do not,
  /// OutOfMemory.
  virtual PointSet copy_to_host(PointView points, int threads) const = 0;

  BuildBytes build_bytes(const PlanRequest& request) const {
    return request.dtype == DType::f32 ? engine_f32(request.engine).bytes(request)
                                       : engine_f64(request.engine).bytes(request);
  }
  std::uint64_t search_bytes(const PlanRequest& request, const SearchShape& shape) const {
    return request.dtype == DType::f32 ? engine_f32(request.engine).search_bytes(request, shape)
                                       : engine_f64(request.engine).search_bytes(request, shape);
  }
  template <typename T>
  std::unique_ptr<Searcher<T>> build(const BuildRequest<T>& request) const {
    return engine<T>(request.engine).build(request);
  }
  template <typename T>
  std::unique_ptr<Searcher<T>> load(const LoadRequest& request) const {
    return engine<T>(request.file.facts().engine).load(request);
  }

  /// Whether `build_objects` and `load_objects` know the engine.
  virtual bool has_objects(Engine engine) const {
    return engine == Engine::brute_force || engine == Engine::cover_tree;
  }
  /// The same for rows of bits and for sequences. Throws OutOfMemory, DeviceError, Interrupted, and UsageError that
  /// says what to do if the device does not take such sequences.
  virtual std::unique_ptr<BitSearcher> build_objects(const BitBuildRequest& request) const = 0;
  virtual std::unique_ptr<SequenceSearcher> build_objects(const SequenceBuildRequest& request) const = 0;
  /// Throws CorruptFile that names the first thing wrong with the sections, unless the file is trusted.
  virtual std::unique_ptr<BitSearcher> load_objects(const BitLoadRequest& request) const = 0;
  virtual std::unique_ptr<SequenceSearcher> load_objects(const SequenceLoadRequest& request) const = 0;

  /// Labels or values by neighbours for arrays on a GPU; waits until they are there. Throws UsageError if an array is
  /// not there or a code is no class, BadData for what is not finite, OutOfMemory, DeviceError.
  virtual apps::ClassifiedOnDevice label(const LabelRequest& request) const = 0;
  /// Duplicates removed on a GPU; waits until they are. Throws as apps::dedupe_on_device.
  virtual apps::DedupedOnDevice dedupe(const DedupeRequest& request) const = 0;
  /// Waits until the work in a caller's stream of the device (null: the default one) is done. Throws DeviceError.
  virtual void wait_for(Device device, void* stream) const = 0;
  /// Clouds registered on a GPU; nothing if one has NaN or infinity. Throws as apps::register_on_device.
  virtual std::optional<apps::Registration> register_clouds(const RegistrationRequest& request) const = 0;
  /// Many small pairs at once; nothing for those that the GPU leaves to register_clouds. Throws as it.
  virtual std::vector<std::optional<apps::Registration>> register_pairs(const PairsRequest& request) const = 0;
  /// Jobs on clouds; nothing, or false, if a point has NaN or infinity that the kernels cannot leave out, or voxels
  /// have no keys of 64 bits. Each waits until its arrays are there. Throw as the functions of
  /// kith/apps/clouds_on_device.hpp. `normals` returns how many are 0.
  virtual std::optional<std::uint64_t> normals(const NormalsRequest& request) const = 0;
  virtual bool move(const MotionRequest& request) const = 0;
  virtual std::optional<apps::SampledOnDevice> sample_voxels(const VoxelRequest& request) const = 0;
  virtual std::optional<apps::DirectedDistance> nearest_of_cloud(const NearestRequest& request) const = 0;
  virtual std::optional<apps::OutliersOnDevice> outliers(const OutlierRequest& request) const = 0;
  /// Bytes of the host to memory of the device, after the work in the stream; waits. Throws UsageError unless the
  /// memory is there.
  virtual void copy_to_device(void* to, const void* from, std::uint64_t bytes, Device device, void* stream) const = 0;
  /// A balanced tree of points, made on a GPU; waits until it is. Throws as apps::export_tree_on_device.
  virtual apps::TreeOnDevice export_tree(const TreeRequest& request) const = 0;
  /// Whether such a tree, in host memory, is right.
  virtual bool is_right_tree(const TreeCheckRequest& request) const = 0;

 private:
  template <typename T>
  PointEngine<T> engine(Engine engine) const {
    if constexpr (sizeof(T) == 4) {
      return engine_f32(engine);
    } else {
      return engine_f64(engine);
    }
  }
};

/// src/cpu/backend.cpp
const Backend& cpu_backend();

/// The CUDA backend, or null if it was not compiled in: src/cuda/backend.cpp or src/cuda/absent.cc.
const Backend* cuda_backend();

/// The backend of a device, which is there.
inline const Backend& backend_of(Device device) {
  return device.kind() == Device::Kind::cuda ? *cuda_backend() : cpu_backend();
}

/// A searcher on the CPU over a tree that another backend built: src/cpu/backend.cpp.
template <typename T>
std::unique_ptr<Searcher<T>> adopt_on_cpu(KdTree<T> tree, Metric metric, std::vector<T> period);

}  // namespace kith::engine
