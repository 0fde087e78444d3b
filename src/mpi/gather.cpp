// See kith/mpi/gather.hpp. Results travel as replies of shards, which have the same arrays.
#include <kith/mpi/gather.hpp>

#include "mpi/communicator.hpp"

#include <kith/error.hpp>
#include <kith/shards/requests.hpp>

#include <algorithm>
#include <utility>

namespace kith::mpi::inline v0 {
namespace {

using shards::SearchReply;

/// What each rank made, on rank 0; nothing on the others.
std::vector<SearchReply> to_first_rank(const Communicator& ranks, const std::function<SearchReply()>& make) {
  Incoming told = ranks.exchange([&] {
    Outgoing outgoing = ranks.outgoing();
    outgoing.to[0] = make().to_bytes();
    return outgoing;
  });
  return ranks.agree([&] {
    std::vector<SearchReply> replies;
    if (ranks.rank() != 0) return replies;
    for (Bytes& bytes : told.from) replies.push_back(SearchReply::from_bytes(std::exchange(bytes, {})));
    return replies;
  });
}

/// The entries of all replies behind each other.
struct Entries {
  ValueArray<std::uint64_t> numbers;
  Distances distances;

  Entries(std::vector<SearchReply>& replies, DType dtype) {
    std::size_t count = 0, place = 0;
    for (const SearchReply& reply : replies) count += reply.numbers.size();
    numbers = ValueArray<std::uint64_t>(count);
    distances = Distances(dtype, count);
    for (SearchReply& reply : replies) {
      if (reply.numbers.size() > 0 && reply.reduced.dtype() != dtype) {
        throw UsageError("gather: distances of ranks differ in type");
      }
      std::copy_n(reply.numbers.data(), reply.numbers.size(), numbers.data() + place);
      if (reply.numbers.size() == 0) continue;
      if (dtype == DType::f32) {
        std::ranges::copy(reply.reduced.values<float>(), distances.values<float>().data() + place);
      } else {
        std::ranges::copy(reply.reduced.values<double>(), distances.values<double>().data() + place);
      }
      place += reply.numbers.size();
      reply.numbers = {};
      reply.reduced = {};
    }
  }
};

ValueArray<std::uint64_t> copy_of(std::span<const std::uint64_t> numbers) { return {numbers}; }

}  // namespace

WideNeighbors gather(MPI_Comm communicator, const WideNeighbors& own) {
  const Communicator ranks(communicator);
  std::vector<SearchReply> replies = to_first_rank(ranks, [&] {
    SearchReply reply;
    reply.numbers = copy_of(own.indices());
    reply.reduced = own.distances();
    return reply;
  });
  const std::vector<std::uint64_t> queries = ranks.gather_number(own.queries());
  return ranks.agree([&] {
    Entries all(replies, own.dtype());
    std::uint64_t rows = 0;
    if (ranks.rank() == 0) {
      for (const std::uint64_t count : queries) rows += count;
    }
    if (all.numbers.size() != rows * own.k()) throw UsageError("gather: ranks have neighbours of different k");
    return WideNeighbors(rows, own.k(), own.missing(), std::move(all.numbers), std::move(all.distances));
  });
}

WideNeighborLists gather(MPI_Comm communicator, const WideNeighborLists& own) {
  const Communicator ranks(communicator);
  std::vector<SearchReply> replies = to_first_rank(ranks, [&] {
    SearchReply reply;
    reply.numbers = copy_of(own.indices());
    reply.reduced = own.distances();
    return reply;
  });
  // How long lists are may need 64 bits.
  const std::vector<SearchReply> offsets = to_first_rank(ranks, [&] {
    SearchReply reply;
    reply.numbers = copy_of(own.offsets());
    return reply;
  });
  return ranks.agree([&] {
    const Entries all(replies, own.dtype());
    std::vector<std::uint64_t> joined{0};
    for (const SearchReply& of_rank : offsets) {
      const std::uint64_t before = joined.back();
      for (std::size_t i = 1; i < of_rank.numbers.size(); ++i) joined.push_back(before + of_rank.numbers[i]);
    }
    std::vector<std::uint64_t> numbers(all.numbers.data(), all.numbers.data() + all.numbers.size());
    return WideNeighborLists(own.points(), std::move(joined), std::move(numbers), all.distances);
  });
}

std::vector<std::uint64_t> gather(MPI_Comm communicator, const std::vector<std::uint64_t>& own) {
  const Communicator ranks(communicator);
  const std::vector<SearchReply> replies = to_first_rank(ranks, [&] {
    SearchReply reply;
    reply.numbers = copy_of(own);
    return reply;
  });
  return ranks.agree([&] {
    std::vector<std::uint64_t> all;
    for (const SearchReply& reply : replies) {
      all.insert(all.end(), reply.numbers.data(), reply.numbers.data() + reply.numbers.size());
    }
    return all;
  });
}

void agree(MPI_Comm communicator, const std::function<void()>& work) { Communicator(communicator).agree(work); }

}  // namespace kith::mpi::inline v0
