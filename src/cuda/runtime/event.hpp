// A mark in a stream that can be waited for.
#pragma once

#include "cuda/runtime/check.hpp"

namespace kith::cuda {

/// Owns an event of the device that was current when it was made. Before it is recorded, waiting for it returns at
/// once.
class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  cudaEvent_t get() const { return event_; }
  void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "marking a place in a stream"); }
  /// Waits until the work before the mark is done. Throws DeviceError if it failed.
  void synchronize() const { check(cudaEventSynchronize(event_), "working on the GPU"); }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace kith::cuda
