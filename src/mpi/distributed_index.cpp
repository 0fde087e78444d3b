// Builds the shards of all ranks, and searches them for the queries of each. See kith/mpi/distributed_index.hpp.
#include "mpi/index_state.hpp"

#include <kith/error.hpp>
#include <kith/shards/cut.hpp>

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace kith::mpi::inline v0 {
namespace {

using shards::CutPlan;
using shards::CutRules;
using shards::NumberedPoints;
using shards::PointCutter;
using shards::PointFacts;
using shards::Shard;
using shards::ShardFacts;
using shards::ShardMap;
using shards::ShardPoints;

/// What all ranks must agree on: these rules, and the number behind a rank's points.
class Builder {
 public:
  Builder(DistributedIndex::State& state, PointView local, const BuildOptions& options)
      : state_(state),
        ranks_(state.ranks),
        options_(options),
        rules_(CutRules::of(static_cast<std::uint32_t>(ranks_.size()), options)),
        local_(local) {}

  void run() {
    number_points();
    const PointFacts facts = join_facts();
    // A rank without points may have no type or dims of its own.
    if (local_.empty()) local_ = PointView(nullptr, facts.dtype, 0, facts.dims, facts.dims);
    CutPlan plan = ranks_.agree([&] { return CutPlan(facts, rules_); });
    PointCutter cutter = ranks_.agree([&] { return PointCutter(points(), rules_, state_.threads); });
    find_cuts(plan, cutter);
    std::vector<ShardPoints> parts = move_points(plan, cutter);
    state_.shard.emplace(ranks_.agree([&] {
      look("building");
      BuildOptions own = options_;
      own.threads = state_.threads;
      return Shard::build(std::exchange(parts, {}), rules_, own);
    }));
    const std::vector<Bytes> told = ranks_.gather([&] { return state_.shard->facts().to_bytes(); });
    state_.map = ranks_.agree([&] {
      std::vector<ShardFacts> of_shards;
      for (const Bytes& bytes : told) of_shards.push_back(ShardFacts::from_bytes(bytes));
      return ShardMap(facts, rules_, std::move(of_shards));
    });
  }

 private:
  NumberedPoints points() const { return {.points = local_, .first_number = state_.first_number()}; }

  void look(std::string_view stage) const {
    if (options_.progress && !options_.progress({stage, 0, 0})) throw Interrupted();
  }

  void number_points() {
    state_.starts = {0};
    for (const std::uint64_t rows : ranks_.gather_number(local_.rows())) {
      state_.starts.push_back(state_.starts.back() + rows);
    }
  }

  PointFacts join_facts() {
    ShardMap rules;  // the only message that has them
    rules.rules = rules_;
    ranks_.require_same(rules.to_bytes(), "options");
    const std::vector<Bytes> told = ranks_.gather([&] {
      if (options_.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options_.threads));
      look("counting");
      return PointFacts::of(points(), rules_, state_.threads).to_bytes();
    });
    return ranks_.agree([&] {
      std::vector<PointFacts> parts;
      for (const Bytes& bytes : told) parts.push_back(PointFacts::from_bytes(bytes));
      return PointFacts::joined(parts);
    });
  }

  void find_cuts(CutPlan& plan, PointCutter& cutter) const {
    while (!plan.is_done()) {
      const std::vector<std::uint64_t> sums = ranks_.sum(plan.counts(), [&] {
        look("counting");
        return cutter.counts(plan);
      });
      ranks_.agree([&] { plan.take(sums); });
    }
  }

  /// What the shard of this rank gets from each rank.
  std::vector<ShardPoints> move_points(const CutPlan& plan, PointCutter& cutter) {
    ShardPoints own;
    Incoming moved = ranks_.exchange([&] {
      look("moving points");
      Outgoing outgoing = ranks_.outgoing();
      state_.shard_of.assign(local_.rows(), DistributedIndex::State::kLeftOut);
      for (std::uint32_t shard = 0; shard < plan.shards(); ++shard) {
        ShardPoints some = cutter.points_of(plan, shard);
        for (const std::uint64_t number : some.numbers) {
          state_.shard_of[number - state_.first_number()] = static_cast<std::uint16_t>(shard);
        }
        if (shard == state_.own_shard()) {
          own = std::move(some);  // without points it still has their type and dims
        } else if (!some.numbers.empty()) {
          outgoing.to[shard] = some.to_bytes();
        }
      }
      return outgoing;
    });
    return ranks_.agree([&] {
      std::vector<ShardPoints> parts;
      for (Bytes& bytes : moved.from) {
        if (!bytes.empty()) parts.push_back(ShardPoints::from_bytes(std::exchange(bytes, {})));
      }
      if (!own.numbers.empty() || parts.empty()) parts.push_back(std::move(own));
      return parts;
    });
  }

  DistributedIndex::State& state_;
  const Communicator& ranks_;
  const BuildOptions& options_;
  CutRules rules_;
  PointView local_;
};

}  // namespace

DistributedIndex::DistributedIndex(std::shared_ptr<const State> state) : state_(std::move(state)) {}

DistributedIndex DistributedIndex::build(MPI_Comm ranks, PointView local, const BuildOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto state = std::make_shared<State>(ranks);
  state->threads = state->ranks.share_of_cores(options.threads);
  Builder(*state, local, options).run();
  if (options.times != nullptr) {
    *options.times = {};
    options.times->total_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  return DistributedIndex(state);
}

WideNeighbors DistributedIndex::knn(PointView queries, std::uint32_t k,
                                    const shards::ShardSearchOptions& options) const {
  const shards::ShardSearchOptions own = state_->resolved(options);
  return state_->search<shards::KnnSearch>(own, [&] { return shards::KnnSearch(state_->map, queries, k, own); });
}

WideNeighborLists DistributedIndex::radius(PointView queries, const Radii& radii,
                                           const shards::ShardSearchOptions& options) const {
  const shards::ShardSearchOptions own = state_->resolved(options);
  return state_->search<shards::RadiusSearch>(own,
                                              [&] { return shards::RadiusSearch(state_->map, queries, radii, own); });
}

std::vector<std::uint64_t> DistributedIndex::count(PointView queries, const Radii& radii,
                                                   const shards::ShardSearchOptions& options) const {
  const shards::ShardSearchOptions own = state_->resolved(options);
  return state_->search<shards::CountSearch>(own,
                                             [&] { return shards::CountSearch(state_->map, queries, radii, own); });
}

int DistributedIndex::rank() const { return state_->ranks.rank(); }
int DistributedIndex::ranks() const { return state_->ranks.size(); }
std::uint64_t DistributedIndex::first_number() const { return state_->first_number(); }
std::uint64_t DistributedIndex::local_size() const { return state_->local_size(); }
const shards::ShardMap& DistributedIndex::map() const { return state_->map; }
const shards::Shard& DistributedIndex::shard() const { return *state_->shard; }

std::uint64_t DistributedIndex::memory_bytes() const {
  return state_->shard->memory_bytes() + state_->shard_of.capacity() * sizeof(state_->shard_of[0]);
}

std::string DistributedIndex::explain() const {
  const Index& index = state_->shard->index();
  std::string text = fmt::format("rank {} of {}: {} of {} points, {} on {}, {} bytes", rank(), ranks(), index.size(),
                                 map().points(), name_of(index.engine()), index.device().name(), memory_bytes());
  if (skipped() > 0) text += fmt::format("\nleft out: {} of {} points hold NaN or infinity", skipped(), size());
  return text;
}

}  // namespace kith::mpi::inline v0
