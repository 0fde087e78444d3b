// Large memory that is not filled with zeros first: aligned to cache lines, on huge pages where the system has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace kith::runtime {

/// Bytes without a value. Moves, never copies.
class LargeBuffer {
 public:
  LargeBuffer() = default;
  /// Throws std::bad_alloc.
  explicit LargeBuffer(std::uint64_t bytes);
  LargeBuffer(LargeBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  LargeBuffer& operator=(LargeBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~LargeBuffer();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }

  /// The same memory as values of a trivial type.
  template <typename T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(data_), static_cast<std::size_t>(bytes_ / sizeof(T))};
  }

 private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace kith::runtime
