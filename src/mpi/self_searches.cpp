// Searches of the points themselves: every rank searches for the points of its shard, and the answers go to the ranks
// that handed the points in. See kith/mpi/distributed_index.hpp.
#include "mpi/index_state.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace kith::mpi::inline v0 {
namespace {

using shards::SearchReply;
using State = DistributedIndex::State;

/// For each shard its answers to the points of this rank, in the order of their numbers.
using OwnAnswers = std::vector<SearchReply>;

/// Calls f(zero of the type of the distances).
template <typename F>
auto with_dtype(DType dtype, const F& f) {
  return dtype == DType::f32 ? f(float{}) : f(double{});
}

/// What a search of the points themselves must have alike on all ranks.
class SelfOptions {
 public:
  template <typename... Values>
  explicit SelfOptions(const shards::ShardSearchOptions& options, const Values&... values) {
    static_assert((std::is_arithmetic_v<Values> && ...));
    (put(values), ...);
    put(options.squared);
    put(options.exclude_self);
    put(options.max_neighbors);
    put(options.max_distance);
    put(options.earlier_only);
  }
  const Bytes& bytes() const { return bytes_; }

 private:
  template <typename T>
  void put(const T& value) {
    const auto* start = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), start, start + sizeof(T));
  }
  Bytes bytes_;
};

/// Lets `answers_of(first, end)` say what this rank's search found for the points [first, end) of its shard, which one
/// rank handed in, and sends that to it.
template <typename AnswersOf>
OwnAnswers bring_home(const State& state, const AnswersOf& answers_of) {
  const std::span<const std::uint64_t> numbers = state.shard->numbers();
  SearchReply own;
  Incoming brought = state.ranks.exchange([&] {
    Outgoing outgoing = state.ranks.outgoing();
    std::uint64_t first = 0;
    for (std::uint32_t rank = 0; rank < outgoing.to.size(); ++rank) {
      const auto behind = std::lower_bound(numbers.begin(), numbers.end(), state.starts[rank + 1]);
      const auto end = static_cast<std::uint64_t>(behind - numbers.begin());
      if (end > first) {
        SearchReply answers = answers_of(first, end);
        answers.shard = state.own_shard();
        if (rank == state.own_shard()) {
          own = std::move(answers);
        } else {
          outgoing.to[rank] = answers.to_bytes();
        }
      }
      first = end;
    }
    return outgoing;
  });
  return state.ranks.agree([&] {
    OwnAnswers answers(brought.from.size());
    for (std::size_t shard = 0; shard < answers.size(); ++shard) {
      if (!brought.from[shard].empty())
        answers[shard] = SearchReply::from_bytes(std::exchange(brought.from[shard], {}));
    }
    answers[state.own_shard()] = std::move(own);
    return answers;
  });
}

/// Calls f(row, shard, which of the shard's answers) for the points of this rank in their order; the shard is kLeftOut
/// for those left out.
template <typename F>
void for_each_own(const State& state, const F& f) {
  std::vector<std::uint64_t> next(static_cast<std::size_t>(state.ranks.size()), 0);
  for (std::uint64_t row = 0; row < state.local_size(); ++row) {
    const std::uint16_t shard = state.shard_of[row];
    f(row, shard, shard == State::kLeftOut ? 0 : next[shard]++);
  }
}

/// Some lists of a result, as a reply; count(i) entries from begin(i) on for the lists [first, end).
template <typename T, typename Begin, typename Count>
SearchReply lists_of(std::uint64_t first, std::uint64_t end, const std::uint64_t* numbers, const T* distances,
                     const Begin& begin, const Count& count) {
  SearchReply reply;
  std::uint64_t entries = 0;
  reply.counts.reserve(end - first);
  for (std::uint64_t i = first; i < end; ++i) {
    reply.counts.push_back(static_cast<std::uint32_t>(count(i)));
    entries += reply.counts.back();
  }
  reply.numbers = ValueArray<std::uint64_t>(entries);
  reply.reduced = Distances(dtype_of<T>, entries);
  std::uint64_t place = 0;
  for (std::uint64_t i = first; i < end; ++i) {
    const std::uint32_t length = reply.counts[i - first];
    std::copy_n(numbers + begin(i), length, reply.numbers.data() + place);
    std::copy_n(distances + begin(i), length, reply.reduced.template values<T>().data() + place);
    place += length;
  }
  return reply;
}

