// Arrays of NumPy in and out, and arrays in the memory of a GPU by their addresses.
#pragma once

#include <kith/neighbors.hpp>
#include <kith/point_set.hpp>
#include <kith/point_view.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace kith::python {

namespace nb = nanobind;

/// Rows of f32 or f64 in the memory of a GPU. Python makes these from what an array says of itself and keeps it alive.
struct DeviceRows {
  PointView view;
};

/// Rows that a caller gave: a NumPy array of two dimensions, or a DeviceRows. Keeps the array alive.
class Rows {
 public:
  /// `what` names the argument in messages. Throws TypeError or ValueError of Python's.
  Rows(nb::handle array, std::string_view what);
  PointView view() const { return view_; }

 private:
  nb::ndarray<nb::ro, nb::device::cpu> array_;
  PointView view_;
};

/// One query: its numbers side by side.
using OneQuery = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Throws TypeError of Python's unless it is of float32 or float64.
PointView view_of(const OneQuery& query);

/// One-dimensional NumPy arrays side by side in memory.
template <typename T>
using Values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
std::span<const T> span_of(const Values<T>& values) {
  return {values.data(), values.size()};
}

/// A new array that NumPy owns, not initialised, and where its numbers lie. T is float, double, int64_t or bool.
template <typename T>
struct FreshArray {
  explicit FreshArray(std::initializer_list<std::size_t> shape);

  nb::object array;
  T* values;
};

/// A NumPy array over memory that `owner`, a capsule, frees.
template <typename T>
nb::object numpy_over(const T* data, std::initializer_list<std::size_t> shape, nb::handle owner) {
  static T nothing{};  // NumPy wants an address also for arrays without elements
  T* start = data == nullptr ? &nothing : const_cast<T*>(data);
  return nb::cast(nb::ndarray<nb::numpy, T>(start, shape, owner));
}

/// Moves `value` behind a capsule; `*kept` is where it lies now.
template <typename Value>
nb::capsule keep(Value value, Value** kept) {
  *kept = new Value(std::move(value));
  return nb::capsule(*kept, [](void* held) noexcept { delete static_cast<Value*>(held); });
}

/// Throws OutOfMemory if `queries` rows of `k` neighbours, of so many bytes each, exceed the memory of the machine.
/// NumPy reserves memory without looking whether it is there, so the system would end the process later.
void require_answer_memory(std::uint64_t queries, std::uint64_t k, std::uint64_t bytes_each);

/// The memory of bytes or of anything else of Python's that holds them side by side; held until this goes.
class Buffer {
 public:
  /// Throws TypeError of Python's.
  explicit Buffer(nb::handle content);
  ~Buffer() { PyBuffer_Release(&buffer_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
  }

 private:
  Py_buffer buffer_;
};

/// Distances as an array of their own type.
nb::object numpy_of(Distances distances, std::initializer_list<std::size_t> shape);
/// A matrix of rows x dims.
nb::object numpy_of(PointSet points);
/// A copy as bool.
nb::object numpy_bools(std::span<const std::uint8_t> flags);
/// A copy as int64, which Python code uses as index. By `threads` threads (0: all cores), the GIL released.
nb::object numpy_int64(std::span<const std::uint32_t> numbers, std::initializer_list<std::size_t> shape, int threads);
nb::object numpy_int64(std::span<const std::uint64_t> numbers);

void bind_device_rows(nb::module_& module);

}  // namespace kith::python
