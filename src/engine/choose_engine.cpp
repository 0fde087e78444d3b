// See choose_engine.hpp.
#include "engine/choose_engine.hpp"

#include "engine/backend.hpp"
#include "engine/profile.hpp"
#include "engine/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kith::engine {
namespace {

/// In so few dims a tree always prunes.
constexpr std::uint32_t kMostCertainDims = 5;

bool is_for_gpu(const EngineRequest& wanted) { return wanted.device.kind() == Device::Kind::cuda; }

/// The machine's own numbers choose only where that shows in the time alone: not where an approximate search may come,
/// whose answer depends on the engine, nor for an index that may be saved, because no queries are known yet.
const Tuning& numbers_for(const EngineRequest& wanted) {
  static constexpr Tuning kBuiltIn;
  return wanted.queries > 0 && wanted.dims <= kMostCertainDims ? tuning() : kBuiltIn;
}

/// By the number of points and dims alone. On a GPU a scan needs many rounds, and a tree pays for the fewest points.
bool tree_pays(const EngineRequest& wanted) {
  constexpr std::uint32_t kMostDimsOfFew = 24;
  constexpr std::uint64_t kFew = 4000;
  if (is_for_gpu(wanted))
    return wanted.dims <= kMostCertainDims || (wanted.dims <= kMostDimsOfFew && wanted.points < kFew);
  return wanted.dims <= kMostCertainDims && wanted.points >= numbers_for(wanted).tree_points;
}

/// Whether so few queries come that a scan is done before a tree is built, which takes about as long as scanning
/// `scanned_coordinates` per point. On a GPU a scan hardly takes longer in more dims, but a tree does: of 1 M points of
/// 8 dims both take half a millisecond if 1000 queries come.
bool queries_are_few(const EngineRequest& wanted) {
  if (wanted.has_tree && wanted.dims <= kMostCertainDims) return false;
  const Tuning& numbers = numbers_for(wanted);
  if (is_for_gpu(wanted)) return wanted.queries > 0 && wanted.queries < numbers.gpu_scan_queries * wanted.dims;
  return wanted.queries > 0 && wanted.queries < numbers.scanned_coordinates / std::max(wanted.dims, 1u);
}

/// Whether a tree may prune or not, so that it is worth to build one and see: not in few dims, where it does, and not
/// in so many that building takes long for little hope.
bool is_doubtful(const EngineRequest& wanted) {
  constexpr std::uint32_t kMostDims = 64;
  constexpr std::uint64_t kFewestPoints = 4000;
  return wanted.dims > kMostCertainDims && wanted.dims <= kMostDims && wanted.points >= kFewestPoints;
}

/// An estimate of the coordinates that a few cores scan while a process starts to use a GPU.
constexpr double kScannedBeforeGpuStarts = 1e9;

bool is_usable(const DeviceInfo& info) { return !info.gpu || info.gpu->has_code; }

/// The device for a caller who leaves it to us. GPUs are looked for only if one would be taken: that takes a while. An
/// engine that is measured depends on the device, so that a profile must not choose either.
void choose_device(const EngineRequest& wanted, Choice& choice) {
  const auto why_not = [&](std::uint64_t fewest) { return fmt::format("a GPU pays from {} points on", fewest); };
  std::uint64_t fewest = choice.is_measured ? Tuning{}.gpu_points : fewest_gpu_points();
  if (wanted.points < fewest) return choice.fall_back(why_not(fewest));
  const double pairs = static_cast<double>(wanted.points) * static_cast<double>(wanted.queries);
  if (wanted.queries > 0 && pairs * wanted.dims < kScannedBeforeGpuStarts) {
    return choice.fall_back(fmt::format("{} queries are answered before a GPU has started", wanted.queries));
  }
  const Backend* backend = cuda_backend();
  if (backend == nullptr) return choice.fall_back("this build has no CUDA backend");
  if (!backend->has(choice.engine)) {
    return choice.fall_back(fmt::format("engine {} runs on the CPU only in this version", name_of(choice.engine)));
  }
  const std::vector<DeviceInfo> devices = backend->devices();
  if (devices.empty()) {
    return choice.fall_back(fmt::format("there is no usable GPU ({})", backend->why_no_devices()));
  }
  const auto usable = std::find_if(devices.begin(), devices.end(), is_usable);
  if (usable == devices.end()) return choice.fall_back("this kith holds no code for the GPUs that are there");
  const bool are_points_there = wanted.points_on.kind() == Device::Kind::cuda;
  choice.device = are_points_there ? wanted.points_on : usable->device;
  for (const DeviceInfo& info : devices) {
    if (info.device == choice.device) take_gpu_values(info.name);
  }
  if (!choice.is_measured) fewest = tuning().gpu_points;  // of this GPU
  if (wanted.points < fewest) return choice.fall_back(why_not(fewest));
  choice.reason +=
      fmt::format("\ndevice {}: {}", choice.device.name(), are_points_there ? "the points are there" : why_not(fewest));
}

}  // namespace

