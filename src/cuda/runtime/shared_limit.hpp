// How much shared memory a block may take: what the GPU allows, or less if the environment says so.
#pragma once

#include <kith/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>

namespace kith::cuda {

/// What every plan can do with: a block of a GPU of compute capability 7.5 (Turing) may have no more.
inline constexpr std::uint32_t kLeastSharedBytes = 64 << 10;
/// With as much, k-d trees are built as on the largest GPUs.
inline constexpr std::uint32_t kFullPlanSharedBytes = 99 << 10;
/// What a block may have on the GPUs that have the most of it.
inline constexpr std::uint32_t kMostSharedBytes = 227 << 10;

/// The environment variable that lowers the limit, in KiB: to run the plans of a smaller GPU on a larger one.
inline constexpr const char* kSharedLimitVariable = "KITH_GPU_SHARED_KIB";

/// The limit that is left of a device's: `kib` is the value of the variable, null or empty if it is not set. Never more
/// than the device allows and, below that, never less than kLeastSharedBytes. Throws UsageError unless it is a number.
inline std::uint32_t lowered_shared_limit(std::uint32_t of_device, const char* kib) {
  if (kib == nullptr || *kib == '\0') return of_device;
  std::uint32_t wanted = 0;
  const char* const end = kib + std::strlen(kib);
  const auto [read, error] = std::from_chars(kib, end, wanted);
  if (error != std::errc{} || read != end) {
    throw UsageError(std::string(kSharedLimitVariable) + "=" + kib +
                     ": give the most shared memory of a block in KiB, a whole number such as 64");
  }
  const std::uint64_t bytes = std::max<std::uint64_t>(std::uint64_t{wanted} << 10, kLeastSharedBytes);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, of_device));
}

/// The limit of a device. Throws DeviceError if it is too little for any plan.
std::uint32_t shared_limit_of(int device);

}  // namespace kith::cuda
