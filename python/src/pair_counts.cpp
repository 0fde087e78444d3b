// Two trees are walked at once. Between two cells the distances of all pairs lie between two bounds; where no radius
// lies between these, all pairs are counted by one product.
//
// Distances are the reduced distances of the library (docs/guarantees.md), and bounds of cells are computed by the same
// steps, which are monotone under rounding: no pair is counted otherwise than alone.
#include "pair_counts.hpp"

#include "thread_count.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>
#include <type_traits>
#include <utility>

namespace kith::python {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kTasks = 512;                // the same for any number of threads, so that sums are, too
constexpr std::size_t kMostPartialSums = 1 << 22;  // bounds the memory of tasks where radii are many
constexpr std::uint32_t kVisitsBetweenLooks = 1 << 10;

struct L2 {
  double step(double sum, double way) const { return std::fma(way, way, sum); }
  /// Nearly the same, where a fused multiply-add is a call of a function.
  double rough_step(double sum, double way) const { return sum + way * way; }
};
struct L1 {
  double step(double sum, double way) const { return sum + way; }
};
struct Linf {
  double step(double sum, double way) const { return std::max(sum, way); }
};
struct Lp {
  Metric metric;
  double step(double sum, double way) const { return sum + metric.power(way); }
};

/// The largest reduced distance whose distance is at most `radius`; negative if there is none.
double reduced_bound(Metric metric, double radius) {
  if (!(radius >= 0)) return -1;
  if (metric.kind() == Metric::Kind::lp) return metric.power(radius);
  if (metric.kind() != Metric::Kind::l2 || std::isinf(radius)) return radius;
  double bound = radius * radius;
  while (std::sqrt(bound) > radius) bound = std::nextafter(bound, 0.0);
  for (double next = bound; (next = std::nextafter(next, kInfinity)) < kInfinity && std::sqrt(next) <= radius;)
    bound = next;
  return bound;
}

struct NodePair {
  std::int64_t first;
  std::int64_t second;
  std::int64_t times = 1;  // 2: the pair stands for itself and its mirror image
};

/// The weights of one tree in the order of its places, and their sums over nodes.
struct Weights {
  Weights(const SpatialTree& tree, std::span<const double> given) {
    for (const std::int64_t index : tree.indices()) places.push_back(given[static_cast<std::size_t>(index)]);
    nodes.resize(tree.nodes().size(), 0);
    for (std::size_t i = nodes.size(); i-- > 0;) {  // children have larger numbers
      const TreeNode& node = tree.nodes()[i];
      if (node.is_leaf()) {
        for (std::int64_t at = node.start; at < node.end; ++at) nodes[i] += places[static_cast<std::size_t>(at)];
      } else {
        nodes[i] = nodes[static_cast<std::size_t>(node.lesser)] + nodes[static_cast<std::size_t>(node.greater)];
      }
    }
  }

  std::vector<double> places;
  std::vector<double> nodes;
};

/// `kDims` is 0 where the number of dimensions is known at run time only.
template <typename Norm, typename Sum, std::uint32_t kDims, bool kPeriodic>
class PairWalk {
 public:
  PairWalk(const PairRequest& request, Norm norm, const Weights* first, const Weights* second)
      : first_(request.first),
        second_(request.second),
        norm_(norm),
        first_weights_(first),
        second_weights_(second),
        is_mirrored_(&request.first == &request.second && first == second),
        rough_error_(4 * (request.first.dims() + 1.0) * std::numeric_limits<double>::epsilon()) {
    for (const double radius : request.radii) bounds_.push_back(reduced_bound(request.metric, radius));
    for (const double length : request.period) lengths_.push_back(length > 0 ? length : kInfinity);
  }

  std::vector<Sum> run(const PairRequest& request) {
    std::vector<Sum> total(bounds_.size(), Sum(0));
    if (first_.size() == 0 || second_.size() == 0 || bounds_.empty()) return total;
    const std::vector<NodePair> tasks =
        cut_work(std::max<std::size_t>(1, std::min(kTasks, kMostPartialSums / bounds_.size())), total);
    std::vector<std::vector<Sum>> parts(tasks.size());
    std::atomic<std::size_t> next{0};
    std::atomic<bool> is_stopped{false};
    const auto work = [&](const ProgressCallback* progress) {
      Visit visit{{}, is_stopped, progress};
      for (std::size_t task; !is_stopped && (task = next.fetch_add(1)) < tasks.size();) {
        visit.sums.assign(bounds_.size(), Sum(0));
        walk(tasks[task], visit);
        parts[task] = visit.sums;
      }
    };
    {
      const std::size_t cores = thread_count(request.threads);
      std::vector<std::jthread> helpers;
      for (std::size_t i = 1; i < std::min(cores, tasks.size()); ++i) helpers.emplace_back([&] { work(nullptr); });
      work(request.progress ? &request.progress : nullptr);
    }
    if (is_stopped) throw Interrupted();
    for (const std::vector<Sum>& part : parts) {
      for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
    }
    return total;
  }

