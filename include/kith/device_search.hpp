// Searches whose queries and answers lie in the memory of the GPU that holds the index: nothing goes through the host.
// Nothing here includes a CUDA header.
#pragma once

#include <kith/bit_index.hpp>
#include <kith/index.hpp>
#include <kith/point_view.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <variant>

namespace kith::inline v0 {

/// How one search runs. All pointers are to memory of the GPU; the words mean what they mean in SearchOptions.
struct DeviceSearchOptions {
  /// A cudaStream_t of the GPU that holds the index; null is CUDA's default stream.
  void* stream = nullptr;
  bool squared = false;
  bool exclude_self = false;
  bool earlier_only = false;
  double max_distance = std::numeric_limits<double>::infinity();
  double eps = 0;
  std::uint32_t max_leaves = 0;
  /// A bit per point, (points + 63) / 64 words; null: all points.
  const std::uint64_t* allowed = nullptr;
  /// One number per query; null: no bound.
  const std::uint32_t* index_below = nullptr;
};

/// Numbers in the memory of a GPU: of 32 bits, or of 64 for callers who index arrays with them.
using DeviceNumbers = std::variant<std::uint32_t*, std::int64_t*>;
/// Distances in the memory of a GPU, of the type of the points.
using DeviceDistances = std::variant<float*, double*>;

/// How far a radius search looks: equally far for all queries, or as far as an array in the memory of the GPU says.
class KITH_EXPORT DeviceRadii {
 public:
  template <typename Number>
  requires std::is_arithmetic_v<Number> DeviceRadii(Number all)
      : all_(static_cast<double>(all)) {}           // NOLINT(google-explicit-constructor)
  DeviceRadii(const double* each) : each_(each) {}  // NOLINT(google-explicit-constructor)

  double all() const { return all_; }
  /// Nothing if all have one.
  const std::optional<const double*>& each() const { return each_; }

 private:
  double all_ = 0;
  std::optional<const double*> each_;
};

/// The searches of an index on a GPU, of points or of bits, for arrays that lie there. Each call checks what it can,
/// puts work into the stream and returns without waiting: the answers are there when the stream has done the work, and
/// until then the arrays and the index must live. The answers have the bytes of the host's searches. Copies are cheap;
/// every call is thread-safe.
///
/// What is on the GPU cannot be checked without waiting. So a query with NaN or infinity (or, under cosine or angular,
/// without direction) does not throw: it finds nothing, as with `skip_nonfinite`. So does one whose own radius is NaN
/// or negative.
///
/// All calls throw UsageError if an array is not in the memory of the index's GPU (memory managed by CUDA is fine) or
/// does not fit the points, DeviceError, OutOfMemory. Queries take dims + 1 values each of memory during a search,
/// those of bits their words and a value.
template <typename Of, typename View>
class KITH_EXPORT DeviceSearchOf {
 public:
  /// Shares the index. Throws UsageError unless it is on a GPU, or if it left out rows: their numbers are the host's.
  explicit DeviceSearchOf(Of index);

  const Of& index() const { return index_; }

  /// The k nearest points of each query: rows of k entries, missing ones with the number of points and infinity.
  /// `exact`, unless null, receives a flag per query: 1 if its list is certainly exact, else 0.
  void knn(View queries, std::uint32_t k, DeviceNumbers indices, DeviceDistances distances,
           const DeviceSearchOptions& options = {}, std::uint8_t* exact = nullptr) const;
  void knn_self(std::uint32_t k, DeviceNumbers indices, DeviceDistances distances,
                const DeviceSearchOptions& options = {}, std::uint8_t* exact = nullptr) const;

  /// How many points lie within the radius of each query. A radius search takes three steps: `count`, then `offsets`,
  /// whose last entry is the length of all lists, then `radius` with the same queries and options.
  void count(View queries, DeviceRadii radii, std::uint32_t* counts, const DeviceSearchOptions& options = {}) const;
  void count_self(DeviceRadii radii, std::uint32_t* counts, const DeviceSearchOptions& options = {}) const;
  /// lists + 1 sums: offsets[i] is that of the counts before i.
  void offsets(const std::uint32_t* counts, std::uint64_t lists, std::uint64_t* offsets,
               const DeviceSearchOptions& options = {}) const;
  /// The list of query q is written to [offsets[q], offsets[q + 1]), ordered by (distance, index).
  void radius(View queries, DeviceRadii radii, const std::uint64_t* offsets, DeviceNumbers indices,
              DeviceDistances distances, const DeviceSearchOptions& options = {}) const;
  void radius_self(DeviceRadii radii, const std::uint64_t* offsets, DeviceNumbers indices, DeviceDistances distances,
                   const DeviceSearchOptions& options = {}) const;

  /// The same `count` numbers, of boxes or counts, in 64 bits.
  void widen(const std::uint32_t* numbers, std::uint64_t count, std::int64_t* wide,
             const DeviceSearchOptions& options = {}) const;
  /// Flags as DeviceSearchOptions::allowed has them: bit i % 64 of word i / 64 is whether flags[i] is not 0.
  void pack(const std::uint8_t* flags, std::uint64_t count, std::uint64_t* words,
            const DeviceSearchOptions& options = {}) const;

 protected:
  const StateOf<View>& state() const { return *index_.state_; }

 private:
  Of index_;
};

/// Searches of points, in boxes too.
class KITH_EXPORT DeviceSearch : public DeviceSearchOf<Index, PointView> {
 public:
  using DeviceSearchOf::DeviceSearchOf;

  /// The points inside boxes, faces included, by ascending index, in the same three steps. The rows of both corners lie
  /// side by side; a box with NaN is empty.
  void box_count(PointView lower, PointView upper, std::uint32_t* counts,
                 const DeviceSearchOptions& options = {}) const;
  void box(PointView lower, PointView upper, const std::uint64_t* offsets, std::uint32_t* indices,
           const DeviceSearchOptions& options = {}) const;
};

/// Searches of rows of bits. A BitView of queries is of memory of the GPU; distances are float.
using DeviceBitSearch = DeviceSearchOf<BitIndex, BitView>;

}  // namespace kith::inline v0
