// Builds a cover tree on a device: the order of the kernels. The host leads from level to level and from round to
// round; it reads a few counters after each.
//
// Cost, for n objects, L levels, about 3 + log4(largest cell / 32) rounds on each: some 40 launches and 4 readbacks per
// level, 15 launches and one readback per round, 40 launches at the end. Evaluations: n for the root, 2 per object and
// level to tell whether splits pay, cells x neighbours twice for the lists, tiles x new centres nearby, and objects x
// new centres that can be nearer than what they have, which is most of it; at the end one per object and level. On a
// level each object's row is gathered once (two passes over the rows), and read from the first cache afterwards. Sorts
// take 24 bytes per object and byte of the keys.
//
// By lists, cells do not have to do with each other: each is its only neighbour, and take_near moves objects. Per level
// an object is measured from the new centres of its cell of lower rank than the one that takes it, at most: the least
// that any order of the same work needs. A warp measures until its last object is taken, as long as in the other
// builder, where every object needs the nearest of all; what is saved are neighbours.
//
// `Device` launches kernels, sorts, zeroes, reads and writes memory in stream order; `read` waits.
#pragma once

#include "cuda/cover_tree/build/build_plan.hpp"
#include "cuda/cover_tree/build/finish_tree.cuh"
#include "cuda/cover_tree/build/list_neighbors.cuh"
#include "cuda/cover_tree/build/new_cells.cuh"
#include "cuda/cover_tree/build/take_prefix.cuh"
#include "cuda/cover_tree/cover_rules.hpp"
#include "cuda/primitives/sums_before.cuh"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::cuda::cover {

/// Where the finished tree goes, besides CoverScratch::nodes.
struct CoverOutput {
  std::uint32_t* row_words = nullptr;  ///< arranged rows: of open cells during the build, in the tree's order at last
  std::uint32_t* order = nullptr;
  double* distances = nullptr;
};

template <typename Device>
class CoverBuild {
 public:
  CoverBuild(Device& device, CoverMeasures& measures, const CoverScratch& scratch, const CoverOutput& output,
             PlainRows plain, std::uint32_t count, const CoverRules& rules)
      : device_(device),
        measures_(measures),
        s_(scratch),
        output_(output),
        plain_(plain),
        rows_{output.row_words, plain.stride},
        count_(count),
        rules_(rules),
        rounding_(measures.rounding()) {}

  /// Returns how many nodes there are. At least one object.
  std::uint32_t run() {
    device_.zero(s_.counters, sizeof(Counters));
    start();
    while (open_level()) {
      choose_centres();
      make_cells();
    }
    finish();
    return node_count_;
  }

 private:
  static constexpr double kFirstInCell = 32;  ///< candidates of the largest cell that the first round of a level takes
  static constexpr double kGrowth = 4;        ///< of their share from round to round
  static constexpr int kSettlings = 3;        ///< per round; candidates that wait longer are in the next one, too

  template <typename Kernel, typename... Arguments>
  void per_thread(Kernel kernel, std::uint64_t count, const Arguments&... arguments) {
    if (count == 0) return;
    device_.launch(kernel, static_cast<std::uint32_t>((count + kThreads - 1) / kThreads), kThreads, std::size_t{0},
                   arguments...);
  }
  auto launcher() {
    return [this](auto kernel, std::uint32_t blocks, std::uint32_t threads, std::size_t shared,
                  const auto&... arguments) { device_.launch(kernel, blocks, threads, shared, arguments...); };
  }
  void sums_before(const std::uint32_t* values, std::uint64_t count, std::uint32_t* out) {
    launch_sums_before(values, count, s_.sums, out, true, launcher());
  }
  static std::uint32_t bits_below(std::uint64_t end) { return end < 2 ? 1u : std::uint32_t(std::bit_width(end - 1)); }

  template <typename V>
  V read(const V* from) {
    V value;
    device_.read(&value, from, sizeof(V));
    return value;
  }
  LevelView view(std::uint32_t which, std::uint32_t objects, std::uint32_t cells) {
    return {plain_, rows_, s_.objects[which], s_.cells[which], objects, cells, radius_, s_.counters};
  }

  void add_batch(std::uint32_t nodes) {
    if (nodes == 0) return;
    node_count_ += nodes;
    batches_.push_back(node_count_);
  }

  void arrange(const std::uint32_t* numbers, std::uint32_t count) {
    per_thread(arrange_rows, count, plain_, numbers, count, output_.row_words);
  }

