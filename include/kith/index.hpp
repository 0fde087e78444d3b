// Build once, search many times. Nothing here includes a CUDA header.
#pragma once

#include <kith/device.hpp>
#include <kith/error.hpp>
#include <kith/metric.hpp>
#include <kith/neighbors.hpp>
#include <kith/point_set.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>
#include <kith/work_times.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::apps::inline v0 {
struct InOrderTree;  // kith/apps/tree_export.hpp
struct NodeTable;
}  // namespace kith::apps::inline v0

namespace kith::inline v0 {

template <typename View>
struct KITH_EXPORT StateOf;  // src/engine: index_state.hpp, bit_state.hpp, sequence_index.cpp

/// The ways to search. `automatic` takes the fastest one that this build has for the data.
enum class Engine : std::uint8_t { automatic, brute_force, kd_tree, cover_tree };

/// "auto", "brute", "kdtree" or "covertree".
KITH_EXPORT std::string_view name_of(Engine engine);
/// The reverse of `name_of`. Throws UsageError on anything else.
KITH_EXPORT Engine parse_engine(std::string_view text);

/// Which side a node of the k-d tree splits: the widest of its box, or x, y, z, x, … level by level.
enum class SplitRule : std::uint8_t { widest, cycle };

/// "widest" or "cycle".
KITH_EXPORT std::string_view name_of(SplitRule rule);
/// The reverse of `name_of`. Throws UsageError on anything else.
KITH_EXPORT SplitRule parse_split_rule(std::string_view text);

/// How a tree is built; answers are the same. `automatic` is the engine's own builder, the first one below.
///
/// k-d tree, every one the same tree: `histogram` selects by brackets from samples and counts. For comparison:
/// `presort` keeps sorted orders of all dimensions, `select` is a radix select, `segsort` sorts the nodes of each
/// level.
///
/// Cover tree: `batch`: every point goes to the nearest centre, and all centres of a level keep apart. `lists`, for
/// comparison: each centre splits the list of its points by itself into near and far ones, so that only the children of
/// one node keep apart.
enum class Builder : std::uint8_t { automatic, histogram, presort, select, segsort, batch, lists };

/// "auto", "histogram", "presort", "select", "segsort", "batch" or "lists".
KITH_EXPORT std::string_view name_of(Builder builder);
/// The reverse of `name_of`. Throws UsageError on anything else.
KITH_EXPORT Builder parse_builder(std::string_view text);

/// How an index is built. What is for points only must be left as it is elsewhere, else UsageError is thrown.
struct BuildOptions {
  Engine engine = Engine::automatic;
  /// The answers are the same on every device.
  Device device = Device::automatic();
  /// Of points; other contents have their own.
  Metric metric = Metric::l2();
  /// k-d tree only.
  SplitRule split = SplitRule::widest;
  /// Needs the engine that has it by name: UsageError for other engines, and on a GPU for one that runs on the CPU
  /// only.
  Builder builder = Builder::automatic;
  /// Trees only, up to 1024; 0 means a good one. k-d tree: the most points in a leaf. Cover tree: the most points that
  /// are left together without a look at how they lie; leaves that would not gain by it stay larger.
  std::uint32_t leaf_size = 0;
  /// Parameters of the metric. Under L1, L2, Linf and Lp weights of the dims, which a step is multiplied by; under
  /// seuclidean a variance for each; under mahalanobis the inverse covariance matrix, row by row. Empty: no weights, or
  /// what is computed from the points.
  std::vector<double> metric_params = {};
  /// Periodic axes (a torus), for L2, L1, Linf and Lp: the length of each axis, 0 for one that does not wrap; empty:
  /// none does. Points must lie in [0, length), queries are wrapped into it.
  std::vector<double> period = {};
  /// How many queries will come in all, if that is known: for a few, `automatic` scans instead of building a tree.
  /// 0: about as many as points.
  std::uint64_t expected_queries = 0;
  /// Leave out points with NaN or infinity instead of throwing; results keep the numbering of the caller.
  bool skip_nonfinite = false;
  /// Threads on the CPU; 0 means all cores.
  int threads = 0;
  ProgressCallback progress = {};
  /// Tells where the time went, if not null; must outlive the call.
  WorkTimes* times = nullptr;
};

/// What a build will take, known before it begins.
struct BuildPlan {
  Engine engine = Engine::brute_force;  ///< never `automatic`
  Device device;                        ///< never `automatic`
  /// Memory of that device: what the index keeps, and the most that is in use at a time while it is built, the index
  /// included. The caller's own points are not counted; on the CPU rows with gaps between them, or with some left out,
  /// are copied first and take their size once more.
  std::uint64_t index_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::string reason;  ///< why this engine and device, in a few lines for people
};

/// How an index is saved.
struct SaveOptions {
  /// Threads on the CPU; 0 means all cores.
  int threads = 0;
  ProgressCallback progress = {};
};

/// How an index file is loaded.
struct LoadOptions {
  Device device = Device::automatic();
  /// As in BuildOptions: for a few, `automatic` stays on the CPU.
  std::uint64_t expected_queries = 0;
  /// Threads on the CPU; 0 means all cores.
  int threads = 0;
  /// Search the file where it lies instead of reading and checking it: for files that you trust and that no one changes
  /// while they are in use. Header and table are checked, contents are not; a file that was made to deceive can then
  /// crash the process.
  bool map = false;
  ProgressCallback progress = {};
  /// Tells where the time went, if not null; must outlive the call.
  WorkTimes* times = nullptr;
};

/// How one search runs. The answer does not depend on `threads`.
///
/// Of the filters `allowed`, `earlier_only` and `index_below` any may be combined: a point must pass all.
struct SearchOptions {
  /// L2 only: return squared distances. Radii stay plain distances.
  bool squared = false;
  /// Return what searches compare instead of distances: squares under L2, the sums of powers under Lp, what L2 compares
  /// under cosine, angular, haversine, seuclidean and mahalanobis. Two of these are equal only if the tie is broken by
  /// the index, so lists of several indexes can be merged by them. Radii stay plain distances.
  bool reduced = false;
  /// Self-searches only: a point is not its own neighbour. Its duplicates still are.
  bool exclude_self = false;
  /// Radius search only: keep the nearest `max_neighbors` of each list; 0 keeps all.
  std::uint32_t max_neighbors = 0;
  /// kNN only: neighbours farther than this are missing. Not for inner products, which are not distances.
  double max_distance = std::numeric_limits<double>::infinity();
  /// kNN by a tree only: each distance may be up to (1 + eps) times the true one. Brute force stays exact, and so does
  /// a k-d tree where that is faster.
  double eps = 0;
  /// kNN by a k-d tree only: a query looks at no more leaves than this; 0 sets no bound. `Neighbors::is_exact` tells
  /// which answers are certain.
  std::uint32_t max_leaves = 0;
  /// Find only points whose bit is set: bit i % 64 of word i / 64 for point i; empty: all points.
  std::span<const std::uint64_t> allowed = {};
  /// Self-searches only: point i finds only points numbered below i.
  bool earlier_only = false;
  /// Searches with queries of their own: query q finds only points numbered below index_below[q]; empty: no bound.
  std::span<const std::uint32_t> index_below = {};
  /// Give queries with NaN or infinity no neighbours instead of throwing.
  bool skip_nonfinite = false;
  /// Threads on the CPU; 0 means all cores.
  int threads = 0;
  ProgressCallback progress = {};
  /// Tells where the time went, if not null; must outlive the call.
  WorkTimes* times = nullptr;
};

/// How far a radius search looks: equally far for all queries, or as far as each says. The radii must outlive it.
class KITH_EXPORT Radii {
 public:
  Radii(double all) : all_(all) {}                                    // NOLINT(google-explicit-constructor)
  Radii(std::span<const double> each) : each_(each) {}                // NOLINT(google-explicit-constructor)
  Radii(const std::vector<double>& each) : each_(std::span(each)) {}  // NOLINT(google-explicit-constructor)

