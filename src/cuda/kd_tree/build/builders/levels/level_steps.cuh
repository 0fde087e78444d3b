// The builders `select` and `segsort` on a GPU: all nodes of a level together while they are large, then subtrees in
// shared memory. The result is the numbers of the points in tree order, and the splits.
//
//   step, per level (2^24 points of 4 dims of f32)      bytes per point              floor at 4 TB/s    predicted
//   boxes, every sixth level                            4 + d T read in sectors      0.15 ms            0.3 ms
//   select: digits                                      4 + 32 read, 4 written       0.16 ms            0.35 ms
//           candidates, pivots                          4 read, 1 in 100 listed      0.02 ms            0.06 ms
//           moves                                       8 read, 4 written            0.05 ms            0.10 ms
//   segsort: keys                                       4 + 32 read, 4 written       0.16 ms            0.35 ms
//            sort, 16 to 29 bits                        16 + 16 per 8 bits           0.10 to 0.20 ms    0.3 to 0.6 ms
//            middles                                    few                          0                  0.05 ms
//   subtrees of 2048 points, once                       d T per level, from L2       0.7 ms             2.5, 4 ms
//
// Above them are 13 levels: 3.0 ms at least and 10 predicted for `select`, 5 and 16 for `segsort`. A coordinate is
// gathered by number, a sector of 32 bytes each; points that move with their coordinates would read less, and take
// more memory.
#pragma once

#include "cuda/kd_tree/build/builders/gather_points.cuh"
#include "cuda/kd_tree/build/builders/levels/level_kernels.cuh"
#include "cuda/kd_tree/build/builders/levels/sorted_levels.cuh"
#include "cuda/kd_tree/build/builders/levels/split_subtrees.cuh"

#include <utility>

namespace kith::cuda {

/// `Device`: StepDevice, or what stands for it in tests.
template <typename T, typename Device>
class LevelSteps {
 public:
  /// `select`, or `segsort` if it sorts.
  LevelSteps(Device& device, const LevelTask<T>& task, bool sorts) : device_(device), task_(task), sorts_(sorts) {
    lay_out_levels(task_, sorts);
  }

  /// Does not wait for the last steps.
  ArrangedPoints<T> run() {
    const core::KdGeometry& geometry = task_.shape.geometry;
    const std::uint32_t levels = levels_above(task_.shape, task_.subtree_points);
    if (geometry.points == 0) return gathered(device_, task_, task_.numbers);
    const std::uint64_t blocks = (geometry.points + kLevelThreads - 1) / kLevelThreads;
    launch("boxes", number_points<T>,
           static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, device_.resident_blocks())), 0);
    find_boxes();  // of the root: also whether coordinates are finite
    std::uint32_t refused = 0;
    device_.read(&refused, task_.refused, sizeof refused);
    if (refused != 0) return {.points = {}, .is_refused = true};
    device_.zero(task_.histogram, histogram_digits(task_) * sizeof(std::uint32_t));
    for (; task_.level < levels; ++task_.level) {
      const std::uint64_t nodes = std::uint64_t{1} << task_.level;
      if (task_.level > 0) find_boxes();
      task_.digit_bits = digit_bits_of(geometry.points >> task_.level);
      device_.zero(task_.cursors, nodes * kLevelCursors * sizeof(std::uint32_t));
      launch("boxes", begin_nodes<T>, warps(nodes), 0);
      if (sorts_) {
        sort_level();
      } else {
        select_level();
      }
    }
    const auto kernel = sorts_ ? split_subtrees<T, true> : split_subtrees<T, false>;
    const std::uint32_t bytes = sorts_ ? SubtreeShared<T, true>(nullptr).bytes : SubtreeShared<T, false>(nullptr).bytes;
    if (task_.level < geometry.levels) launch("subtrees", kernel, 1u << task_.level, bytes);
    return gathered(device_, task_, task_.numbers);
  }

 private:
  static constexpr std::size_t kDigitBytes = sizeof(std::uint32_t) << kBlockDigitBits;

  void launch(const char* phase, void (*kernel)(LevelTask<T>), std::uint32_t blocks, std::size_t shared_bytes) {
    device_.phase(phase);
    device_.launch(kernel, blocks, kLevelThreads, shared_bytes, task_);
  }
  static std::uint32_t warps(std::uint64_t nodes) {
    return static_cast<std::uint32_t>((nodes + kLevelWarps - 1) / kLevelWarps);
  }
  std::uint32_t nodes() const { return 1u << task_.level; }
  std::uint32_t tiles() const { return nodes() * task_.parts; }

  void find_boxes() {
    const std::uint64_t most = core::KdGeometry{task_.shape.geometry.points, task_.level}.most_per_leaf();
    task_.parts = static_cast<std::uint32_t>(std::max<std::uint64_t>((most + kLevelTile - 1) / kLevelTile, 1));
    if (task_.level % core::kTightBoxEvery != 0) return;
    device_.zero(task_.box(task_.level, 0), nodes() * (2 * sizeof(T)) * task_.shape.dims);
    launch("boxes", find_tight_boxes<T>, tiles(), 256);
  }

  /// Rounds of counting until no list is long, from task_.round on.
  void narrow_candidates() {
    std::uint32_t open = 1;
    for (; open != 0; ++task_.round) {
      launch("digits", count_digits<T>, tiles(), kDigitBytes);
      device_.zero(task_.open, sizeof open);
      launch("candidates", choose_digits<T>, warps(nodes()), 0);
      launch("candidates", list_candidates<T>, tiles(), sizeof(MoveShared));
      device_.read(&open, task_.open, sizeof open);
    }
  }
  void split_and_move() {
    launch("pivots", find_pivots<T>, nodes(), sizeof(CrewCells<T>) + kDigitBytes);
    launch("moves", move_points_of_nodes<T>, tiles(), sizeof(MoveShared));
  }

  void select_level() {
    task_.lists[0] = task_.other_numbers;
    task_.round = 0;
    narrow_candidates();
    split_and_move();
    std::swap(task_.numbers, task_.other_numbers);
  }

  void sort_level() {
    launch("keys", make_sorted_keys<T>, tiles(), 0);
    device_.phase("sort");
    using Pairs = KeyedPairs<std::uint32_t>;
    const Pairs sorted = device_.sort(
        Pairs{task_.sorted_keys[0], task_.numbers}, Pairs{task_.sorted_keys[1], task_.other_numbers},
        static_cast<std::uint32_t>(task_.shape.geometry.points), 0, sorted_bits_at(task_.level) + task_.level);
    if (sorted.keys != task_.sorted_keys[0]) std::swap(task_.sorted_keys[0], task_.sorted_keys[1]);
    if (sorted.values != task_.numbers) std::swap(task_.numbers, task_.other_numbers);
    device_.zero(task_.open, sizeof(std::uint32_t));
    launch("middles", search_among_sorted<T>, warps(nodes()), 0);
    launch("middles", copy_equal<T>, tiles(), 0);
    std::uint32_t open = 0;
    device_.read(&open, task_.open, sizeof open);
    task_.lists[0] = task_.numbers;
    task_.lists[1] = task_.sorted_keys[0];
    task_.round = 1;
    if (open != 0) narrow_candidates();
    split_and_move();
  }

  Device& device_;
  LevelTask<T> task_;
  bool sorts_;
};

}  // namespace kith::cuda
