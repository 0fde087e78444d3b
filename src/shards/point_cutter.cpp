// The points of one participant while cuts are found: which node each is in, and what a round counts of them. See
// kith/shards/cut.hpp.
//
//   bytes per point   2: its node
//   passes            2 over all points for each level of the tree, the other rounds over those near a cut
#include "core/dispatch.hpp"
#include "runtime/parallel.hpp"
#include "shards/cut_bins.hpp"

#include <kith/error.hpp>
#include <kith/shards/cut.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace kith::shards::inline v0 {
namespace {

/// Nodes are numbered by 16 bits: 4096 shards have 8191.
constexpr std::uint16_t kLeftOut = PointCutter::kNoShard;
constexpr std::uint64_t kRowsPerTask = std::uint64_t{1} << 16;
/// About what a row of a pass takes, so that few and long tasks get threads.
constexpr double kNanosecondsPerRow = 5;

}  // namespace

struct PointCutter::State {
  virtual ~State() = default;
  virtual std::vector<std::uint64_t> counts(const CutPlan& plan) = 0;
  virtual std::span<const std::uint64_t> counted_rows() const = 0;
  virtual std::vector<std::uint64_t> shard_counts(const CutPlan& plan) = 0;
  virtual std::span<const std::uint16_t> shards_of(const CutPlan& plan) = 0;
  virtual ShardPoints points_of(const CutPlan& plan, std::uint32_t shard) = 0;
};

namespace {

template <typename T>
class CutterOf final : public PointCutter::State {
 public:
  CutterOf(const NumberedPoints& points, const CutRules& rules, int threads)
      : points_(points), threads_(threads), node_of_(points.points.rows(), 0) {
    if (node_of_.empty()) return;
    rows_.emplace(points.points, rules);
    if (!rules.skip_nonfinite) return;
    in_tasks([&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        if (!rows_->map().takes(points_.points.row<T>(i))) node_of_[i] = kLeftOut;
      }
    });
  }

  std::vector<std::uint64_t> counts(const CutPlan& plan) override {
    std::vector<std::uint64_t> sums(plan.counts(), 0);
    if (node_of_.empty()) return sums;
    std::vector<CountedCut> cuts(plan.nodes().size());  // of each node
    for (std::size_t i = 0; i < plan.unknown().size(); ++i) {
      const std::uint32_t node = plan.unknown()[i];
      cuts[node] = CountedCut(plan.nodes()[node].cut, i * kBins);
    }
    const bool goes_on = !plan.is_first_of_level() && near_round_ + 1 == plan.rounds();
    if (goes_on) {
      count_near(cuts, sums);
    } else {
      count_all(plan, cuts, sums);
    }
    near_round_ = plan.is_first_of_level() ? kNoRound : plan.rounds();
    return sums;
  }

  std::span<const std::uint64_t> counted_rows() const override { return near_; }

  std::span<const std::uint16_t> shards_of(const CutPlan& plan) override {
    finish(plan);
    return node_of_;
  }

  std::vector<std::uint64_t> shard_counts(const CutPlan& plan) override {
    finish(plan);
    std::vector<std::uint64_t> counts(plan.shards(), 0);
    for (const auto& task : task_counts_) {
      for (std::uint32_t shard = 0; shard < plan.shards(); ++shard) counts[shard] += task[shard];
    }
    return counts;
  }

  ShardPoints points_of(const CutPlan& plan, std::uint32_t shard) override {
    finish(plan);
    std::vector<std::uint64_t> places(task_counts_.size() + 1, 0);
    for (std::size_t task = 0; task < task_counts_.size(); ++task) {
      places[task + 1] = places[task] + task_counts_[task][shard];
    }
    const PointView view = points_.points;
    ShardPoints found{PointSet(view.dtype(), places.back(), view.dims()), std::vector<std::uint64_t>(places.back())};
    T* rows = found.points.values<T>().data();
    in_tasks([&](std::uint64_t task, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t place = places[task];
      if (place == places[task + 1]) return;
      for (std::uint64_t i = begin; i < end; ++i) {
        if (node_of_[i] != shard) continue;
        std::copy_n(view.row<T>(i), view.dims(), rows + place * view.dims());
        found.numbers[place++] = points_.number_of(i);
      }
    });
    return found;
  }