  double all() const { return all_; }
  double of(std::size_t query) const { return each_ ? (*each_)[query] : all_; }
  /// Nothing if all have one.
  const std::optional<std::span<const double>>& each() const { return each_; }
  /// Those of the queries [first, first + count), as far as there are so many.
  Radii slice(std::size_t first, std::size_t count) const {
    if (!each_ || each_->size() < first) return *this;
    return each_->subspan(first, std::min(count, each_->size() - first));
  }

 private:
  double all_ = 0;
  std::optional<std::span<const double>> each_;
};

/// What every index offers, whatever it holds: points (`Index`), rows of bits (`BitIndex`) or strings and sets
/// (`SequenceIndex`), which are called points here too. An index is immutable; copies share it; every call is
/// thread-safe. Lists are ordered by (distance, index). `View` is how queries are handed in: they must fit the points
/// (type, dims, bits, kind of sequences), else UsageError is thrown.
template <typename Self, typename View>
class KITH_EXPORT SearchIndex {
 public:
  /// Reads an index that `save` wrote and checks all of it: checksums, then everything that a search relies on. Throws
  /// IoError, CorruptFile if the file is damaged, deceiving or of a version that this kith does not read, UsageError if
  /// it is an index of something else, OutOfMemory, DeviceError, Interrupted. O(n log n).
  static Self load(const std::string& path, const LoadOptions& options = {});
  /// The same from bytes that `to_bytes` made; they are copied. `map` is not for these: UsageError.
  static Self from_bytes(std::span<const std::byte> bytes, const LoadOptions& options = {});
  /// Writes the index to a file, whole or not at all: on any error the old file is untouched. The same index gives the
  /// same bytes, whatever the number of threads. Throws IoError, Interrupted.
  void save(const std::string& path, const SaveOptions& options = {}) const;
  /// The bytes that `save` writes.
  std::vector<std::byte> to_bytes(const SaveOptions& options = {}) const;

