// Strings by edit or Hamming distance, sets by Jaccard distance. Build once, search many times.
#pragma once

#include <kith/device.hpp>
#include <kith/index.hpp>
#include <kith/neighbors.hpp>
#include <kith/progress.hpp>
#include <kith/sequence_metric.hpp>
#include <kith/sequence_set.hpp>
#include <kith/work_times.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kith {

struct SequenceIndexState;  // src/engine/sequence_index_state.hpp

/// How a SequenceIndex is built.
struct SequenceIndexOptions {
  /// `automatic`, `brute_force` or `cover_tree`: automatic takes the tree unless there are few sequences or queries.
  Engine engine = Engine::automatic;
  Device device = Device::cpu();
  /// Cover tree only: cells of up to so many sequences are not split; 0 takes a good number.
  std::uint32_t leaf_size = 0;
  /// How many queries will come in all, if that is known: for a few, `automatic` builds no tree. 0: about as many as
  /// sequences.
  std::uint64_t expected_queries = 0;
  /// Threads on the CPU; 0 takes all cores.
  int threads = 0;
  ProgressCallback progress = {};
  /// Tells where the time went, if not null; must outlive the call.
  WorkTimes* times = nullptr;
};

/// How one search runs. The answer does not depend on `threads`.
struct SequenceSearchOptions {
  /// Self-searches only: a sequence is not its own neighbour. Its duplicates still are.
  bool exclude_self = false;
  /// Self-searches only: sequence i finds only sequences numbered below i.
  bool earlier_only = false;
  /// Radius search only: keep the nearest `max_neighbors` of each list; 0 keeps all.
  std::uint32_t max_neighbors = 0;
  /// kNN only: neighbours farther than this are missing.
  double max_distance = std::numeric_limits<double>::infinity();
  /// kNN by a cover tree only: each distance may be up to (1 + eps) times the true one. `Neighbors::is_exact` tells
  /// which answers are certain. Brute force stays exact.
  double eps = 0;
  /// Find only sequences whose bit is set: bit i % 64 of word i / 64 for sequence i; empty: all.
  std::span<const std::uint64_t> allowed = {};
  /// Threads on the CPU; 0 takes all cores.
  int threads = 0;
  ProgressCallback progress = {};
  /// Tells where the time went, if not null; must outlive the call.
  WorkTimes* times = nullptr;
};

/// An immutable set of sequences prepared for search. Copies share it; every call is thread-safe. Distances are f32:
/// whole numbers, or for Jaccard the IEEE quotient of two; lists are ordered by (distance, index).
class SequenceIndex {
 public:
  /// The most items of a sequence: every count is an f32 without rounding.
  static constexpr std::uint64_t kMostItems = 1 << 23;

  /// Copies the sequences. Throws UsageError for a metric that is not for their kind (Jaccard is for sets, the others
  /// for the rest), an engine or a device that cannot search them; BadData for sequences of several lengths under
  /// Hamming, longer than kMostItems, or with items that their kind does not have; DeviceError, OutOfMemory,
  /// Interrupted.
  static SequenceIndex build(SequenceView sequences, SequenceMetric metric, const SequenceIndexOptions& options = {});

  /// Reads an index that `save` wrote and checks all of it. Throws IoError, CorruptFile, UsageError if it is an index
  /// of something else, OutOfMemory, DeviceError, Interrupted.
  static SequenceIndex load(const std::string& path, const LoadOptions& options = {});
  /// The same from bytes that `to_bytes` made; they are copied.
  static SequenceIndex from_bytes(std::span<const std::byte> bytes, const LoadOptions& options = {});
  /// Writes the index to a file, whole or not at all. The same sequences and options give the same bytes. Throws
  /// IoError, Interrupted.
  void save(const std::string& path, const SaveOptions& options = {}) const;
  /// The bytes that `save` writes.
  std::vector<std::byte> to_bytes(const SaveOptions& options = {}) const;

  /// The k nearest sequences of each query. The queries are of the kind of the sequences, and under Hamming of their
  /// length; else UsageError and BadData are thrown.
  Neighbors knn(SequenceView queries, std::uint32_t k, const SequenceSearchOptions& options = {}) const;
  /// The same with the sequences themselves as queries.
  Neighbors knn_self(std::uint32_t k, const SequenceSearchOptions& options = {}) const;

  /// All sequences whose distance from the query is at most `radius`.
  NeighborLists radius(SequenceView queries, double radius, const SequenceSearchOptions& options = {}) const;
  NeighborLists radius_self(double radius, const SequenceSearchOptions& options = {}) const;

  /// How many they are.
  std::vector<std::uint32_t> count(SequenceView queries, double radius,
                                   const SequenceSearchOptions& options = {}) const;
  std::vector<std::uint32_t> count_self(double radius, const SequenceSearchOptions& options = {}) const;

  /// The sequences, as long as this index or a copy of it lives.
  SequenceView sequences() const;
  /// How many sequences there are.
  std::uint64_t size() const;
  SequenceKind kind() const;
  SequenceMetric metric() const;
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
  explicit SequenceIndex(std::shared_ptr<const SequenceIndexState> state);
  std::shared_ptr<const SequenceIndexState> state_;
};

}  // namespace kith
