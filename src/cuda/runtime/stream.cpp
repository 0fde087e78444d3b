// See stream.hpp.
#include "cuda/runtime/stream.hpp"

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/event.hpp"

namespace kith::cuda {

Stream::Stream() {
  check(cudaGetDevice(&device_), "asking for the current GPU");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  handle_.reset(stream, [](cudaStream_t handle) { cudaStreamDestroy(handle); });
}

void Stream::synchronize() const { check(cudaStreamSynchronize(get()), "working on the GPU"); }

void Stream::wait_for_default_stream() const {
  const Event written;
  written.record(cudaStreamLegacy);
  check(cudaStreamWaitEvent(get(), written.get(), 0), "waiting for the default stream");
}

}  // namespace kith::cuda
