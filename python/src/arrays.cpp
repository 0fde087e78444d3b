// See arrays.hpp.
#include "arrays.hpp"

#include <nanobind/stl/string_view.h>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>

namespace kith::python {
namespace {

constexpr std::size_t kNumbersPerThread = 1 << 18;

DType dtype_from(nb::dlpack::dtype dtype, std::string_view what) {
  if (dtype == nb::dtype<float>()) return DType::f32;
  if (dtype == nb::dtype<double>()) return DType::f64;
  throw nb::type_error(fmt::format("{} must be float32 or float64", what).c_str());
}

void widen(std::span<const std::uint32_t> numbers, std::int64_t* wide, int threads) {
  const std::size_t most = std::max<std::size_t>(1, numbers.size() / kNumbersPerThread);
  const std::size_t cores = threads > 0 ? static_cast<std::size_t>(threads) : std::thread::hardware_concurrency();
  const std::size_t parts = std::clamp<std::size_t>(cores, 1, most);
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
  if (dims > 1 && array_.stride(1) != 1) {
    throw nb::value_error(fmt::format("{}: the numbers of a row must lie side by side", what).c_str());
  }
  const std::int64_t stride = rows > 1 ? array_.stride(0) : static_cast<std::int64_t>(dims);
  view_ = PointView(array_.data(), dtype, rows, static_cast<std::uint32_t>(dims), stride);
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

nb::object numpy_of(std::vector<std::uint8_t> bytes) {
  std::vector<std::uint8_t>* kept = nullptr;
  const nb::capsule owner = keep(std::move(bytes), &kept);
  return numpy_over(kept->data(), {kept->size()}, owner);
}

nb::object numpy_bools(std::span<const std::uint8_t> flags) {
  auto* values = new bool[flags.size()];
  const nb::capsule owner(values, [](void* held) noexcept { delete[] static_cast<bool*>(held); });
  std::transform(flags.begin(), flags.end(), values, [](std::uint8_t flag) { return flag != 0; });
  return numpy_over(values, {flags.size()}, owner);
}

nb::object numpy_int64(std::span<const std::uint32_t> numbers, std::initializer_list<std::size_t> shape, int threads) {
  auto* wide = new std::int64_t[numbers.size()];
  const nb::capsule owner(wide, [](void* held) noexcept { delete[] static_cast<std::int64_t*>(held); });
  if (numbers.size() < kNumbersPerThread) {
    std::copy(numbers.begin(), numbers.end(), wide);
  } else {
    const nb::gil_scoped_release released;
    widen(numbers, wide, threads);
  }
  return numpy_over(wide, shape, owner);
}

nb::object numpy_int64(std::span<const std::uint64_t> numbers) {
  auto* copy = new std::int64_t[numbers.size()];
  const nb::capsule owner(copy, [](void* held) noexcept { delete[] static_cast<std::int64_t*>(held); });
  std::copy(numbers.begin(), numbers.end(), copy);
  return numpy_over(copy, {numbers.size()}, owner);
}

void bind_device_rows(nb::module_& module) {
  nb::class_<DeviceRows>(module, "DeviceRows")
      .def(
          "__init__",
          [](DeviceRows* self, std::uintptr_t address, std::string_view dtype, std::uint64_t rows, std::uint32_t dims,
             std::int64_t row_stride, int ordinal) {
            if (dtype != "f32" && dtype != "f64") throw nb::value_error("dtype must be \"f32\" or \"f64\"");
            new (self) DeviceRows{PointView(reinterpret_cast<const void*>(address),
                                            dtype == "f32" ? DType::f32 : DType::f64, rows, dims, row_stride,
                                            Device::cuda(ordinal))};
          },
          nb::arg("address"), nb::arg("dtype"), nb::arg("rows"), nb::arg("dims"), nb::arg("row_stride"),
          nb::arg("ordinal"));
}

}  // namespace kith::python