  void start() {
    device_.phase("root");
    per_thread(key_by_rank, count_, count_, s_.pairs[0]);
    const SortPairs by_rank = device_.sort(s_.pairs[0], s_.pairs[1], count_, 0, 32);
    const Objects& objects = s_.objects[1];
    const Cells& cells = s_.cells[1];
    per_thread(write_root, count_, by_rank.values, count_, objects, s_.ranked[1], cells);
    arrange(objects.number, count_);
    measures_.measure_root({plain_, rows_, objects, count_, cells.reach, s_.counters});
    const double reach = number_of(read(cells.reach));
    is_told_ = reach <= measures_.most_distance();
    CoverNode root;
    root.centre = read(objects.number);
    root.lowest = 0xffffffff;
    root.level = reach > 0 && std::isfinite(reach) ? core::cover_level_below(reach) + 1 : 0;
    device_.write(s_.nodes, &root, sizeof(root));
    node_count_ = 1;
    batches_ = {0, 1};
    fresh_objects_ = count_;
    fresh_cells_ = 1;
  }

  /// Closes cells and puts together what stays open. False if nothing does.
  bool open_level() {
    device_.phase("close");
    const Cells& fresh = s_.cells[1];
    std::uint32_t* is_open = s_.cell_flags[0];
    std::uint32_t* sizes = s_.cell_flags[1];
    device_.zero(&s_.counters->widest, sizeof(s_.counters->widest));
    device_.zero(&s_.counters->open, 2 * sizeof(std::uint32_t));  // and the largest
    const std::uint32_t leaf_size = is_told_ ? rules_.leaf_size : count_;
    per_thread(close_small, fresh_cells_, fresh, fresh_cells_, leaf_size, 64 * rounding_.absolute, is_open,
               s_.counters);
    Counters counters = read(s_.counters);
    add_batch(counters.grown);
    if (counters.open > 0) {
      level_ = core::cover_level_below(number_of(counters.widest));
      radius_ = core::cover_radius(level_);
      per_thread(size_samples, fresh_cells_, fresh, fresh_cells_, radius_, is_open, sizes, s_.close);
      sums_before(sizes, fresh_cells_, s_.cell_before[0]);
      device_.phase("split test");
      measures_.count_close({view(1, fresh_objects_, fresh_cells_), s_.cell_before[0], s_.close});
      device_.phase("close");
    } else {
      device_.zero(sizes, fresh_cells_ * sizeof(std::uint32_t));
    }
    std::uint32_t* staying = s_.cell_before[2];
    per_thread(close_sparse, fresh_cells_, fresh, fresh_cells_, sizes, s_.close, is_open, staying, s_.counters);
    std::uint32_t* index = s_.cell_before[0];
    std::uint32_t* first = s_.cell_before[1];
    sums_before(is_open, fresh_cells_, index);
    sums_before(staying, fresh_cells_, first);
    const Compaction how{is_open, index, first};
    per_thread(keep_open_cells, std::uint64_t{fresh_cells_} + 1, fresh, fresh_cells_, how, s_.cells[0], sizes, s_.nodes,
               s_.node_reach, s_.counters);
    per_thread(keep_open_objects, fresh_objects_, s_.objects[1], fresh, fresh_objects_, how, s_.objects[0], s_.moves,
               s_.leaves);
    per_thread(flag_ranked, fresh_objects_, s_.ranked[1], s_.objects[1].cell, fresh_objects_, is_open, s_.flags);
    sums_before(s_.flags, fresh_objects_, s_.before);
    per_thread(keep_ranked, fresh_objects_, s_.ranked[1], s_.objects[1], fresh, fresh_objects_, how, s_.before,
               s_.ranked[0]);
    const std::uint32_t open_before = cells_;
    counters = read(s_.counters);
    cells_ = counters.cells;
    objects_ = counters.objects;
    largest_ = counters.largest;
    if (cells_ == 0) return false;
    if (has_level_) per_thread(keep_open_kids, open_before, s_.kids, open_before, index);
    sums_before(sizes, cells_, s_.tiles_before);
    arrange(s_.objects[0].number, objects_);
    list_cells();
    has_level_ = true;
    return true;
  }

  NeighborTask neighbor_task(std::uint32_t first_cell, std::uint32_t end_cell) {
    return {.level = view(0, objects_, cells_),
            .most_apart = most_apart(radius_, rounding_),
            .is_counting = false,
            .has_old = is_complete_,
            .old = s_.lists[1 - now_],
            .kids = s_.kids,
            .lists = s_.lists[now_],
            .first_cell = first_cell,
            .end_cell = end_cell};
  }

