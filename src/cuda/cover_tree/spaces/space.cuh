// What the cover tree on the GPU needs to know of objects: how a warp measures many of them from one.
//
// An object is a row of `stride` 32-bit words; what they mean is the space's business (an f64 is two words, low word
// first). Rows lie side by side, or arranged in groups of 32, so that the lanes of a warp read neighbouring words of
// neighbouring objects.
#pragma once

#include "core/cover_geometry.hpp"
#include "core/host_device.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// One object: word w is words[w * step].
struct RowView {
  const std::uint32_t* words = nullptr;
  std::uint32_t step = 1;

  KITH_HOST_DEVICE std::uint32_t operator[](std::uint32_t word) const { return words[std::uint64_t{word} * step]; }
};

/// Objects side by side: by number.
struct PlainRows {
  const std::uint32_t* words = nullptr;
  std::uint32_t stride = 0;

  KITH_HOST_DEVICE RowView at(std::uint64_t number) const { return {words + number * stride, 1}; }
};

/// Objects in groups of 32: word w of position p lies at [((p / 32) * stride + w) * 32 + p % 32].
struct ArrangedRows {
  static constexpr std::uint32_t kGroup = 32;

  const std::uint32_t* words = nullptr;
  std::uint32_t stride = 0;

  KITH_HOST_DEVICE RowView at(std::uint64_t position) const {
    return {words + position / kGroup * stride * kGroup + position % kGroup, kGroup};
  }
  /// How many words so many objects take.
  KITH_HOST_DEVICE static std::uint64_t words_of(std::uint64_t count, std::uint32_t stride) {
    return (count + kGroup - 1) / kGroup * kGroup * stride;
  }
};

/// A metric of objects, passed to kernels by value. A `Value` orders objects by their distance from another (squared
/// for L2); `metric` makes the true distance of it, which never falls as the value rises and is a number of type Value.
///
/// To measure, a warp first prepares one object in `context_bytes()` bytes of shared memory, a multiple of 16 and
/// aligned to as many; other warps of the block may use what it prepared after a barrier. The row stays where it is
/// meanwhile. All 32 lanes call `prepare`, which ends with sync_warp. `measure` is for each lane alone: no barriers,
/// and lanes may stay away. In place of a value above `limit` any other above it may come.
///
/// `kIsExact`, where a space has it and it is true: values are whole numbers, and nothing is rounded. `kHasHeads`: rows
/// begin as those of edit distances, for which searches have heads (search/cover_head.cuh).
template <typename S>
concept DeviceSpace = requires(const S& space, std::byte* memory, const std::byte* prepared, RowView row,
                               typename S::Value value) {
  requires std::same_as<typename S::Value, float> || std::same_as<typename S::Value, double>;
  { space.stride() } -> std::same_as<std::uint32_t>;
  { space.context_bytes() } -> std::same_as<std::uint32_t>;
  space.prepare(memory, row);
  { space.measure(prepared, row, /*limit=*/value) } -> std::same_as<typename S::Value>;
  { space.metric(value) } -> std::same_as<double>;
  { space.rounding() } -> std::same_as<core::CoverRounding>;
};

}  // namespace kith::cuda
