// Rows of bits and the Hamming distance: how many bits differ. Build once, search many times.
#pragma once

#include <kith/device.hpp>
#include <kith/index.hpp>
#include <kith/neighbors.hpp>
#include <kith/progress.hpp>
#include <kith/work_times.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kith {

struct BitIndexState;  // src/engine/bit_index_state.hpp

/// Borrows rows of bits, packed as numpy.packbits writes them: bit j of a row is bit 7 - j % 8 of its byte j / 8. What
/// the last byte holds behind the last bit does not count. Copying is free; the memory, on the host, must outlive the
/// view.
class BitView {
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
  constexpr bool bit(std::uint64_t i, std::uint32_t j) const { return (row(i)[j / 8] >> (7 - j % 8) & 1) != 0; }

 private:
  const std::uint8_t* data_ = nullptr;
  std::uint64_t rows_ = 0;
  std::int64_t row_bytes_ = 0;
  std::uint32_t bits_ = 0;
};

/// How a BitIndex is built.
struct BitIndexOptions {
  /// `automatic`, which is brute force, `brute_force` or `cover_tree`: the tree pays if rows lie in clusters.
  Engine engine = Engine::automatic;
  Device device = Device::cpu();
  /// Cover tree only: cells of up to so many rows are not split; 0 takes a good number.
  std::uint32_t leaf_size = 0;
  /// Threads on the CPU; 0 takes all cores.
  int threads = 0;
  ProgressCallback progress = {};
  /// Tells where the time went, if not null; must outlive the call.
  WorkTimes* times = nullptr;
};

/// How one search runs. The answer does not depend on `threads`.
struct BitSearchOptions {
  /// Self-searches only: a row is not its own neighbour. Its duplicates still are.
  bool exclude_self = false;
  /// Self-searches only: row i finds only rows numbered below i.
  bool earlier_only = false;
  /// Radius search only: keep the nearest `max_neighbors` of each list; 0 keeps all.
  std::uint32_t max_neighbors = 0;
  /// kNN only: neighbours with more different bits than this are missing.
  double max_distance = std::numeric_limits<double>::infinity();
  /// kNN by a cover tree only: each distance may be up to (1 + eps) times the true one. `Neighbors::is_exact` tells
  /// which answers are certain. Brute force stays exact.
  double eps = 0;
  /// Find only rows whose bit is set: bit i % 64 of word i / 64 for row i; empty: all rows.
  std::span<const std::uint64_t> allowed = {};
  /// Threads on the CPU; 0 takes all cores.
  int threads = 0;
  ProgressCallback progress = {};
  /// Tells where the time went, if not null; must outlive the call.
  WorkTimes* times = nullptr;
};

/// An immutable set of rows of bits prepared for search. Copies share it; every call is thread-safe. Distances are
/// whole numbers, as f32; lists are ordered by (distance, index).
class BitIndex {
 public:
  /// The most bits of a row: every distance is an f32 without rounding.
  static constexpr std::uint32_t kMostBits = 1 << 20;

  /// Copies the rows. Throws UsageError for rows without bits or with more than kMostBits, and for an engine that does
  /// not search bits on the device; DeviceError if the device is missing, OutOfMemory, on a GPU before anything is
  /// allocated there, Interrupted.
  static BitIndex build(BitView rows, const BitIndexOptions& options = {});

  /// Reads an index that `save` wrote and checks all of it. Throws IoError, CorruptFile, UsageError if it is an index
  /// of something else, OutOfMemory, DeviceError, Interrupted.
  static BitIndex load(const std::string& path, const LoadOptions& options = {});
  /// The same from bytes that `to_bytes` made; they are copied.
  static BitIndex from_bytes(std::span<const std::byte> bytes, const LoadOptions& options = {});
  /// Writes the index to a file, whole or not at all. The same rows and options give the same bytes. Throws IoError,
  /// Interrupted.
  void save(const std::string& path, const SaveOptions& options = {}) const;
  /// The bytes that `save` writes.
  std::vector<std::byte> to_bytes(const SaveOptions& options = {}) const;

  /// The k nearest rows of each query. The queries have as many bits as the rows, else UsageError is thrown.
  Neighbors knn(BitView queries, std::uint32_t k, const BitSearchOptions& options = {}) const;
  /// The same with the rows themselves as queries.
  Neighbors knn_self(std::uint32_t k, const BitSearchOptions& options = {}) const;

  /// All rows that differ from the query in at most `radius` bits.
  NeighborLists radius(BitView queries, double radius, const BitSearchOptions& options = {}) const;
  NeighborLists radius_self(double radius, const BitSearchOptions& options = {}) const;

  /// How many they are.
  std::vector<std::uint32_t> count(BitView queries, double radius, const BitSearchOptions& options = {}) const;
  std::vector<std::uint32_t> count_self(double radius, const BitSearchOptions& options = {}) const;

  /// A copy of the rows, packed as BitView has them, in as few bytes as hold the bits of each. Throws OutOfMemory.
  std::vector<std::uint8_t> packed_rows(int threads = 0) const;
  /// How many rows there are.
  std::uint64_t size() const;
  /// How many bits a row has.
  std::uint32_t bits() const;
  /// Never `automatic`: what was chosen.
  Engine engine() const;
  /// Never `automatic`: what was chosen.
  Device device() const;
  /// Bytes that the index holds, on the device and on the host.
  std::uint64_t memory_bytes() const;
  /// Why this engine and device, and what the index holds, in a few lines for people.
  std::string explain() const;
  /// Checks also what no search relies on: that a cover tree is nested, covers and separates as it must. Returns what
  /// is wrong first, with the two objects and their distance; empty if nothing is.
  std::string first_violation() const;

 private:
  explicit BitIndex(std::shared_ptr<const BitIndexState> state);
  std::shared_ptr<const BitIndexState> state_;
};

}  // namespace kith