 private:
  /// What one thread adds up.
  struct Visit {
    std::vector<Sum> sums;
    std::atomic<bool>& is_stopped;
    const ProgressCallback* progress;
    std::uint32_t visits = 0;

    bool goes_on() {
      if (++visits % kVisitsBetweenLooks == 0 && progress != nullptr && !(*progress)(Progress{})) is_stopped = true;
      return !is_stopped;
    }
  };

  std::uint32_t dims() const { return kDims == 0 ? first_.dims() : kDims; }

  template <typename Step>
  double sum_of(const double* a, const double* b, Step&& step) const {
    double sum = 0;
    for (std::uint32_t d = 0; d < dims(); ++d) {
      double way = std::abs(a[d] - b[d]);
      if constexpr (kPeriodic) way = std::min(way, lengths_[d] - way);
      sum = step(sum, way);
    }
    return sum;
  }

  std::size_t bin_of_points(const double* a, const double* b, std::size_t first_bin, std::size_t last_bin) const {
    if constexpr (requires { norm_.rough_step(0.0, 0.0); }) {
      const double rough = sum_of(a, b, [&](double sum, double way) { return norm_.rough_step(sum, way); });
      const double slack = rough * rough_error_ + std::numeric_limits<double>::min();
      const std::size_t bin = bin_of(rough - slack, first_bin, last_bin);
      if (bin == last_bin || rough + slack <= bounds_[bin]) return bin;
    }
    const double reduced = sum_of(a, b, [&](double sum, double way) { return norm_.step(sum, way); });
    return bin_of(reduced, first_bin, last_bin);
  }

  /// The least and the largest reduced distance of a pair of points in two boxes, or bounds of these.
  std::pair<double, double> range_of(const double* a, const double* b) const {
    double least = 0, most = 0;
    for (std::uint32_t d = 0; d < dims(); ++d) {
      double near = std::max(std::max(a[d] - b[dims() + d], b[d] - a[dims() + d]), 0.0);
      double far = std::max(a[dims() + d] - b[d], b[dims() + d] - a[d]);
      if (kPeriodic && lengths_[d] < kInfinity) {
        const double around_near = lengths_[d] - far, around_far = lengths_[d] - near;
        far = std::min({far, around_far, lengths_[d] / 2});
        near = std::max(0.0, std::min(near, around_near));
      }
      least = norm_.step(least, near);
      most = norm_.step(most, far);
    }
    return {least, most};
  }

  /// The first bound that is not below a reduced distance.
  std::size_t bin_of(double reduced, std::size_t first, std::size_t end) const {
    if (end - first <= 8) {
      while (first < end && bounds_[first] < reduced) ++first;
      return first;
    }
    const auto begin = bounds_.begin();
    return static_cast<std::size_t>(std::lower_bound(begin + static_cast<std::ptrdiff_t>(first),
                                                     begin + static_cast<std::ptrdiff_t>(end), reduced) -
                                    begin);
  }

  Sum whole(const NodePair& pair) const {
    if constexpr (std::is_integral_v<Sum>) {
      return pair.times * node(first_, pair.first).size() * node(second_, pair.second).size();
    } else {
      return static_cast<double>(pair.times) * first_weights_->nodes[static_cast<std::size_t>(pair.first)] *
             second_weights_->nodes[static_cast<std::size_t>(pair.second)];
    }
  }

  static const TreeNode& node(const SpatialTree& tree, std::int64_t number) {
    return tree.nodes()[static_cast<std::size_t>(number)];
  }

  /// Adds the pair if all of it belongs to one bin, or to none. Else says between which bins it lies.
  bool is_resolved(const NodePair& pair, std::vector<Sum>& sums, std::size_t& first_bin, std::size_t& last_bin) const {
    const auto [least, most] = range_of(first_.box(pair.first), second_.box(pair.second));
    first_bin = bin_of(least, 0, bounds_.size());
    if (first_bin == bounds_.size()) return true;
    last_bin = bin_of(most, first_bin, bounds_.size());
    if (first_bin != last_bin) return false;
    sums[first_bin] += whole(pair);
    return true;
  }

  /// Calls visit(pair) for the halves of the larger cell with the other one. Not for two leaves.
  template <typename Visitor>
  void for_halves(const NodePair& pair, Visitor&& visit) const {
    const TreeNode& a = node(first_, pair.first);
    const TreeNode& b = node(second_, pair.second);
    if (is_mirrored_ && pair.first == pair.second) {
      visit(NodePair{a.lesser, a.lesser});
      visit(NodePair{a.lesser, a.greater, 2});
      visit(NodePair{a.greater, a.greater});
    } else if (!a.is_leaf() && (b.is_leaf() || a.size() >= b.size())) {
      visit(NodePair{a.lesser, pair.second, pair.times});
      visit(NodePair{a.greater, pair.second, pair.times});
    } else {
      visit(NodePair{pair.first, b.lesser, pair.times});
      visit(NodePair{pair.first, b.greater, pair.times});
    }
  }

