// Numbers that depend on the machine and choose between paths with the same answers; `kith tune` measures them.
#pragma once

#include <kith/export.hpp>

#include <cstdint>

namespace kith::inline v0 {

/// The defaults are built in. `tuned_values` (kith/profile.hpp) says what each means and which values it may have: with
/// all of them answers, and files of indexes whose engine is named, are the same.
struct Tuning {
  // The CPU.
  std::uint64_t thread_nanoseconds = 100'000;
  std::uint64_t split_records = 1 << 17;
  std::uint64_t tree_points = 1000;
  std::uint64_t scanned_coordinates = 6000;
  std::uint64_t groups_per_task = 32;
  std::uint64_t scan_block_bytes = 256 << 10;
  std::uint64_t presort_points = 0;
  // A GPU.
  std::uint64_t gpu_points = 1'000'000;
  std::uint64_t gpu_scan_queries = 128;
  std::uint64_t gpu_packet_queries = 2048;
  std::uint64_t gpu_ordered_queries = 4096;
  std::uint64_t gpu_half_sum_pairs = std::uint64_t{1} << 29;

  friend bool operator==(const Tuning&, const Tuning&) = default;
};

/// The numbers in use, for the whole process: at first those of the profile that `use_profile` finds by itself. The
/// reference stays valid; searches that run keep what they began with or take the new ones, with the same answer.
KITH_EXPORT const Tuning& tuning() noexcept;

/// Takes these until `use_profile` is called, on every GPU. Thread-safe. Throws UsageError for a number out of its
/// range.
KITH_EXPORT void use_tuning(const Tuning& values);

}  // namespace kith::inline v0
