// Host memory that kernels reach by themselves: for requests so small that copies would take longer than the search.
#pragma once

#include "cuda/runtime/check.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace kith::cuda {

/// Thread-safe. Buffers of one size, kept for the next request.
class PinnedBuffers {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{256} << 10;

  class Lease {
   public:
    explicit Lease(PinnedBuffers& buffers) : buffers_(buffers), storage_(buffers.take()) {}
    ~Lease() { buffers_.give_back(std::move(storage_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    std::byte* data() const { return storage_.get(); }

   private:
    PinnedBuffers& buffers_;
    std::unique_ptr<std::byte, void (*)(std::byte*)> storage_;
  };

 private:
  using Storage = std::unique_ptr<std::byte, void (*)(std::byte*)>;

  Storage take() {
    {
      const std::lock_guard guard(lock_);
      if (!idle_.empty()) {
        Storage storage = std::move(idle_.back());
        idle_.pop_back();
        return storage;
      }
    }
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, kBytes, cudaHostAllocPortable | cudaHostAllocMapped), "allocating pinned memory");
    return Storage(static_cast<std::byte*>(memory), [](std::byte* bytes) { cudaFreeHost(bytes); });
  }
  void give_back(Storage storage) noexcept {
    const std::lock_guard guard(lock_);
    try {
      idle_.push_back(std::move(storage));
    } catch (const std::bad_alloc&) {  // then it is freed
    }
  }

  std::mutex lock_;
  std::vector<Storage> idle_;
};

}  // namespace kith::cuda