  bool are_leaves(const NodePair& pair) const {
    return node(first_, pair.first).is_leaf() && node(second_, pair.second).is_leaf();
  }

  /// About so many pairs of nodes that are left to walk; what is resolved on the way is added.
  std::vector<NodePair> cut_work(std::size_t wanted, std::vector<Sum>& sums) const {
    std::vector<NodePair> level{{0, 0}};
    for (bool has_split = true; has_split && !level.empty() && level.size() < wanted;) {
      has_split = false;
      std::vector<NodePair> next;
      for (const NodePair& pair : level) {
        std::size_t first_bin = 0, last_bin = 0;
        if (is_resolved(pair, sums, first_bin, last_bin)) continue;
        if (are_leaves(pair)) {
          next.push_back(pair);
          continue;
        }
        for_halves(pair, [&](const NodePair& half) { next.push_back(half); });
        has_split = true;
      }
      level = std::move(next);
    }
    return level;
  }

  void walk(const NodePair& pair, Visit& visit) const {
    std::size_t first_bin = 0, last_bin = 0;
    if (is_resolved(pair, visit.sums, first_bin, last_bin) || !visit.goes_on()) return;
    if (are_leaves(pair)) return add_points(pair, first_bin, last_bin, visit.sums);
    for_halves(pair, [&](const NodePair& half) { walk(half, visit); });
  }

  void add_points(const NodePair& pair, std::size_t first_bin, std::size_t last_bin, std::vector<Sum>& sums) const {
    const TreeNode& a = node(first_, pair.first);
    const TreeNode& b = node(second_, pair.second);
    for (std::int64_t i = a.start; i < a.end; ++i) {
      for (std::int64_t j = b.start; j < b.end; ++j) {
        const std::size_t bin = bin_of_points(first_.row(i), second_.row(j), first_bin, last_bin);
        if (bin == bounds_.size()) continue;
        if constexpr (std::is_integral_v<Sum>) {
          sums[bin] += pair.times;
        } else {
          sums[bin] += static_cast<double>(pair.times) * first_weights_->places[static_cast<std::size_t>(i)] *
                       second_weights_->places[static_cast<std::size_t>(j)];
        }
      }
    }
  }

  const SpatialTree& first_;
  const SpatialTree& second_;
  Norm norm_;
  const Weights* first_weights_;
  const Weights* second_weights_;
  bool is_mirrored_;  // both trees and weights are the same: half of the pairs are enough
  std::vector<double> bounds_;
  double rough_error_;  // relative, more than both roundings together
  std::vector<double> lengths_;
};

template <typename Sum, typename Norm>
std::vector<Sum> walk_pairs(const PairRequest& request, Norm norm, const Weights* first, const Weights* second) {
  if (!request.period.empty()) return PairWalk<Norm, Sum, 0, true>(request, norm, first, second).run(request);
  switch (request.first.dims()) {
    case 2:
      return PairWalk<Norm, Sum, 2, false>(request, norm, first, second).run(request);
    case 3:
      return PairWalk<Norm, Sum, 3, false>(request, norm, first, second).run(request);
    default:
      return PairWalk<Norm, Sum, 0, false>(request, norm, first, second).run(request);
  }
}

template <typename Sum>
std::vector<Sum> add_up(const PairRequest& request, const Weights* first, const Weights* second) {
  switch (request.metric.kind()) {
    case Metric::Kind::l2:
      return walk_pairs<Sum>(request, L2{}, first, second);
    case Metric::Kind::l1:
      return walk_pairs<Sum>(request, L1{}, first, second);
    case Metric::Kind::linf:
      return walk_pairs<Sum>(request, Linf{}, first, second);
    case Metric::Kind::lp:
      return walk_pairs<Sum>(request, Lp{request.metric}, first, second);
    default:
      throw UsageError("pairs are counted under l2, l1, linf and lp only");
  }
}

}  // namespace

std::vector<std::int64_t> count_pairs(const PairRequest& request) {
  return add_up<std::int64_t>(request, nullptr, nullptr);
}

std::vector<double> weigh_pairs(const PairRequest& request, std::span<const double> first_weights,
                                std::span<const double> second_weights) {
  const Weights first(request.first, first_weights);
  if (&request.first == &request.second && first_weights.data() == second_weights.data()) {
    return add_up<double>(request, &first, &first);
  }
  const Weights second(request.second, second_weights);
  return add_up<double>(request, &first, &second);
}

}  // namespace kith::python
