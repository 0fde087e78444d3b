// Rows of bits and the Hamming distance: how many bits differ. Build once, search many times.
#pragma once

#include <kith/index.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace kith::inline v0 {

/// Borrows rows of bits, packed as numpy.packbits writes them: bit j of a row is bit 7 - j % 8 of its byte j / 8. What
/// the last byte holds behind the last bit does not count. Copying is free; the memory, on the host (for
/// DeviceBitSearch on the GPU), must outlive the view.
class KITH_EXPORT BitView {
 public:
  /// No rows of no bits.
  constexpr BitView() = default;
  /// Rows that lie side by side, each in as few bytes as hold its bits.
  constexpr BitView(const std::uint8_t* data, std::uint64_t rows, std::uint32_t bits)
      : BitView(data, rows, bits, (std::int64_t{bits} + 7) / 8) {}
  /// Rows whose starts are `row_bytes` apart.
  constexpr BitView(const std::uint8_t* data, std::uint64_t rows, std::uint32_t bits, std::int64_t row_bytes)
      : data_(data), rows_(rows), row_bytes_(row_bytes), bits_(bits) {}

  constexpr const std::uint8_t* data() const { return data_; }
  constexpr std::uint64_t rows() const { return rows_; }
  constexpr std::uint32_t bits() const { return bits_; }
  constexpr std::int64_t row_bytes() const { return row_bytes_; }
  constexpr bool empty() const { return rows_ == 0; }

  constexpr const std::uint8_t* row(std::uint64_t i) const { return data_ + static_cast<std::int64_t>(i) * row_bytes_; }
  /// The rows [first, first + count).
  constexpr BitView slice(std::uint64_t first, std::uint64_t count) const {
    return BitView(row(first), count, bits_, row_bytes_);
  }
  constexpr bool bit(std::uint64_t i, std::uint32_t j) const { return (row(i)[j / 8] >> (7 - j % 8) & 1) != 0; }

 private:
  const std::uint8_t* data_ = nullptr;
  std::uint64_t rows_ = 0;
  std::int64_t row_bytes_ = 0;
  std::uint32_t bits_ = 0;
};

/// An immutable set of rows of bits prepared for search by the Hamming distance: how many bits differ. Distances are
/// whole numbers, as f32.
class KITH_EXPORT BitIndex : public SearchIndex<BitIndex, BitView> {
 public:
  /// The most bits of a row: every distance is an f32 without rounding.
  static constexpr std::uint32_t kMostBits = 1 << 20;

  /// Copies the rows. The engine is `brute_force`, which `automatic` takes, or `cover_tree`, which pays if rows lie in
  /// clusters. Throws UsageError for rows without bits or with more than kMostBits, and for an engine that does not
  /// search bits on the device; DeviceError if the device is missing, OutOfMemory, on a GPU before anything is
  /// allocated there, Interrupted.
  static BitIndex build(BitView rows, const BuildOptions& options = {});

  /// A copy of the rows, packed as BitView has them, in as few bytes as hold the bits of each. Throws OutOfMemory.
  std::vector<std::uint8_t> packed_rows(int threads = 0) const;
  /// How many bits a row has.
  std::uint32_t bits() const;

 private:
  friend class SearchIndex<BitIndex, BitView>;
  explicit BitIndex(std::shared_ptr<const StateOf<BitView>> state);
};

}  // namespace kith::inline v0
