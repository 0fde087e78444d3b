// The stream in which work of many steps runs: launches, sorts, copies, and the time of each phase on request. Tests
// without a GPU have a class of the same functions.
#pragma once

#include "cuda/primitives/sort_pairs.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/build_phases.hpp"
#include "cuda/runtime/device_facts.hpp"
#include "cuda/runtime/launch.hpp"
#include "cuda/runtime/shared_limit.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kith::cuda {

class StepDevice {
 public:
  /// `doing` is for messages: "building a cover tree". Without phases no time is measured.
  StepDevice(const Stream& stream, const char* doing, BuildPhases* phases)
      : stream_(stream), doing_(doing), phases_(phases) {
    constexpr std::uint32_t kBlocksPerProcessor = 16;
    resident_blocks_ = processors_of(stream.device()) * kBlocksPerProcessor;
    shared_limit_ = shared_limit_of(stream.device());
  }
  ~StepDevice() {
    for (const Mark& mark : marks_) cudaEventDestroy(mark.event);
  }
  StepDevice(const StepDevice&) = delete;
  StepDevice& operator=(const StepDevice&) = delete;

  template <typename... Parameters, typename... Arguments>
  void launch(void (*kernel)(Parameters...), std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
              const Arguments&... arguments) {
    allow_shared_memory(reinterpret_cast<const void*>(kernel), stream_.device(), shared_bytes);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream_.get();
    check(cudaLaunchKernelEx(&config, kernel, arguments...), doing_);
  }
  template <typename Key>
  KeyedPairs<Key> sort(KeyedPairs<Key> pairs, KeyedPairs<Key> other, std::uint32_t count, std::uint32_t first_bit,
                       std::uint32_t end_bit) {
    return sort_pairs(pairs, other, count, first_bit, end_bit, stream_);
  }
  void zero(void* to, std::uint64_t bytes) { check(cudaMemsetAsync(to, 0, bytes, stream_.get()), doing_); }
  /// Waits.
  void read(void* to, const void* from, std::uint64_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_.get()), doing_);
    check(cudaStreamSynchronize(stream_.get()), doing_);
  }
  void write(void* to, const void* from, std::uint64_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_.get()), doing_);
  }
  std::uint32_t resident_blocks() const { return resident_blocks_; }
  /// Bytes of shared memory that a block may have.
  std::uint32_t shared_limit() const { return shared_limit_; }

  /// What comes next is called so; "" ends the last phase.
  void phase(const char* name) {
    if (phases_ == nullptr) return;
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event), "making an event");
    marks_.push_back({name, event});
    check(cudaEventRecord(event, stream_.get()), "timing");
  }
  /// Waits, and adds up the phases of the same name.
  void report() {
    if (phases_ == nullptr) return;
    check(cudaStreamSynchronize(stream_.get()), doing_);
    for (std::size_t i = 0; i + 1 < marks_.size(); ++i) {
      float ms = 0;
      check(cudaEventElapsedTime(&ms, marks_[i].event, marks_[i + 1].event), "timing");
      auto phase = phases_->phases.begin();
      while (phase != phases_->phases.end() && phase->name != marks_[i].name) ++phase;
      if (phase == phases_->phases.end()) phase = phases_->phases.insert(phase, {marks_[i].name, 0, 0});
      phase->ms += static_cast<double>(ms);
    }
  }

 private:
  struct Mark {
    std::string name;
    cudaEvent_t event;
  };

  Stream stream_;
  const char* doing_;
  BuildPhases* phases_;
  std::uint32_t resident_blocks_ = 0;
  std::uint32_t shared_limit_ = 0;
  std::vector<Mark> marks_;
};

}  // namespace kith::cuda
