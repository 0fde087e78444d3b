// See arrays.hpp.
#include "arrays.hpp"
#include "object_items.hpp"
#include "thread_count.hpp"

#include <kith/device.hpp>
#include <kith/error.hpp>

#include <nanobind/stl/string_view.h>

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace kith::python {
namespace {

constexpr std::size_t kNumbersPerThread = 1 << 18;

DType dtype_from(nb::dlpack::dtype dtype, std::string_view what) {
  if (dtype == nb::dtype<float>()) return DType::f32;
  if (dtype == nb::dtype<double>()) return DType::f64;
  throw nb::type_error(fmt::format("{} must be float32 or float64", what).c_str());
}

template <typename T>
constexpr const char* kNumpyName = nullptr;
template <>
constexpr const char* kNumpyName<float> = "float32";
template <>
constexpr const char* kNumpyName<double> = "float64";
template <>
constexpr const char* kNumpyName<std::int64_t> = "int64";
template <>
constexpr const char* kNumpyName<bool> = "bool_";

/// Something of NumPy's, looked up once and never let go.
PyObject* from_numpy(const char* name) {
  nb::object found = nb::module_::import_("numpy").attr(name);
  return found.release().ptr();
}

void widen(std::span<const std::uint32_t> numbers, std::int64_t* wide, int threads) {
  const std::size_t most = std::max<std::size_t>(1, numbers.size() / kNumbersPerThread);
  const std::size_t parts = std::clamp<std::size_t>(thread_count(threads), 1, most);
  const auto copy = [&](std::size_t part) {
    const std::size_t first = numbers.size() * part / parts;
    const std::size_t end = numbers.size() * (part + 1) / parts;
    std::copy(numbers.begin() + static_cast<std::ptrdiff_t>(first), numbers.begin() + static_cast<std::ptrdiff_t>(end),
              wide + first);
  };
  std::vector<std::jthread> helpers;
  for (std::size_t part = 1; part < parts; ++part) helpers.emplace_back(copy, part);
  copy(0);
}

}  // namespace

Rows::Rows(nb::handle array, std::string_view what) {
  if (DeviceRows rows; nb::try_cast(array, rows)) {
    view_ = rows.view;
    return;
  }
  if (!nb::try_cast(array, array_)) {
    throw nb::type_error(fmt::format("{} must be a NumPy array of float32 or float64", what).c_str());
  }
  const DType dtype = dtype_from(array_.dtype(), what);
  if (array_.ndim() != 2) {
    throw nb::value_error(fmt::format("{} must have two dimensions, not {}", what, array_.ndim()).c_str());
  }
  const std::size_t rows = array_.shape(0);
  const std::size_t dims = array_.shape(1);
  if (dims > UINT32_MAX) throw nb::value_error(fmt::format("{}: {} columns are too many", what, dims).c_str());
  if (rows > 0 && dims > 1 && array_.stride(1) != 1) {
    throw nb::value_error(fmt::format("{}: the numbers of a row must lie side by side", what).c_str());
  }
  const std::int64_t stride = rows > 1 ? array_.stride(0) : static_cast<std::int64_t>(dims);
  view_ = PointView(array_.data(), dtype, rows, static_cast<std::uint32_t>(dims), stride);
}

Buffer::Buffer(nb::handle content) {
  if (PyObject_GetBuffer(content.ptr(), &buffer_, PyBUF_SIMPLE) != 0) throw nb::python_error();
}

PointView view_of(const OneQuery& query) {
  const DType dtype = dtype_from(query.dtype(), "a query");
  const std::size_t dims = query.shape(0);
  if (dims > UINT32_MAX) throw nb::value_error(fmt::format("a query of {} numbers is too long", dims).c_str());
  return PointView(query.data(), dtype, 1, static_cast<std::uint32_t>(dims), static_cast<std::int64_t>(dims));
}

void require_answer_memory(std::uint64_t queries, std::uint64_t k, std::uint64_t bytes_each) {
  constexpr std::uint64_t kAlwaysThere = std::uint64_t{1} << 28;
  if (queries == 0 || k <= kAlwaysThere / bytes_each / queries) return;
  static const std::uint64_t memory = available_devices().front().memory_bytes;
  if (k <= memory / bytes_each / queries) return;
  throw OutOfMemory(fmt::format(
      "not enough memory: {} neighbours of {} queries need about {:.0f} GB, but the machine has {:.0f}; choose a lower "
      "k",
      k, queries, static_cast<double>(queries) * static_cast<double>(k) * static_cast<double>(bytes_each) / 1e9,
      static_cast<double>(memory) / 1e9));
}

nb::object numpy_of(Distances distances, std::initializer_list<std::size_t> shape) {
  Distances* kept = nullptr;
  const nb::capsule owner = keep(std::move(distances), &kept);
  if (kept->dtype() == DType::f32) return numpy_over(kept->values<float>().data(), shape, owner);
  return numpy_over(kept->values<double>().data(), shape, owner);
}

nb::object numpy_of(PointSet points) {
  PointSet* kept = nullptr;
  const nb::capsule owner = keep(std::move(points), &kept);
  if (kept->dtype() == DType::f32) {
    return numpy_over(kept->values<float>().data(), {kept->rows(), kept->dims()}, owner);
  }
  return numpy_over(kept->values<double>().data(), {kept->rows(), kept->dims()}, owner);
}

template <typename T>
FreshArray<T>::FreshArray(std::initializer_list<std::size_t> shape) {
  static PyObject* const empty = from_numpy("empty");
  static PyObject* const dtype = from_numpy(kNumpyName<T>);
  nb::object extents = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  Py_ssize_t axis = 0;
  for (const std::size_t extent : shape) put_into_tuple(extents.ptr(), axis++, PyLong_FromSize_t(extent));
  array = nb::handle(empty)(extents, nb::handle(dtype));
  Py_buffer buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_WRITABLE) != 0) throw nb::python_error();
  values = static_cast<T*>(buffer.buf);
  PyBuffer_Release(&buffer);
}

