// The two number types that coordinates and distances come in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kith::inline v0 {

/// Coordinates are IEEE single (`f32`) or double (`f64`) precision; distances have the same type.
enum class DType : std::uint8_t { f32, f64 };

/// Bytes of one coordinate.
constexpr std::size_t size_of(DType dtype) { return dtype == DType::f32 ? 4 : 8; }

/// "f32" or "f64".
constexpr std::string_view name_of(DType dtype) { return dtype == DType::f32 ? "f32" : "f64"; }

/// The DType of a C++ type: `dtype_of<float>` is `DType::f32`.
template <typename T>
requires(std::is_same_v<T, float> ||
         std::is_same_v<T, double>) inline constexpr DType dtype_of = std::is_same_v<T, float> ? DType::f32
                                                                                               : DType::f64;

}  // namespace kith::inline v0
