// See classify.hpp: the lists of all queries, then a vote for each, all at once.
#include <kith/apps/classify.hpp>

#include "apps/list_votes.hpp"
#include "apps/neighbor_search.hpp"
#include "apps/allocate.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>

namespace kith::apps::inline v0 {
namespace {

/// Neighbours that one task looks at.
constexpr std::uint64_t kVotesPerTask = std::uint64_t{1} << 14;

template <typename T>
void vote_at_once(const Neighbors& lists, std::uint64_t first, LabelView labels, const ClassifyOptions& options,
                  std::vector<ListVotes>& votes, Classified& result) {
  const std::uint32_t* const indices = lists.indices().data();
  const T* const distances = lists.distances().values<T>().data();
  const std::uint64_t k = lists.k();
  const std::uint64_t rows = std::max<std::uint64_t>(1, kVotesPerTask / k);
  const std::uint64_t tasks = (lists.queries() + rows - 1) / rows;
  runtime::parallel_for_workers(tasks, {.threads = options.threads}, [&](std::uint64_t task, runtime::Worker& worker) {
    ListVotes& own = votes[static_cast<std::size_t>(worker.thread())];
    const std::uint64_t end = std::min(lists.queries(), (task + 1) * rows);
    // Looked up in a loop of its own, many labels are on their way at a time.
    own.labels().resize(rows * k);
    std::transform(indices + task * rows * k, indices + end * k, own.labels().begin(),
                   [codes = labels.codes.data()](std::uint32_t index) { return codes[index]; });
    const std::uint32_t* list = own.labels().data();
    for (std::uint64_t q = task * rows; q < end; ++q, list += k) {
      double* const shares = options.want_shares ? result.shares.data() + (first + q) * labels.classes : nullptr;
      result.labels[first + q] = own.winner(lists.k(), list, distances + q * k, shares);
    }
  });
}

}  // namespace

Classified classify(PointView points, LabelView labels, PointView queries, const ClassifyOptions& options) {
  require_labels(labels, points.rows());
  require_weights(options);
  require_neighbors(options.k, points.rows(), points.rows(), queries.rows());
  Classified result;
  allocate(result.labels, queries.rows(), 1, "labels");
  if (options.want_shares) allocate(result.shares, queries.rows(), labels.classes, "shares");
  const Index index = build_index(points, queries.rows(), options, result.work);
  std::vector<ListVotes> votes = make_votes(runtime::resolve_threads(options.threads), labels.classes, options);
  search_in_order(index, queries, {}, options, "classifying", result.work,
                  [&](std::uint64_t first, const Neighbors& lists) {
                    if (lists.dtype() == DType::f32) {
                      vote_at_once<float>(lists, first, labels, options, votes, result);
                    } else {
                      vote_at_once<double>(lists, first, labels, options, votes, result);
                    }
                  });
  return result;
}

}  // namespace kith::apps::inline v0
