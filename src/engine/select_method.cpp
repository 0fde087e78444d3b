// Names of the ways to select. See kith/index.hpp.
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <fmt/format.h>

#include <array>

namespace kith {
namespace {

constexpr std::array<std::string_view, 6> kNames{"auto", "insertion", "warp", "radix", "bitonic", "min"};

}  // namespace

std::string_view name_of(SelectMethod method) { return kNames.at(static_cast<std::size_t>(method)); }

SelectMethod parse_select_method(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<SelectMethod>(i);
  }
  throw UsageError(
      fmt::format("unknown way to select \"{}\"; choose auto, insertion, warp, radix, bitonic or min", text));
}

}  // namespace kith
