// A queue of work on a GPU.
#pragma once

#include <cuda_runtime.h>

#include <memory>

namespace kith::cuda {

/// Owns a stream of the device that was current when it was made, or borrows a caller's. Copies share it; the last one
/// destroys it, after its work is done. It does not wait for the default stream of the process, and that does not wait
/// for it.
class Stream {
 public:
  /// Throws DeviceError.
  Stream();

  /// A caller's stream of that device, which outlives this; null is the default stream. Nothing is destroyed.
  Stream(cudaStream_t borrowed, int device) : device_(device), handle_(borrowed, [](cudaStream_t) {}) {}

  cudaStream_t get() const { return handle_.get(); }
  /// Which GPU.
  int device() const { return device_; }

  /// Waits until all work is done. Throws DeviceError if it failed.
  void synchronize() const;
  /// Later work here starts after the work that is in the default stream now: what a caller's kernels wrote is there.
  void wait_for_default_stream() const;

 private:
  int device_ = 0;
  std::shared_ptr<CUstream_st> handle_;
};

}  // namespace kith::cuda