  /// The k nearest points of each query. Throws BadData on queries with NaN or infinity.
  Neighbors knn(View queries, std::uint32_t k, const SearchOptions& options = {}) const;
  /// The same with the points themselves as queries.
  Neighbors knn_self(std::uint32_t k, const SearchOptions& options = {}) const;
  /// The same into the caller's memory, without allocating the result: the neighbour of rank j of query q is entry
  /// q * k + j of both arrays, which have queries x k entries. Distances have the type of the points; those of bits and
  /// sequences are float. `exact`, unless empty, receives a flag per query: 1 if its list is certainly exact, else 0.
  /// Throws UsageError if an array has another size or type. After an exception the arrays hold anything.
  void knn(View queries, std::uint32_t k, std::span<std::uint32_t> indices, DistanceSpan distances,
           const SearchOptions& options = {}, std::span<std::uint8_t> exact = {}) const;
  void knn_self(std::uint32_t k, std::span<std::uint32_t> indices, DistanceSpan distances,
                const SearchOptions& options = {}, std::span<std::uint8_t> exact = {}) const;

  /// The k = indices.size() nearest points of the only row of `query`, on the caller's thread. Returns how many were
  /// found; the rest is filled as in `knn`.
  std::uint32_t knn_one(View query, std::span<std::uint32_t> indices, DistanceSpan distances,
                        SearchOptions options = {}) const;

  /// All points whose distance from the query is at most the radius: a double, or one for each query (points in a
  /// self-search, those left out included) in a span or a vector. Throws UsageError if there are more or fewer, if one
  /// is negative or NaN, and under the inner product, as all searches by radius.
  NeighborLists radius(View queries, const Radii& radii, const SearchOptions& options = {}) const;
  NeighborLists radius_self(const Radii& radii, const SearchOptions& options = {}) const;

  /// Calls `visit(query, index, distance)` for all that `radius` finds, query by query, nearest first, holding the
  /// lists of a few thousand queries at a time instead of all.
  template <typename Visit>
  void for_each_within(View queries, const Radii& radii, Visit&& visit, SearchOptions options = {}) const {
    constexpr std::uint64_t kQueriesAtATime = 4096;
    const std::span<const std::uint32_t> below = options.index_below;
    if (!below.empty() && below.size() != queries.rows())
      throw UsageError("index_below: one number per query is needed");
    for (std::uint64_t first = 0; first < queries.rows(); first += kQueriesAtATime) {
      const std::uint64_t count = std::min(kQueriesAtATime, queries.rows() - first);
      if (!below.empty()) options.index_below = below.subspan(first, count);
      const NeighborLists found = radius(queries.slice(first, count), radii.slice(first, count), options);
      for (std::uint64_t q = 0; q < count; ++q) {
        for (const auto [index, distance] : found[q]) visit(first + q, index, distance);
      }
    }
  }

  /// How many points lie within the radius of each query.
  std::vector<std::uint32_t> count(View queries, const Radii& radii, const SearchOptions& options = {}) const;
  std::vector<std::uint32_t> count_self(const Radii& radii, const SearchOptions& options = {}) const;

  /// Points as the caller numbers them, those left out included.
  std::uint64_t size() const;
  /// Never `automatic`: what was chosen.
  Engine engine() const;
  /// Never `automatic`: what was chosen.
  Device device() const;
  /// Bytes that the index holds, on the device and on the host.
  std::uint64_t memory_bytes() const;
  /// Why this engine and device, and what the index holds, in a few lines for people.
  std::string explain() const;
  /// Which path a kNN search takes on this device, and why a faster one does not apply, in a few words for people: of
  /// so many queries, or, without their number, of the points themselves. Arrays of the options are not read. Throws
  /// UsageError as the search does.
  std::string explain_knn(std::uint32_t k, std::optional<std::uint64_t> queries = {},
                          const SearchOptions& options = {}) const;
  /// The same for radius searches and counts.
  std::string explain_radius(std::optional<std::uint64_t> queries = {}, const SearchOptions& options = {}) const;
  /// Checks also what no search relies on: that a cover tree is nested, covers and separates as it must. Returns what
  /// is wrong first, with the two points and their distance; empty if nothing is. All else was checked when the index
  /// was built or loaded. For trees it takes longer than loading.
  std::string first_violation() const;

