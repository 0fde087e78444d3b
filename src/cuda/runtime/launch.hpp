// Launches of kernels: overlapping where the hardware can, cooperative where blocks wait for each other.
#pragma once

#include "cuda/runtime/build_phases.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_facts.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/runtime/together.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace kith::cuda {

/// Allows a kernel the shared memory that it needs on the current device; asks the driver once per size.
inline void allow_shared_memory(const void* kernel, int device, std::size_t bytes) {
  constexpr std::size_t kAlwaysAllowed = 48 << 10;
  if (bytes <= kAlwaysAllowed) return;
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, std::size_t> allowed;
  const std::lock_guard lock(mutex);
  std::size_t& most = allowed[{kernel, device}];
  if (bytes <= most) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "reserving shared memory");
  most = bytes;
}

/// Whether a GPU and the code that runs on it know of launches that overlap (wait_for_previous) and of clusters, as
/// both do from 9.0 on. PTX of an older architecture does not, on whatever GPU it runs. All kernels are compiled for
/// the same architectures: the driver is asked about one of them, once.
inline bool is_hopper_code(const void* kernel, int device) {
  static std::mutex mutex;
  static std::map<int, bool> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(device);
  if (found != known.end()) return found->second;
  cudaFuncAttributes attributes{};
  if (generation_of(device) >= 9) check(cudaFuncGetAttributes(&attributes, kernel), "asking for a kernel");
  return known[device] = attributes.ptxVersion >= 90;
}

/// Puts kernels into a stream; with phases it notes when each one ends.
class Launcher {
 public:
  Launcher(const Stream& stream, bool is_timed) : stream_(stream), is_timed_(is_timed) {
    if (is_timed_) mark({}, 0);
  }
  ~Launcher() {
    for (const Mark& mark : marks_) cudaEventDestroy(mark.event);
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  /// `bytes` are those that the kernel reads and writes, for the record.
  template <typename... Parameters, typename... Arguments>
  void operator()(std::string name, std::uint64_t bytes, void (*kernel)(Parameters...), std::uint32_t blocks,
                  std::uint32_t threads, std::size_t shared_bytes, Together together, const Arguments&... arguments) {
    allow_shared_memory(reinterpret_cast<const void*>(kernel), stream_.device(), shared_bytes);
    cudaLaunchAttribute attributes[3] = {};
    std::uint32_t used = 0;
    if (together.is_cooperative) {
      attributes[used].id = cudaLaunchAttributeCooperative;
      attributes[used++].val.cooperative = 1;
    }
    if (together.cluster > 1) {
      attributes[used].id = cudaLaunchAttributeClusterDimension;
      attributes[used].val.clusterDim.x = together.cluster;
      attributes[used].val.clusterDim.y = attributes[used].val.clusterDim.z = 1;
      ++used;
    }
    if (!is_timed_ && is_hopper_code(reinterpret_cast<const void*>(kernel), stream_.device())) {
      attributes[used].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[used++].val.programmaticStreamSerializationAllowed = 1;
    }
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream_.get();
    config.attrs = attributes;
    config.numAttrs = used;
    check(cudaLaunchKernelEx(&config, kernel, arguments...), "building a k-d tree");
    if (is_timed_) mark(std::move(name), bytes);
  }

  /// Waits, and adds up the times of steps with the same name.
  void report(BuildPhases& phases) const {
    check(cudaStreamSynchronize(stream_.get()), "building a k-d tree");
    for (std::size_t i = 1; i < marks_.size(); ++i) {
      float ms = 0;
      check(cudaEventElapsedTime(&ms, marks_[i - 1].event, marks_[i].event), "timing");
      auto phase = phases.phases.begin();
      while (phase != phases.phases.end() && phase->name != marks_[i].name) ++phase;
      if (phase == phases.phases.end()) phase = phases.phases.insert(phase, {marks_[i].name, 0, 0});
      phase->ms += static_cast<double>(ms);
      phase->bytes += marks_[i].bytes;
    }
  }

 private:
  struct Mark {
    std::string name;
    std::uint64_t bytes;
    cudaEvent_t event;
  };

  void mark(std::string name, std::uint64_t bytes) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event), "making an event");
    marks_.push_back({std::move(name), bytes, event});
    check(cudaEventRecord(event, stream_.get()), "timing");
  }

  Stream stream_;
  bool is_timed_;
  std::vector<Mark> marks_;
};

}  // namespace kith::cuda
