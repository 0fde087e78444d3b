// See record_labels.hpp.
#include "io/records/record_labels.hpp"

#include "io/records/record_values.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>
#include <vector>

namespace kith::io::inline v0 {

std::string text_of_number(std::uint64_t bits, NumberType type) {
  switch (type) {
    case NumberType::boolean:
      return fmt::format("{}", bits != 0 ? 1 : 0);
    case NumberType::f16:
      return fmt::format("{}", float_of(Half{static_cast<std::uint16_t>(bits)}));
    case NumberType::f32:
      return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case NumberType::f64:
      return fmt::format("{}", std::bit_cast<double>(bits));
    case NumberType::u64:
      return fmt::format("{}", bits);
    default:  // smaller integers were widened with their sign
      return fmt::format("{}", static_cast<std::int64_t>(bits));
  }
}

std::uint32_t LabelCollector::code_of(std::string_view text) {
  const auto found = codes_by_text_.find(text);
  if (found != codes_by_text_.end()) return found->second;
  const auto code = static_cast<std::uint32_t>(labels_.names.size());
  labels_.names.emplace_back(text);
  codes_by_text_.emplace(std::string(text), code);
  return code;
}

void LabelCollector::append(const Labels& part) {
  std::vector<std::uint32_t> codes;
  for (const std::string& name : part.names) codes.push_back(code_of(name));
  for (const std::uint32_t code : part.codes) labels_.codes.push_back(codes[code]);
}

void LabelCollector::add_numbers(std::span<const std::uint64_t> bits, NumberType type) {
  for (const std::uint64_t value : bits) {
    const auto found = codes_by_bits_.find(value);
    if (found != codes_by_bits_.end()) {
      labels_.codes.push_back(found->second);
      continue;
    }
    const std::uint32_t code = code_of(text_of_number(value, type));
    codes_by_bits_.emplace(value, code);
    labels_.codes.push_back(code);
  }
}

}  // namespace kith::io::inline v0
