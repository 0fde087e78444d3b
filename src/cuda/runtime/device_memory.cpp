// See device_memory.hpp.
#include "cuda/runtime/device_memory.hpp"

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "runtime/memory_limit.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

namespace kith::cuda {
namespace {

/// The pool of a device. From the first use on it keeps everything between calls: to map memory anew takes longer than
/// to build a tree in it.
cudaMemPool_t pool_of(int ordinal) {
  static std::mutex lock;
  static auto& pools = *new std::map<int, cudaMemPool_t>;  // never destroyed: indexes may live as long as the process
  const std::lock_guard guard(lock);
  cudaMemPool_t& pool = pools[ordinal];
  if (pool == nullptr) {
    cudaMemPool_t found = nullptr;
    check(cudaDeviceGetDefaultMemPool(&found, ordinal), "asking for the pool of GPU memory");
    std::uint64_t threshold = std::numeric_limits<std::uint64_t>::max();
    check(cudaMemPoolSetAttribute(found, cudaMemPoolAttrReleaseThreshold, &threshold), "setting up GPU memory");
    pool = found;
  }
  return pool;
}

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = 0;
  check(cudaMemPoolGetAttribute(pool, which, &value), "asking for GPU memory");
  return value;
}

/// Bytes that this process may still take of the device under its MemoryLimit.
std::uint64_t left_of_limit(cudaMemPool_t pool) {
  const std::uint64_t limit = runtime::device_memory_limit();
  if (limit == runtime::kNoLimit) return limit;
  return limit - std::min(limit, attribute(pool, cudaMemPoolAttrUsedMemCurrent));
}

OutOfMemory shortage(const char* purpose, std::uint64_t bytes, int ordinal) {
  const DeviceMemory memory = memory_of_device(ordinal);
  if (const std::uint64_t left = left_of_limit(pool_of(ordinal)); left < bytes) {
    return OutOfMemory(fmt::format(
        "not enough GPU memory: {} needs {} bytes on cuda:{}, but the limit of {} bytes leaves {} to be taken", purpose,
        bytes, ordinal, runtime::device_memory_limit(), left));
  }
  return OutOfMemory(
      fmt::format("not enough GPU memory: {} needs {} bytes, but {} of the {} bytes of cuda:{} are free; "
                  "use `device=cpu`, or fewer points",
                  purpose, bytes, memory.free, memory.total, ordinal));
}

}  // namespace

DeviceMemory memory_of_device(int ordinal) {
  const DeviceScope scope(ordinal);
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free GPU memory");
  const cudaMemPool_t pool = pool_of(ordinal);
  const std::uint64_t kept = attribute(pool, cudaMemPoolAttrReservedMemCurrent);
  const std::uint64_t used = attribute(pool, cudaMemPoolAttrUsedMemCurrent);
  return {std::min(free + (kept > used ? kept - used : 0), left_of_limit(pool)), total};
}

void require_device_memory(int ordinal, std::uint64_t bytes, const char* purpose) {
  if (bytes > memory_of_device(ordinal).free) throw shortage(purpose, bytes, ordinal);
}

void* allocate_on_device(std::uint64_t bytes, const Stream& stream) {
  if (bytes == 0) return nullptr;
  const cudaMemPool_t pool = pool_of(stream.device());
  if (bytes > left_of_limit(pool)) {
    check(cudaStreamSynchronize(stream.get()), "working on the GPU");  // what it is about to give back counts
    if (bytes > left_of_limit(pool)) throw shortage("an array", bytes, stream.device());
  }
  void* memory = nullptr;
  cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, pool, stream.get());
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    trim_device_memory(stream.device());
    status = cudaMallocFromPoolAsync(&memory, bytes, pool, stream.get());
  }
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw shortage("an array", bytes, stream.device());
  }
  check(status, "allocating GPU memory");
  return memory;
}

void free_on_device(void* memory, const Stream& stream) noexcept {
  // An error here is one of earlier work, or of a process that ends: nothing that a destructor could tell.
  if (memory != nullptr) cudaFreeAsync(memory, stream.get());
}

void trim_device_memory(int ordinal) {
  const DeviceScope scope(ordinal);
  check(cudaDeviceSynchronize(), "working on the GPU");  // what streams are about to give back counts too
  check(cudaMemPoolTrimTo(pool_of(ordinal), 0), "giving back GPU memory");
}

}  // namespace kith::cuda