 protected:
  template <typename Of, typename OfView>
  friend class DeviceSearchOf;
  explicit SearchIndex(std::shared_ptr<const StateOf<View>> state) : state_(std::move(state)) {}
  std::shared_ptr<const StateOf<View>> state_;
};

/// An immutable set of points prepared for search. Queries on a GPU are copied to the host; DeviceSearch
/// (kith/device_search.hpp) leaves them and the answers there.
class KITH_EXPORT Index : public SearchIndex<Index, PointView> {
 public:
  /// Copies `points`. Throws BadData on NaN or infinity (and on zero vectors under cosine and angular), UsageError for
  /// an engine that is not there or does not know the metric, DeviceError if the device is missing, OutOfMemory, on a
  /// GPU before anything is allocated. Brute force: O(n d), k-d tree: O(n log n). A cover tree, for points of many dims
  /// that lie on few, takes all metrics but Lp and the inner product, takes no periodic axes, and must be requested.
  ///
  /// The points may lie on a GPU; the work that writes them must have ended, or be in CUDA's default stream. A build on
  /// that GPU reads them where they lie; under cosine and angular, with periodic axes, with rows to leave out, and for
  /// every other device they are copied to the host first.
  static Index build(PointView points, const BuildOptions& options = {});
  /// What `build` would take for that many points in host memory, without allocating anything. Throws UsageError,
  /// DeviceError.
  static BuildPlan plan(std::uint64_t rows, std::uint32_t dims, DType dtype, const BuildOptions& options = {});

  /// An index of the points of an exported tree, which may come from another program, with the numbers that they have
  /// in it. Answers are those of an index of the points that it was made from; of a unique tree, without the points
  /// that were left out. The tree is checked first (apps::verify_tree_alone; a table needs the points that it was made
  /// from, see apps::in_order), and BadData names what is wrong with it. A k-d tree on the CPU takes the order over
  /// instead of building, in O(n dims); every other choice of engine, device and metric builds from the points. Only
  /// approximate searches, and saving, build the usual tree, once. Throws as `build` does.
  static Index from_tree(const apps::InOrderTree& tree, const BuildOptions& options = {});
  static Index from_tree(const apps::NodeTable& table, PointView points, const BuildOptions& options = {});

  using SearchIndex::knn_one;
  /// The same without allocating memory or starting threads, for callers that ask one by one; all are of the type of
  /// the points, else UsageError is thrown. Of the options all but `skip_nonfinite`, `threads`, `progress` and `times`
  /// are obeyed. Memory is allocated only if points were left out and `allowed` is given.
  std::uint32_t knn_one(std::span<const float> query, std::span<std::uint32_t> indices, std::span<float> distances,
                        const SearchOptions& options = {}) const;
  std::uint32_t knn_one(std::span<const double> query, std::span<std::uint32_t> indices, std::span<double> distances,
                        const SearchOptions& options = {}) const;

  /// The points inside each box, its faces included: lower[b] <= point <= upper[b] in every dimension, by ascending
  /// index. Infinite faces are allowed; a box with lower > upper is empty. Throws UsageError unless `holds_points`, or
  /// with periodic axes, BadData on NaN; with `skip_nonfinite` a box with NaN finds nothing.
  PointLists box(PointView lower, PointView upper, const SearchOptions& options = {}) const;
  /// How many points lie inside each box.
  std::vector<std::uint32_t> box_count(PointView lower, PointView upper, const SearchOptions& options = {}) const;

  /// A copy of the points, `size()` rows in the caller's order. Rows that were left out hold NaN; unless
  /// `holds_points` the rows are those that are searched: normalised, scaled, or unit vectors. Throws OutOfMemory.
  PointSet points(int threads = 0) const;
  std::uint32_t dims() const;
  DType dtype() const;
  Metric metric() const;
  /// BuildOptions::metric_params, or what was computed from the points.
  const std::vector<double>& metric_params() const;
  /// Whether the rows that are searched are the points themselves: not under cosine, angular, haversine, seuclidean and
  /// mahalanobis, nor with weights.
  bool holds_points() const;
  /// Points left out because of NaN or infinity.
  std::uint64_t skipped() const;

 private:
  friend class SearchIndex<Index, PointView>;
  explicit Index(std::shared_ptr<const StateOf<PointView>> state);
};

}  // namespace kith::inline v0
