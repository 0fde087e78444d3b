// How long builds and searches take, estimated from the measurements of the profile in use, or else from those that the
// documentation shows.
#pragma once

#include <kith/dtype.hpp>
#include <kith/index.hpp>
#include <kith/profile.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kith::engine {

/// Where something was measured. GPUs are taken for an H200 with another bandwidth.
enum class Measured : std::uint8_t { aarch64, x86_64, gpu };

/// The CPU that this was compiled for; without a value if nothing was measured there.
std::optional<Measured> measured_cpu();

/// A job like those that were measured.
struct TimedJob {
  Measured on = Measured::gpu;
  Engine engine = Engine::kd_tree;
  DType dtype = DType::f32;
  std::uint32_t dims = 0;
  std::uint64_t points = 0;
  std::uint64_t queries = 0;
  std::uint32_t k = 0;
  bool is_self = false;
  double speed = 1;  ///< threads of a CPU; of a GPU its bandwidth over that of the one that was measured
  /// What was measured on the device itself, and counts before anything else.
  std::span<const TimedRun> own_times = {};
};

/// What a GPU's bandwidth is compared with.
inline constexpr std::string_view kMeasuredCard = "H200";

/// Milliseconds; 0 speed: of `own_times` alone. Without a value where nothing was measured in that many dims.
std::optional<double> estimated_build_ms(const TimedJob& job);
/// The same. Between two k that were measured it is interpolated; a smaller one counts as the smallest.
std::optional<double> estimated_search_ms(const TimedJob& job);

}  // namespace kith::engine