 private:
  static constexpr std::uint32_t kNoRound = 0xfffffffe;

  template <typename Task>
  void in_tasks(const Task& task) const {
    const std::uint64_t rows = node_of_.size();
    runtime::parallel_for((rows + kRowsPerTask - 1) / kRowsPerTask,
                          {.threads = threads_, .nanoseconds_per_task = kNanosecondsPerRow * kRowsPerTask},
                          [&](std::uint64_t i) { task(i, i * kRowsPerTask, std::min(rows, (i + 1) * kRowsPerTask)); });
  }

  /// Down from the node that the point was in to the lowest that there is.
  std::uint16_t node_of(const CutPlan& plan, std::uint16_t node, const T* row, std::uint64_t number) const {
    while (plan.nodes()[node].left != 0) {
      const CutPlan::Node& inner = plan.nodes()[node];
      node = static_cast<std::uint16_t>(is_left(inner.cut, row, number, rows_->dims()) ? inner.left : inner.right);
    }
    return node;
  }

  /// The counts of each thread: those of the first one are the sums.
  class ThreadCounts {
   public:
    ThreadCounts(int threads, std::vector<std::uint64_t>& sums)
        : sums_(sums), others_(static_cast<std::size_t>(threads)) {}
    std::uint64_t* of(int thread) {
      if (thread == 0) return sums_.data();
      auto& own = others_[static_cast<std::size_t>(thread)];
      if (own.empty()) own.assign(sums_.size(), 0);
      return own.data();
    }
    void add_up() {
      for (const auto& own : others_) {
        for (std::size_t i = 0; i < own.size(); ++i) sums_[i] += own[i];
      }
    }

   private:
    std::vector<std::uint64_t>& sums_;
    std::vector<std::vector<std::uint64_t>> others_;
  };

  template <typename Task>
  void count_in_tasks(std::uint64_t tasks, std::vector<std::uint64_t>& sums, const Task& task) const {
    ThreadCounts counts(runtime::resolve_threads(threads_), sums);
    runtime::parallel_for_workers(
        tasks, {.threads = threads_, .nanoseconds_per_task = kNanosecondsPerRow * kRowsPerTask},
        [&](std::uint64_t i, runtime::Worker& worker) { task(i, counts.of(worker.thread())); });
    counts.add_up();
  }

  void count_all(const CutPlan& plan, const std::vector<CountedCut>& cuts, std::vector<std::uint64_t>& sums) {
    const std::uint64_t rows = node_of_.size(), tasks = (rows + kRowsPerTask - 1) / kRowsPerTask;
    const bool collects = !plan.is_first_of_level();
    std::vector<std::vector<std::uint64_t>> near(collects ? tasks : 0);
    count_in_tasks(tasks, sums, [&](std::uint64_t task, std::uint64_t* counts) {
      std::vector<T> scratch(rows_->dims());
      const std::uint64_t end = std::min(rows, (task + 1) * kRowsPerTask);
      for (std::uint64_t i = task * kRowsPerTask; i < end; ++i) {
        if (node_of_[i] == kLeftOut) continue;
        const T* row = rows_->at(i, scratch.data());
        const std::uint64_t number = points_.number_of(i);
        node_of_[i] = node_of(plan, node_of_[i], row, number);
        const CountedCut& cut = cuts[node_of_[i]];
        if (cut.cut == nullptr || !count_point(cut, row, number, rows_->dims(), counts)) continue;
        if (collects) near[task].push_back(i);
      }
    });
    near_.clear();
    for (const auto& some : near) near_.insert(near_.end(), some.begin(), some.end());
  }

