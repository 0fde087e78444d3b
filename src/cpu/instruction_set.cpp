// See instruction_set.hpp.
#include "cpu/instruction_set.hpp"

#include "cpu/simd_targets.hpp"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <kith/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace kith::cpu {
namespace {

struct NamedTarget {
  std::int64_t bits;
  const char* name;
};

/// Best first.
constexpr NamedTarget kTargets[] = {{HWY_AVX3, "avx512"},
                                    {HWY_AVX2, "avx2"},
                                    {HWY_SSE2, "sse2"},
                                    {HWY_NEON | HWY_NEON_WITHOUT_AES, "neon"},
                                    {HWY_EMU128 | HWY_SCALAR, "scalar"}};

/// What is compiled in and runs here, before anything was forced.
std::int64_t usable_targets() {
  static const std::int64_t kUsable = HWY_SUPPORTED_TARGETS & HWY_TARGETS;
  return kUsable;
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const NamedTarget& target : kTargets) {
    if ((usable_targets() & target.bits) != 0) names.emplace_back(target.name);
  }
  return names;
}

std::string instruction_set() {
  const std::int64_t in_use = HWY_SUPPORTED_TARGETS & HWY_TARGETS;
  for (const NamedTarget& target : kTargets) {
    if ((in_use & target.bits) != 0) return target.name;
  }
  return hwy::TargetName(HWY_STATIC_TARGET);
}

void choose_instruction_set() {
  const std::int64_t usable = usable_targets();
  const char* variable = std::getenv("KITH_SIMD");
  const std::string_view wanted = variable == nullptr ? "" : variable;
  if (wanted.empty() || wanted == "auto") return;
  for (const NamedTarget& target : kTargets) {
    if (wanted != target.name || (usable & target.bits) == 0) continue;
    if (!std::has_single_bit(static_cast<std::uint64_t>(usable))) hwy::DisableTargets(~target.bits);
    return;
  }
  throw UsageError(fmt::format("KITH_SIMD is \"{}\"; this build on this machine has auto, {}", wanted,
                               fmt::join(instruction_sets(), ", ")));
}

}  // namespace kith::cpu
