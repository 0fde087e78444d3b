// How brute force on a GPU selects the k nearest among candidates; the answer is the same.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kith::engine {

/// `automatic` takes the fastest for k: a list for each thread (k up to 32), queues of a warp (k up to 256), a radix
/// select, sorting by a bitonic network, or the least one k times. A method that does not go as far as k gives way to
/// the radix select.
enum class SelectMethod : std::uint8_t { automatic, insertion, warp, radix, bitonic, min_reduce };

inline std::string_view name_of(SelectMethod method) {
  constexpr std::array<std::string_view, 6> kNames{"auto", "insertion", "warp", "radix", "bitonic", "min"};
  return kNames.at(static_cast<std::size_t>(method));
}

/// What the facade asks for: benchmarks and tests compare the others.
inline std::atomic<SelectMethod> forced_select = SelectMethod::automatic;

}  // namespace kith::engine