  /// Of the points near a cut, and forgets those that no longer are.
  void count_near(const std::vector<CountedCut>& cuts, std::vector<std::uint64_t>& sums) {
    const std::uint64_t rows = near_.size(), tasks = (rows + kRowsPerTask - 1) / kRowsPerTask;
    std::vector<std::uint64_t> kept(tasks, 0);
    count_in_tasks(tasks, sums, [&](std::uint64_t task, std::uint64_t* counts) {
      std::vector<T> scratch(rows_->dims());
      const std::uint64_t begin = task * kRowsPerTask, end = std::min(rows, begin + kRowsPerTask);
      std::uint64_t to = begin;
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint64_t point = near_[i];
        const CountedCut& cut = cuts[node_of_[point]];
        if (cut.cut == nullptr) continue;
        const T* row = rows_->at(point, scratch.data());
        if (count_point(cut, row, points_.number_of(point), rows_->dims(), counts)) near_[to++] = point;
      }
      kept[task] = to - begin;
    });
    std::uint64_t all = 0;
    for (std::uint64_t task = 0; task < tasks; ++task) {
      const auto first = near_.begin() + static_cast<std::ptrdiff_t>(task * kRowsPerTask);
      std::copy_n(first, kept[task], near_.begin() + static_cast<std::ptrdiff_t>(all));
      all += kept[task];
    }
    near_.resize(all);
  }

  /// From nodes to shards.
  void finish(const CutPlan& plan) {
    if (!plan.is_done()) throw UsageError("cut: the plan is not done");
    if (is_finished_ || node_of_.empty()) return;
    near_ = {};
    const std::uint64_t rows = node_of_.size();
    task_counts_.assign((rows + kRowsPerTask - 1) / kRowsPerTask, std::vector<std::uint64_t>(plan.shards(), 0));
    in_tasks([&](std::uint64_t task, std::uint64_t begin, std::uint64_t end) {
      std::vector<T> scratch(rows_->dims());
      for (std::uint64_t i = begin; i < end; ++i) {
        if (node_of_[i] == kLeftOut) continue;
        const T* row = rows_->at(i, scratch.data());
        const std::uint16_t node = node_of(plan, node_of_[i], row, points_.number_of(i));
        node_of_[i] = static_cast<std::uint16_t>(plan.nodes()[node].first_shard);
        ++task_counts_[task][node_of_[i]];
      }
    });
    is_finished_ = true;
  }

  NumberedPoints points_;
  std::optional<SearchedRows<T>> rows_;  ///< none without points
  int threads_;
  std::vector<std::uint16_t> node_of_;   ///< the node of each point; of shards, once it is finished
  std::vector<std::uint64_t> near_;      ///< rows near the cuts of this level
  std::uint32_t near_round_ = kNoRound;  ///< the round that they were collected for
  bool is_finished_ = false;
  std::vector<std::vector<std::uint64_t>> task_counts_;  ///< points of each shard in each task
};

}  // namespace

PointCutter::PointCutter(const NumberedPoints& points, const CutRules& rules, int threads)
    : state_(core::visit_dtype(points.points.dtype(), [&](auto zero) -> std::unique_ptr<State> {
        return std::make_unique<CutterOf<decltype(zero)>>(points, rules, threads);
      })) {}
PointCutter::PointCutter(PointCutter&&) noexcept = default;
PointCutter& PointCutter::operator=(PointCutter&&) noexcept = default;
PointCutter::~PointCutter() = default;

std::vector<std::uint64_t> PointCutter::counts(const CutPlan& plan) { return state_->counts(plan); }
std::span<const std::uint64_t> PointCutter::counted_rows() const { return state_->counted_rows(); }
std::span<const std::uint16_t> PointCutter::shards_of(const CutPlan& plan) { return state_->shards_of(plan); }
std::vector<std::uint64_t> PointCutter::shard_counts(const CutPlan& plan) { return state_->shard_counts(plan); }
ShardPoints PointCutter::points_of(const CutPlan& plan, std::uint32_t shard) { return state_->points_of(plan, shard); }

}  // namespace kith::shards::inline v0