void require_gpu(Device device) {
  const Backend* backend = cuda_backend();
  if (backend == nullptr) {
    throw DeviceError(fmt::format("device {}: this build has no CUDA backend; use `device=cpu`", device.name()));
  }
  const std::vector<DeviceInfo> devices = backend->devices();
  if (devices.empty()) {
    throw DeviceError(
        fmt::format("device {}: no such GPU ({}); use `device=cpu`", device.name(), backend->why_no_devices()));
  }
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& info) { return info.device == device; });
  if (found == devices.end()) {
    throw DeviceError(
        fmt::format("device {}: no such GPU ({} GPUs found); use `device=cpu`", device.name(), devices.size()));
  }
  if (!is_usable(*found)) {
    throw DeviceError(
        fmt::format("device {}: this kith holds no code for its architecture ({}); use `device=cpu`, or "
                    "build kith with KITH_CUDA_ARCHITECTURES={}",
                    device.name(), found->name, found->gpu->compute_capability));
  }
  take_gpu_values(found->name);
}

void Choice::fall_back(const std::string& why) {
  device = Device::cpu();
  reason = fmt::format("{}\ndevice cpu: {}", reason.substr(0, reason.find('\n')), why);
}

void Choice::change_engine(Engine to, const std::string& why) {
  engine = to;
  is_measured = false;
  reason = fmt::format("engine {}: {}{}", name_of(to), why, reason.substr(reason.find('\n')));
}

Choice engine_for(const EngineRequest& wanted) {
  Choice choice{wanted.engine, Device::cpu(), {}};
  const bool needs_scan = !knows_metric(Engine::kd_tree, wanted.metric);
  if (wanted.engine != Engine::automatic && !knows_metric(wanted.engine, wanted.metric)) {
    throw UsageError(fmt::format("engine {}: the metric {} needs engine brute{} (or auto)", name_of(wanted.engine),
                                 wanted.metric.name(), needs_scan ? "" : " or kdtree"));
  }
  if (needs_scan && wanted.engine == Engine::automatic) {
    choice.engine = Engine::brute_force;
    choice.reason =
        fmt::format("engine {}: the one that knows the metric {}", name_of(choice.engine), wanted.metric.name());
  } else if (wanted.engine != Engine::automatic) {
    choice.reason = fmt::format("engine {}: as asked", name_of(wanted.engine));
    if (!is_default(wanted.builder)) choice.reason += fmt::format(", builder {}", name_of(wanted.builder));
  } else if (!queries_are_few(wanted) && is_doubtful(wanted)) {
    choice.engine = Engine::kd_tree;
    choice.is_measured = true;
    choice.reason = fmt::format("engine {}: if it prunes well, else brute, for {} points of {} dims",
                                name_of(choice.engine), wanted.points, wanted.dims);
  } else {
    choice.engine = !queries_are_few(wanted) && tree_pays(wanted) ? Engine::kd_tree : Engine::brute_force;
    choice.reason = fmt::format("engine {}: {} for {} points of {} dims", name_of(choice.engine),
                                choice.engine == Engine::kd_tree ? "a k-d tree prunes well" : "scanning is faster",
                                wanted.points, wanted.dims);
  }
  if (!cpu_backend().has(choice.engine)) {
    throw UsageError(fmt::format("engine {} is not in this version; use `engine=auto`", name_of(wanted.engine)));
  }
  return choice;
}

Choice choose_engine(const EngineRequest& wanted) {
  require_profile();
  Choice choice = engine_for(wanted);
  if (wanted.device.kind() == Device::Kind::cuda) {
    require_gpu(wanted.device);
    choice = engine_for(wanted);  // by the numbers of this GPU
    if (!cuda_backend()->has(choice.engine)) {
      throw UsageError(
          fmt::format("engine {} does not run on a GPU in this version; use `device=cpu`", name_of(choice.engine)));
    }
    choice.device = wanted.device;
    choice.reason += fmt::format("\ndevice {}: as asked", wanted.device.name());
  } else if (wanted.device.kind() == Device::Kind::cpu) {
    choice.reason += "\ndevice cpu: as asked";
  } else {
    choose_device(wanted, choice);
  }
  return choice;
}

}  // namespace kith::engine
