// See las_extra_bytes.hpp.
#include "io/clouds/las_extra_bytes.hpp"

#include "io/records/record_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace kith::io::inline v0 {
namespace {

constexpr std::size_t kDescriptionBytes = 192;
constexpr std::size_t kTypeAt = 2;
constexpr std::size_t kOptionsAt = 3;
constexpr std::size_t kNameAt = 4;
constexpr std::size_t kScaleAt = 112;
constexpr std::size_t kOffsetAt = 136;
constexpr int kHasScale = 8;
constexpr int kHasOffset = 16;

/// By the number that LAS gives them, from 1 on.
constexpr std::array kExtraTypes = {NumberType::u8,  NumberType::i8,  NumberType::u16, NumberType::i16,
                                    NumberType::u32, NumberType::i32, NumberType::u64, NumberType::i64,
                                    NumberType::f32, NumberType::f64};

double double_at(std::string_view description, std::size_t at) {
  return load_value<double, std::endian::native == std::endian::big>(description.data() + at);
}

}  // namespace

void add_extra_bytes(RecordLayout& layout, std::string_view description, std::uint64_t offset) {
  for (; description.size() >= kDescriptionBytes; description.remove_prefix(kDescriptionBytes)) {
    const auto type = static_cast<unsigned char>(description[kTypeAt]);
    const auto options = static_cast<unsigned char>(description[kOptionsAt]);
    if (type == 0) {  // undocumented: the options say how many bytes
      offset += options;
      continue;
    }
    // Types above 10 are two or three values of the same kind, which the specification no longer knows.
    const std::size_t values = 1 + (type - 1u) / kExtraTypes.size();
    RecordField field;
    field.type = kExtraTypes[(type - 1u) % kExtraTypes.size()];
    const std::string_view name = description.substr(kNameAt, kLasNameBytes);
    for (std::size_t i = 0; i < values; ++i, offset += size_of(field.type)) {
      if (values > 3 || offset + size_of(field.type) > layout.record_bytes) return;
      field.offset = offset;
      field.name = name.substr(0, name.find('\0'));
      if (field.name.empty()) field.name = fmt::format("extra_{}", layout.fields.size());
      if (i > 0) field.name += fmt::format("_{}", i);
      const auto taken = [&](const RecordField& other) { return other.name == field.name; };
      while (std::ranges::any_of(layout.fields, taken)) field.name += "_extra";
      field.scale = (options & kHasScale) != 0 ? double_at(description, kScaleAt + 8 * i) : 1;
      field.origin = (options & kHasOffset) != 0 ? double_at(description, kOffsetAt + 8 * i) : 0;
      const bool usable = std::isfinite(field.scale) && std::isfinite(field.origin) && field.scale != 0;
      field.scaled = usable && is_integer(field.type) && (options & (kHasScale | kHasOffset)) != 0;
      layout.fields.push_back(field);
    }
  }
}

std::string describe_extra_bytes(const RecordField& field) {
  std::string description(kDescriptionBytes, '\0');
  const auto* type = std::ranges::find(kExtraTypes, field.type);
  description[kTypeAt] = static_cast<char>(type - kExtraTypes.begin() + 1);
  const std::string name = field.name.substr(0, kLasNameBytes);
  std::ranges::copy(name, description.begin() + kNameAt);
  return description;
}

}  // namespace kith::io::inline v0