/// The radii of the points of this rank's shard, from those that all ranks gave for their own.
class ShardRadii {
 public:
  ShardRadii(const State& state, const Radii& radii) : all_(radii.all()) {
    const bool is_each_anywhere = state.ranks
                                      .exchange([&] {
                                        require_radii(state, radii);
                                        Outgoing none = state.ranks.outgoing();
                                        none.is_any = radii.each().has_value();
                                        return none;
                                      })
                                      .is_any;
    if (!is_each_anywhere) {
      state.ranks.require_same(SelfOptions({}, radii.all()).bytes(), "radii");
      return;
    }
    const Incoming told = state.ranks.exchange([&] { return by_shard(state, radii); });
    state.ranks.agree([&] {
      // Ranks in their order have the numbers in theirs.
      std::vector<double>& each = each_.emplace(state.shard->numbers().size());
      std::size_t place = 0;
      for (const Bytes& bytes : told.from) {
        if (!bytes.empty()) std::memcpy(each.data() + place, bytes.data(), bytes.size());
        place += bytes.size() / sizeof(double);
      }
    });
  }
  Radii radii() const { return each_ ? Radii(*each_) : Radii(all_); }

 private:
  static void require_radii(const State& state, const Radii& radii) {
    if (!(radii.all() >= 0)) throw UsageError(fmt::format("the radius must be at least 0, not {}", radii.all()));
    if (!radii.each()) return;
    const std::span<const double> each = *radii.each();
    if (each.size() != state.local_size()) {
      throw UsageError(
          fmt::format("radii: {} for {} points of this rank; give one for each", each.size(), state.local_size()));
    }
    const auto bad = std::find_if(each.begin(), each.end(), [](double radius) { return !(radius >= 0); });
    if (bad == each.end()) return;
    throw UsageError(fmt::format("radii: a radius must be at least 0, but that of query {} (counted from 0) is {}",
                                 bad - each.begin(), *bad));
  }

  static Outgoing by_shard(const State& state, const Radii& radii) {
    std::vector<std::vector<double>> to(static_cast<std::size_t>(state.ranks.size()));
    for (std::uint64_t row = 0; row < state.local_size(); ++row) {
      if (state.shard_of[row] != State::kLeftOut) to[state.shard_of[row]].push_back(radii.of(row));
    }
    Outgoing outgoing = state.ranks.outgoing();
    for (std::size_t shard = 0; shard < to.size(); ++shard) {
      const auto bytes = std::as_bytes(std::span(to[shard]));
      outgoing.to[shard].assign(bytes.begin(), bytes.end());
    }
    return outgoing;
  }

  double all_;
  std::optional<std::vector<double>> each_;
};

}  // namespace

WideNeighbors DistributedIndex::knn_self(std::uint32_t k, const shards::ShardSearchOptions& options) const {
  const State& state = *state_;
  const shards::ShardSearchOptions own = state.resolved(options);
  state.ranks.require_same(SelfOptions(own, k).bytes(), "k and options");
  const WideNeighbors found = state.search<shards::KnnSearch>(own, [&] {
    return shards::KnnSearch(state.map, shards::SearchQueries(*state.shard, state.own_shard()), k, own);
  });
  return with_dtype(dtype(), [&](auto zero) {
    using T = decltype(zero);
    const OwnAnswers answers = bring_home(state, [&](std::uint64_t first, std::uint64_t end) {
      return lists_of(
          first, end, found.indices().data(), found.distances().values<T>().data(),
          [&](std::uint64_t i) { return i * k; }, [&](std::uint64_t i) { return found[i].size(); });
    });
    return state.ranks.agree([&] {
      const std::uint64_t missing = map().rows, rows = state.local_size();
      if (k != 0 && rows > (std::uint64_t{1} << 60) / k) {
        throw OutOfMemory(fmt::format("not enough memory: {} lists of {} neighbours", rows, k));
      }
      ValueArray<std::uint64_t> numbers(rows * k);
      Distances distances(dtype_of<T>, rows * k);
      std::vector<std::uint64_t> read(answers.size(), 0);  // entries of each shard
      T* const to = distances.values<T>().data();
      for_each_own(state, [&](std::uint64_t row, std::uint16_t shard, std::uint64_t which) {
        std::uint32_t count = 0;
        if (shard != State::kLeftOut) {
          const SearchReply& reply = answers[shard];
          count = reply.counts[which];
          std::copy_n(reply.numbers.data() + read[shard], count, numbers.data() + row * k);
          std::copy_n(reply.reduced.values<T>().data() + read[shard], count, to + row * k);
          read[shard] += count;
        }
        std::fill(numbers.data() + row * k + count, numbers.data() + (row + 1) * k, missing);
        std::fill(to + row * k + count, to + (row + 1) * k, std::numeric_limits<T>::infinity());
      });
      return WideNeighbors(rows, k, missing, std::move(numbers), std::move(distances));
    });
  });
}