  /// The lists of all cells if there is room, else none yet.
  void list_cells() {
    device_.phase("neighbours");
    now_ = 1 - now_;
    if (rules_.is_by_lists()) {
      per_thread(list_own_cells, cells_, s_.lists[now_], cells_);
      is_complete_ = true;
      return;
    }
    NeighborTask task = neighbor_task(0, cells_);
    task.is_counting = true;
    measures_.list_neighbors(task);
    NeighborLists& lists = s_.lists[now_];
    launch_sums_before(lists.counts, std::uint64_t{cells_}, s_.long_sums, lists.starts, true, launcher());
    const bool fits = read(lists.starts + cells_) <= s_.list_capacity;
    task.is_counting = false;
    if (fits) measures_.list_neighbors(task);
    is_complete_ = fits;
  }

  /// Calls work(first, end) with cells that have lists.
  template <typename Work>
  void with_lists(const char* phase, Work&& work) {
    if (is_complete_) {
      device_.phase(phase);
      work(0u, cells_);
      return;
    }
    const std::uint32_t slice = static_cast<std::uint32_t>(std::min<std::uint64_t>(s_.list_capacity / cells_, cells_));
    for (std::uint32_t first = 0; first < cells_; first += slice) {
      const std::uint32_t end = std::min(cells_ - first, slice) + first;
      device_.phase("neighbours");
      per_thread(start_lists, end - first, s_.lists[now_].starts, first, end, cells_);
      measures_.list_neighbors(neighbor_task(first, end));
      device_.phase(phase);
      work(first, end);
    }
  }

  void choose_centres() {
    const std::uint32_t* numbers = s_.objects[0].number;
    double share = kFirstInCell / largest_;
    for (;; share *= kGrowth) {
      device_.phase("prefix");
      const auto below = static_cast<std::uint64_t>(std::min(share, 1.0) * 0x1p32);
      device_.zero(&s_.counters->undecided, 2 * sizeof(std::uint32_t));
      per_thread(flag_candidates, objects_, numbers, s_.moves, objects_, radius_, below, s_.flags, s_.counters);
      sums_before(s_.flags, objects_, s_.prefix.before);
      per_thread(take_candidates, objects_, s_.flags, objects_, s_.prefix, s_.counters);
      const Counters counters = read(s_.counters);
      if (counters.undecided == 0) return;
      if (counters.prefix > 0) run_round(counters.prefix);
    }
  }

  void run_round(std::uint32_t candidates) {
    RoundTask task{.level = view(0, objects_, cells_),
                   .lists = s_.lists[now_],
                   .first_cell = 0,
                   .end_cell = 0,
                   .prefix = s_.prefix,
                   .prefix_count = candidates,
                   .moves = s_.moves,
                   .tiles_before = s_.tiles_before,
                   .most_tiles = static_cast<std::uint32_t>(objects_ / kTile + std::uint64_t{cells_})};
    for (int i = 0; i < kSettlings; ++i) {
      with_lists("resolve", [&](std::uint32_t first, std::uint32_t end) {
        task.first_cell = first;
        task.end_cell = end;
        measures_.resolve_prefix(task);
      });
    }
    device_.phase("prefix");
    per_thread(flag_centres, candidates, s_.prefix.states, candidates, s_.flags);
    sums_before(s_.flags, candidates, s_.prefix.taken_before);
    per_thread(take_centres, candidates, s_.objects[0].number, s_.prefix, candidates, s_.moves, rules_.is_by_lists());
    with_lists("move", [&](std::uint32_t first, std::uint32_t end) {
      task.first_cell = first;
      task.end_cell = end;
      rules_.is_by_lists() ? measures_.take_near(task) : measures_.move_objects(task);
    });
  }

