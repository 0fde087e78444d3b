// See vtk_arrays.hpp.
#include "io/vtk/vtk_arrays.hpp"

#include "io/records/record_values.hpp"

#include <kith/error.hpp>

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace kith::io::inline v0 {

void add_vtk_array(RecordLayout& layout, const std::string& file_name, std::string_view name, bool is_points,
                   NumberType type, std::uint64_t components, std::uint64_t offset) {
  constexpr std::array<char, 3> kAxes = {'x', 'y', 'z'};
  if (components > kMaxColumns - layout.fields.size()) {
    throw CorruptFile(fmt::format("{}: has more than {} columns", file_name, kMaxColumns));
  }
  for (std::uint64_t i = 0; i < components; ++i) {
    RecordField field;
    if (is_points) {
      field.name = kAxes[i];
    } else if (components == 1) {
      field.name = name;
    } else {
      field.name = components == 3 ? fmt::format("{}_{}", name, kAxes[i]) : fmt::format("{}_{}", name, i + 1);
    }
    field.type = type;
    field.offset = offset + i * size_of(type);
    field.stride = components * size_of(type);
    layout.fields.push_back(std::move(field));
    layout.record_bytes += size_of(type);
  }
}

const char* parse_vtk_number(const char* at, const char* end, NumberType type, char* out) {
  const char* parsed = nullptr;
  if (end - at > 1 && *at == '+') ++at;
  with_number_type(type, [&]<typename S>(S) {
    if constexpr (std::is_same_v<S, float> || std::is_same_v<S, double>) {
      S value{};
      const auto result = fast_float::from_chars(at, end, value);
      if (result.ec == std::errc() || (result.ptr != at && std::isinf(value))) parsed = result.ptr;
      std::memcpy(out, &value, sizeof(value));
    } else if constexpr (std::is_integral_v<S>) {
      S value{};
      const auto result = std::from_chars(at, end, value);
      if (result.ec == std::errc()) parsed = result.ptr;
      std::memcpy(out, &value, sizeof(value));
    }
  });
  return parsed;
}

}  // namespace kith::io::inline v0
