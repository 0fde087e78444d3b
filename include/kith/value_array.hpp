// Numbers side by side, as results hold them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::inline v0 {

/// As many numbers as it was made with. Made with a size alone, they have no value yet: so the threads that write
/// results are the first that touch their memory.
template <typename T>
class ValueArray {
  static_assert(std::is_trivial_v<T>);

 public:
  ValueArray() = default;
  /// Throws std::bad_alloc.
  explicit ValueArray(std::size_t size) : values_(new T[size]), size_(size) {}
  ValueArray(std::span<const T> values) : ValueArray(values.size()) { std::ranges::copy(values, values_.get()); }
  ValueArray(const std::vector<T>& values) : ValueArray(std::span<const T>(values)) {}
  ValueArray(std::initializer_list<T> values) : ValueArray(std::span<const T>(values.begin(), values.size())) {}
  ValueArray(const ValueArray& other) : ValueArray(std::span<const T>(other)) {}
  ValueArray(ValueArray&& other) noexcept
      : values_(std::move(other.values_)), size_(std::exchange(other.size_, std::size_t{0})) {}
  ValueArray& operator=(ValueArray other) noexcept {
    std::swap(values_, other.values_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~ValueArray() = default;

  std::size_t size() const { return size_; }
  T* data() { return values_.get(); }
  const T* data() const { return values_.get(); }
  const T& operator[](std::size_t i) const { return values_[i]; }

  operator std::span<T>() { return {data(), size_}; }
  operator std::span<const T>() const { return {data(), size_}; }

  friend bool operator==(const ValueArray& a, const ValueArray& b) {
    return std::ranges::equal(std::span<const T>(a), std::span<const T>(b));
  }

 private:
  std::unique_ptr<T[]> values_;
  std::size_t size_ = 0;
};

}  // namespace kith::inline v0
