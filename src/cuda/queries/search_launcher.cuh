// How the kernels of a search get into a stream.
#pragma once

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_facts.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Puts kernels into a stream.
class SearchLauncher {
 public:
  explicit SearchLauncher(const Stream& stream) : stream_(stream.get()), device_(stream.device()) {}

  int device() const { return device_; }

  template <typename... Parameters, typename... Arguments>
  void operator()(void (*kernel)(Parameters...), std::uint32_t blocks, std::uint32_t threads, std::size_t shared_bytes,
                  const Arguments&... arguments) const {
    constexpr std::size_t kWithoutAsking = 48 << 10;
    if (shared_bytes > kWithoutAsking) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
            "asking for shared memory");
    }
    kernel<<<blocks, threads, shared_bytes, stream_>>>(arguments...);
    check_launch("searching");
  }

 private:
  cudaStream_t stream_;
  int device_;
};

}  // namespace kith::cuda
