// An array in the memory of a GPU.
#pragma once

#include "cuda/runtime/device_memory.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace kith::cuda {

/// Owns `size` values without a value, in the order of a stream: work that is put there after the buffer was made may
/// use it, and work that was put there before it is destroyed still finds it. Moves, never copies.
template <typename T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Throws OutOfMemory, which names the bytes that were needed and are free.
  DeviceBuffer(std::uint64_t size, const Stream& stream)
      : stream_(std::make_unique<Stream>(stream)),
        data_(static_cast<T*>(allocate_on_device(size * sizeof(T), stream))),
        size_(size) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : stream_(std::move(other.stream_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(stream_, other.stream_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceBuffer() {
    if (data_ != nullptr) free_on_device(data_, *stream_);
  }

  /// Only the first values count from here on; the memory stays.
  void truncate(std::uint64_t size) { size_ = size < size_ ? size : size_; }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t bytes() const { return size_ * sizeof(T); }

 private:
  std::unique_ptr<Stream> stream_;
  T* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace kith::cuda