WideNeighborLists DistributedIndex::radius_self(const Radii& radii, const shards::ShardSearchOptions& options) const {
  const State& state = *state_;
  const shards::ShardSearchOptions own = state.resolved(options);
  state.ranks.require_same(SelfOptions(own).bytes(), "options");
  const ShardRadii shard_radii(state, radii);
  const WideNeighborLists found = state.search<shards::RadiusSearch>(own, [&] {
    return shards::RadiusSearch(state.map, shards::SearchQueries(*state.shard, state.own_shard()), shard_radii.radii(),
                                own);
  });
  return with_dtype(dtype(), [&](auto zero) {
    using T = decltype(zero);
    const OwnAnswers answers = bring_home(state, [&](std::uint64_t first, std::uint64_t end) {
      return lists_of(
          first, end, found.indices().data(), found.distances().values<T>().data(),
          [&](std::uint64_t i) { return found.offsets()[i]; }, [&](std::uint64_t i) { return found.count(i); });
    });
    return state.ranks.agree([&] {
      const std::uint64_t rows = state.local_size();
      std::vector<std::uint64_t> offsets(rows + 1, 0);
      for_each_own(state, [&](std::uint64_t row, std::uint16_t shard, std::uint64_t which) {
        offsets[row + 1] = offsets[row] + (shard == State::kLeftOut ? 0 : answers[shard].counts[which]);
      });
      std::vector<std::uint64_t> numbers(offsets.back());
      Distances distances(dtype_of<T>, offsets.back());
      std::vector<std::uint64_t> read(answers.size(), 0);
      for_each_own(state, [&](std::uint64_t row, std::uint16_t shard, std::uint64_t) {
        if (shard == State::kLeftOut) return;
        const SearchReply& reply = answers[shard];
        const std::uint64_t count = offsets[row + 1] - offsets[row];
        std::copy_n(reply.numbers.data() + read[shard], count, numbers.data() + offsets[row]);
        std::copy_n(reply.reduced.values<T>().data() + read[shard], count, distances.values<T>().data() + offsets[row]);
        read[shard] += count;
      });
      return WideNeighborLists(map().rows, std::move(offsets), std::move(numbers), std::move(distances));
    });
  });
}

std::vector<std::uint64_t> DistributedIndex::count_self(const Radii& radii,
                                                        const shards::ShardSearchOptions& options) const {
  const State& state = *state_;
  const shards::ShardSearchOptions own = state.resolved(options);
  state.ranks.require_same(SelfOptions(own).bytes(), "options");
  const ShardRadii shard_radii(state, radii);
  const std::vector<std::uint64_t> found = state.search<shards::CountSearch>(own, [&] {
    return shards::CountSearch(state.map, shards::SearchQueries(*state.shard, state.own_shard()), shard_radii.radii(),
                               own);
  });
  const OwnAnswers answers = bring_home(state, [&](std::uint64_t first, std::uint64_t end) {
    SearchReply reply;  // in its numbers, because counts may need 64 bits
    reply.numbers = ValueArray<std::uint64_t>(std::span(found).subspan(first, end - first));
    return reply;
  });
  return state.ranks.agree([&] {
    std::vector<std::uint64_t> counts(state.local_size(), 0);
    for_each_own(state, [&](std::uint64_t row, std::uint16_t shard, std::uint64_t which) {
      if (shard != State::kLeftOut) counts[row] = answers[shard].numbers[which];
    });
    return counts;
  });
}

}  // namespace kith::mpi::inline v0
