// What the kernels of a build of a cover tree work on. Plain data; all arrays are in device memory.
//
// Positions: the objects of open cells lie cell by cell, in a cell by ascending rank. Distances are kept as doubles,
// those that are only raised or compared as their bits, which are in the same order.
#pragma once

#include "core/cover_geometry.hpp"
#include "cuda/cover_tree/spaces/space.cuh"
#include "cuda/cover_tree/tuning.hpp"
#include "engine/cover_tree/cover_tree.hpp"

#include <bit>
#include <cstdint>

namespace kith::cuda::cover {

using core::CoverRounding;
using engine::CoverNode;

inline constexpr std::uint32_t kOwner = 0xffffffff;  ///< in place of a new centre: the owner of before

KITH_HOST_DEVICE inline double number_of(std::uint64_t bits) { return std::bit_cast<double>(bits); }
KITH_HOST_DEVICE inline std::uint64_t bits_of(double number) { return std::bit_cast<std::uint64_t>(number); }

/// Objects by position.
struct Objects {
  std::uint32_t* number = nullptr;
  std::uint32_t* cell = nullptr;
  double* distance = nullptr;  ///< from the centre of the cell
};

/// Cells, by the numbers of their nodes.
struct Cells {
  std::uint32_t* first = nullptr;   ///< position of the first object, and of the end behind the last cell
  std::uint32_t* centre = nullptr;  ///< an object's number
  std::uint32_t* node = nullptr;    ///< the newest one
  std::uint32_t* origin = nullptr;  ///< the cell of the level above that it was made of
  std::uint64_t* reach = nullptr;   ///< bits of the largest distance
};

/// Where objects go at a level.
struct Moves {
  double* distance = nullptr;       ///< from the nearest centre so far; 0 for new centres
  std::uint32_t* centre = nullptr;  ///< the new centre, or kOwner
};

/// The new cells that were made of each old one lie side by side.
struct Kids {
  std::uint32_t* begin = nullptr;
  std::uint32_t* end = nullptr;
};

/// For each cell the others that its objects may have to do with, itself included.
struct NeighborLists {
  std::uint64_t* starts = nullptr;
  std::uint32_t* counts = nullptr;
  std::uint32_t* cells = nullptr;
  float* distances = nullptr;  ///< between the centres, rounded down
};

/// What is known of objects in closed cells, by number.
struct LeafObjects {
  std::uint32_t* node = nullptr;
  double* distance = nullptr;
};

/// The candidates that a round looks at, by position: the undecided ones of the lowest ranks.
struct Prefix {
  std::uint32_t* before = nullptr;        ///< for each position how many lie before it, and all
  std::uint32_t* positions = nullptr;     ///< of the candidates
  std::uint32_t* states = nullptr;        ///< of the candidates: a State
  std::uint32_t* taken_before = nullptr;  ///< for each candidate how many new centres lie before it, and all
  std::uint32_t* taken = nullptr;         ///< the round's new centres: numbers; by lists positions
};
enum State : std::uint32_t { kUndecided = 0, kCentre = 1, kCovered = 2 };

/// What kernels tell the host.
struct Counters {
  std::uint64_t widest = 0;  ///< bits of the largest distance in open cells
  std::uint64_t evaluations = 0;
  std::uint32_t open = 0;       ///< cells
  std::uint32_t largest = 0;    ///< objects in an open cell
  std::uint32_t undecided = 0;  ///< candidates
  std::uint32_t prefix = 0;     ///< candidates that a round looks at
  std::uint32_t cells = 0;      ///< that stay open
  std::uint32_t objects = 0;    ///< in those
  std::uint32_t centres = 0;    ///< new ones of a level
  std::uint32_t grown = 0;      ///< new nodes of a level
};

/// The objects and open cells of a level, for kernels that measure.
struct LevelView {
  PlainRows plain = {};
  ArrangedRows rows = {};  ///< by position
  Objects objects = {};
  Cells cells = {};
  std::uint32_t object_count = 0;
  std::uint32_t cell_count = 0;
  double radius = 0;
  Counters* counters = nullptr;
};

struct RootTask {
  PlainRows plain = {};
  ArrangedRows rows = {};
  Objects objects = {};
  std::uint32_t count = 0;
  std::uint64_t* reach = nullptr;
  Counters* counters = nullptr;
};

/// Pairs among the samples of cells.
struct SampleTask {
  LevelView level = {};
  const std::uint32_t* starts = nullptr;  ///< for each cell how many sampled objects are in those before
  std::uint64_t* close = nullptr;         ///< per cell
};

struct NeighborTask {
  LevelView level = {};
  double most_apart = 0;
  bool is_counting = false;  ///< lists.counts only
  bool has_old = false;      ///< else any two cells may be neighbours
  NeighborLists old = {};    ///< of the cells of the level above
  Kids kids = {};            ///< of those
  NeighborLists lists = {};
  std::uint32_t first_cell = 0;  ///< lists of cells first_cell .. end_cell
  std::uint32_t end_cell = 0;
};

/// For candidates or objects of the cells first_cell .. end_cell, which have lists.
struct RoundTask {
  LevelView level = {};
  NeighborLists lists = {};
  std::uint32_t first_cell = 0;
  std::uint32_t end_cell = 0;
  Prefix prefix = {};
  std::uint32_t prefix_count = 0;
  Moves moves = {};
  const std::uint32_t* tiles_before = nullptr;  ///< for each cell the tiles in those before, and all
  std::uint32_t most_tiles = 0;
};

/// Objects of a node that are not in its first child, in pieces of kTile.
struct ReachTask {
  PlainRows plain = {};
  ArrangedRows rows = {};  ///< in the order of the tree
  const CoverNode* nodes = nullptr;
  std::uint32_t node_count = 0;
  const std::uint32_t* pieces_before = nullptr;  ///< for each node, and all
  std::uint64_t* reach = nullptr;                ///< bits, per node
  Counters* counters = nullptr;
};

/// What a build must let a space do. Each is one launch, in stream order.
class CoverMeasures {
 public:
  virtual ~CoverMeasures() = default;
  virtual CoverRounding rounding() const = 0;
  /// Above it arithmetic no longer tells distances.
  virtual double most_distance() const = 0;
  /// Distances are floats, in doubles.
  virtual bool is_float() const = 0;
  virtual void measure_root(const RootTask& task) = 0;
  virtual void count_close(const SampleTask& task) = 0;
  virtual void list_neighbors(const NeighborTask& task) = 0;
  virtual void resolve_prefix(const RoundTask& task) = 0;
  virtual void move_objects(const RoundTask& task) = 0;
  virtual void take_near(const RoundTask& task) = 0;
  virtual void measure_reach(const ReachTask& task) = 0;
};

}  // namespace kith::cuda::cover
