// See classify.hpp. Neighbours do not depend on labels: one index holds the points and, numbered on, the queries; query
// i finds what is numbered below it. Then a walk over the lists in order labels each query with what those before it
// got.
#include "apps/allocate.hpp"
#include "apps/joined_points.hpp"
#include "apps/list_votes.hpp"
#include "apps/neighbor_search.hpp"
#include "core/metric/metric_params.hpp"
#include "runtime/time_spent.hpp"

#include <kith/apps/classify.hpp>
#include <kith/error.hpp>
#include <kith/memory_limit.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace kith::apps::inline v0 {
namespace {

/// What is known of a point or a labelled query; side by side, because both are looked up together.
struct Known {
  std::uint32_t label;
  std::uint32_t depth;  ///< of the chain that ends here; 0 for a point
};

/// Entries of lists that are looked up at a time.
constexpr std::uint64_t kLookedUpAtOnce = 1024;

/// Labels the queries of `lists`; their entries in `known` begin at `next`. What is known before a block of queries is
/// looked up in a loop of its own, so that many entries are on their way at a time; what the block adds, in order.
template <typename T>
void label_in_order(const Neighbors& lists, Known* known, std::uint64_t next, ListVotes& votes, double* shares,
                    std::uint32_t classes) {
  const std::uint32_t k = lists.k();
  const std::uint32_t* row = lists.indices().data();
  const T* distances = lists.distances().template values<T>().data();
  const std::uint64_t rows = std::max<std::uint64_t>(1, kLookedUpAtOnce / k);
  std::vector<Known> found(rows * k);
  std::vector<std::uint32_t>& labels = votes.labels();
  labels.resize(k);
  for (std::uint64_t begin = 0; begin < lists.queries(); begin += rows) {
    const std::uint64_t end = std::min(lists.queries(), begin + rows);
    // `missing` is the number after the last one, where `known` has an entry that means nothing.
    std::transform(row, row + (end - begin) * k, found.begin(), [known](std::uint32_t index) { return known[index]; });
    const Known* before = found.data();
    for (std::uint64_t q = begin; q < end; ++q, row += k, distances += k, before += k) {
      const std::uint32_t count = count_of_found(row, k, lists.missing());
      std::uint32_t depth = 0;
      for (std::uint32_t j = 0; j < count; ++j) {
        const Known* const neighbor = row[j] < next + begin ? before + j : known + row[j];
        labels[j] = neighbor->label;
        depth = std::max(depth, neighbor->depth);
      }
      known[next + q] = {votes.winner(count, labels.data(), distances, shares), depth + 1};
      if (shares != nullptr) shares += classes;
    }
  }
}

/// The index of both. Bad rows are named as the caller numbers them.
Index build_joint_index(const PointSet& joined, std::uint64_t points, const NeighborOptions& options,
                        NeighborWork& work) {
  const std::uint64_t queries = joined.rows() - points;
  try {
    return build_index(joined.view(), queries, options, work);
  } catch (const BadData&) {
    const BuildOptions plain{.engine = Engine::brute_force,
                             .device = Device::cpu(),
                             .metric = options.metric,
                             .metric_params = options.metric_params,
                             .threads = options.threads};
    Index::build(joined.view().slice(0, points), plain);
    try {
      Index::build(joined.view().slice(points, queries), plain);
    } catch (const BadData& error) {
      throw BadData(std::string("new ") + error.what());
    }
    throw;
  }
}

}  // namespace

Classified classify_sequential(PointView points, LabelView labels, PointView queries, const ClassifyOptions& options) {
  require_labels(labels, points.rows());
  require_weights(options);
  require_neighbors(options.k, points.rows() + (queries.empty() ? 0 : queries.rows() - 1), points.rows(),
                    queries.rows());
  Classified result;
  allocate(result.labels, queries.rows(), 1, "labels");
  if (options.want_shares) allocate(result.shares, queries.rows(), labels.classes, "shares");
  NeighborWork& work = result.work;
  PointSet joined;
  {
    const runtime::TimeSpent time(&work.build_ms);
    joined = join_points(points, queries, options.threads);
  }
  const MemoryLimit held(0, joined.bytes() + (joined.rows() + queries.rows()) * (sizeof(Known) + 4));
  const std::uint64_t train = points.rows();
  NeighborOptions joint = options;  // what is computed from points is computed from the known ones
  joint.metric_params = core::params_for(options.metric, options.metric_params, points);
  const Index index = build_joint_index(joined, train, joint, work);

  std::vector<Known> known;
  std::vector<std::uint32_t> index_below;
  allocate(known, joined.rows() + 1, 1, "labels");
  allocate(index_below, queries.rows(), 1, "bounds");
  for (std::uint64_t i = 0; i < train; ++i) known[i].label = labels.codes[i];
  std::iota(index_below.begin(), index_below.end(), static_cast<std::uint32_t>(train));

  ListVotes votes = std::move(make_votes(1, labels.classes, options).front());
  search_in_order(index, joined.view().slice(train, queries.rows()), index_below, options, "classifying", work,
                  [&](std::uint64_t first, const Neighbors& lists) {
                    double* const shares =
                        options.want_shares ? result.shares.data() + first * labels.classes : nullptr;
                    if (lists.dtype() == DType::f32) {
                      label_in_order<float>(lists, known.data(), train + first, votes, shares, labels.classes);
                    } else {
                      label_in_order<double>(lists, known.data(), train + first, votes, shares, labels.classes);
                    }
                  });
  for (std::uint64_t i = 0; i < queries.rows(); ++i) {
    result.labels[i] = known[train + i].label;
    result.depth = std::max<std::uint64_t>(result.depth, known[train + i].depth);
  }
  result.rounds = queries.empty() ? 0 : 1;
  return result;
}

}  // namespace kith::apps::inline v0