template struct FreshArray<float>;
template struct FreshArray<double>;
template struct FreshArray<std::int64_t>;

nb::object numpy_bools(std::span<const std::uint8_t> flags) {
  const FreshArray<bool> copy({flags.size()});
  std::transform(flags.begin(), flags.end(), copy.values, [](std::uint8_t flag) { return flag != 0; });
  return copy.array;
}

nb::object numpy_int64(std::span<const std::uint32_t> numbers, std::initializer_list<std::size_t> shape, int threads) {
  const FreshArray<std::int64_t> wide(shape);
  if (numbers.size() < kNumbersPerThread) {
    std::copy(numbers.begin(), numbers.end(), wide.values);
  } else {
    const nb::gil_scoped_release released;
    widen(numbers, wide.values, threads);
  }
  return wide.array;
}

nb::object numpy_int64(std::span<const std::uint64_t> numbers) {
  const FreshArray<std::int64_t> copy({numbers.size()});
  std::copy(numbers.begin(), numbers.end(), copy.values);
  return copy.array;
}

void bind_device_rows(nb::module_& module) {
  module.def("require_answer_memory", &require_answer_memory, nb::arg("queries"), nb::arg("k"), nb::arg("bytes_each"));
  nb::class_<DeviceRows>(module, "DeviceRows")
      .def(
          "__init__",
          [](DeviceRows* self, std::uintptr_t address, std::string_view dtype, std::uint64_t rows, std::uint32_t dims,
             std::int64_t row_stride, int ordinal) {
            if (dtype != "f32" && dtype != "f64") throw nb::value_error("dtype must be \"f32\" or \"f64\"");
            new (self)
                DeviceRows{PointView(reinterpret_cast<const void*>(address), dtype == "f32" ? DType::f32 : DType::f64,
                                     rows, dims, row_stride, Device::cuda(ordinal))};
          },
          nb::arg("address"), nb::arg("dtype"), nb::arg("rows"), nb::arg("dims"), nb::arg("row_stride"),
          nb::arg("ordinal"));
}

}  // namespace kith::python
