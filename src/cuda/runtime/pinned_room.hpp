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

/// Thread-safe. Rooms of one size, kept for the next request.
class PinnedRooms {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{256} << 10;

  class Lease {
   public:
    explicit Lease(PinnedRooms& rooms) : rooms_(rooms), room_(rooms.take()) {}
    ~Lease() { rooms_.give_back(std::move(room_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    std::byte* data() const { return room_.get(); }

   private:
    PinnedRooms& rooms_;
    std::unique_ptr<std::byte, void (*)(std::byte*)> room_;
  };

 private:
  using Room = std::unique_ptr<std::byte, void (*)(std::byte*)>;

  Room take() {
    {
      const std::lock_guard guard(lock_);
      if (!idle_.empty()) {
        Room room = std::move(idle_.back());
        idle_.pop_back();
        return room;
      }
    }
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, kBytes, cudaHostAllocPortable | cudaHostAllocMapped), "allocating pinned memory");
    return Room(static_cast<std::byte*>(memory), [](std::byte* bytes) { cudaFreeHost(bytes); });
  }
  void give_back(Room room) noexcept {
    const std::lock_guard guard(lock_);
    try {
      idle_.push_back(std::move(room));
    } catch (const std::bad_alloc&) {  // then it is freed
    }
  }

  std::mutex lock_;
  std::vector<Room> idle_;
};

}  // namespace kith::cuda