  void make_cells() {
    device_.phase("new cells");
    const Objects& objects = s_.objects[0];
    const Cells& cells = s_.cells[0];
    per_thread(flag_new_centres, objects_, objects.number, s_.moves, objects_, s_.flags);
    sums_before(s_.flags, objects_, s_.before);
    const std::uint32_t number_bits = bits_below(count_);
    per_thread(key_new_centres, objects_, objects, s_.flags, s_.before, objects_, number_bits, s_.pairs[0],
               s_.counters);
    const std::uint32_t centres = read(&s_.counters->centres);
    const SortPairs sorted_centres =
        device_.sort(s_.pairs[0], s_.pairs[1], centres, 0, number_bits + bits_below(cells_));
    per_thread(count_kids, cells_, cells, cells_, s_.before, s_.cell_flags[0], s_.cell_flags[1]);
    sums_before(s_.cell_flags[0], cells_, s_.cell_before[0]);
    sums_before(s_.cell_flags[1], cells_, s_.cell_before[1]);
    const Growth growth{.old = cells,
                        .old_count = cells_,
                        .centres_before = s_.before,
                        .stays_before = s_.cell_before[0],
                        .grows_before = s_.cell_before[1],
                        .fresh = s_.cells[1],
                        .kids = s_.kids,
                        .nodes = s_.nodes,
                        .node_count = node_count_,
                        .level = level_,
                        .counters = s_.counters};
    per_thread(write_old_cells, cells_, growth);
    per_thread(write_new_cells, centres, growth, objects, sorted_centres, centres, s_.cell_of);
    fresh_cells_ = cells_ + centres;
    fresh_objects_ = objects_;
    per_thread(key_objects, objects_, objects, s_.ranked[0], s_.moves, objects_, s_.kids.begin, s_.cell_of,
               s_.pairs[0]);
    const SortPairs sorted_objects = device_.sort(s_.pairs[0], s_.pairs[1], objects_, 0, bits_below(fresh_cells_));
    per_thread(place_objects, objects_, objects, s_.ranked[0], s_.moves, sorted_objects, objects_, s_.objects[1],
               s_.ranked[1], s_.cells[1], fresh_cells_);
  }

  void finish() {
    device_.phase("order");
    const std::uint32_t nodes = node_count_;
    per_thread(lower_leaves, count_, s_.leaves.node, count_, s_.nodes);
    for (std::size_t b = batches_.size() - 1; b > 1; --b) {
      per_thread(add_to_parents, batches_[b] - batches_[b - 1], s_.nodes, batches_[b - 1], batches_[b]);
    }
    for (std::size_t b = 1; b < batches_.size(); ++b) {
      per_thread(place_children, std::uint64_t{batches_[b] - batches_[b - 1]} * kWarp, s_.nodes, batches_[b - 1],
                 batches_[b]);
    }
    // Distances that are floats have 29 bits of zeros in the end.
    per_thread(key_by_distance, count_, s_.leaves.distance, count_, s_.pairs[0]);
    SortPairs pairs = device_.sort(s_.pairs[0], s_.pairs[1], count_, measures_.is_float() ? 24 : 0, 64);
    per_thread(key_by_leaf, count_, s_.leaves.node, s_.nodes, count_, pairs);
    const bool are_first = pairs.keys == s_.pairs[0].keys;
    pairs = device_.sort(pairs, s_.pairs[are_first ? 1 : 0], count_, 0, bits_below(count_));
    per_thread(write_order, count_, pairs.values, s_.leaves.distance, count_, output_.order, output_.distances);
    arrange(output_.order, count_);

    device_.phase("reach");
    per_thread(count_pieces, nodes, s_.nodes, nodes, s_.flags, s_.node_reach);
    sums_before(s_.flags, nodes, s_.before);
    measures_.measure_reach({plain_, rows_, s_.nodes, nodes, s_.before, s_.node_reach, s_.counters});
    for (std::size_t b = batches_.size() - 1; b > 0; --b) {
      per_thread(raise_parents, batches_[b] - batches_[b - 1], s_.nodes, s_.node_reach, batches_[b - 1], batches_[b]);
    }
    device_.phase("");
  }

  Device& device_;
  CoverMeasures& measures_;
  CoverScratch s_;
  CoverOutput output_;
  PlainRows plain_;
  ArrangedRows rows_;
  std::uint32_t count_;
  CoverRules rules_;
  CoverRounding rounding_;

  bool is_told_ = true;  ///< whether arithmetic tells distances
  bool has_level_ = false;
  bool is_complete_ = false;  ///< whether all cells of the level have lists
  std::uint32_t now_ = 0;     ///< which lists are those of the level
  std::int32_t level_ = 0;
  double radius_ = 0;
  std::uint32_t cells_ = 0, objects_ = 0, largest_ = 0;  ///< open ones
  std::uint32_t fresh_cells_ = 0, fresh_objects_ = 0;    ///< before they are looked at
  std::uint32_t node_count_ = 0;
  std::vector<std::uint32_t> batches_;  ///< where the nodes of each level begin, and all end
};

}  // namespace kith::cuda::cover
