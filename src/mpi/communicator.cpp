// See communicator.hpp.
#include "mpi/communicator.hpp"

#include "mpi/remote_error.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>

namespace kith::mpi {
namespace {

constexpr int kTag = 1;

/// MPI ends the program by itself, unless its user asked it to return errors.
void check(int status, std::string_view doing) {
  if (status == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, ' ');
  int length = 0;
  MPI_Error_string(status, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  throw LostPeer(fmt::format("MPI: {} failed: {}", doing, text));
}

bool is_running() {
  int is_begun = 0, is_over = 0;
  MPI_Initialized(&is_begun);
  MPI_Finalized(&is_over);
  return is_begun != 0 && is_over == 0;
}

std::uint64_t number_of(int rank) { return static_cast<std::uint64_t>(rank); }
std::size_t place_of(int rank) { return static_cast<std::size_t>(rank); }

/// Calls f(first, size) for each piece of so many elements.
template <typename F>
void in_pieces(std::size_t count, std::size_t largest, const F& f) {
  for (std::size_t first = 0; first < count; first += largest) f(first, std::min(largest, count - first));
}

}  // namespace

std::size_t& largest_piece() {
  static std::size_t bytes = std::size_t{1} << 30;
  return bytes;
}

Communicator::Communicator(MPI_Comm ranks) {
  if (!is_running()) {
    throw UsageError("MPI is not running: call MPI_Init_thread with MPI_THREAD_FUNNELED before, MPI_Finalize after");
  }
  check(MPI_Comm_dup(ranks, &ranks_), "to copy a communicator");
  check(MPI_Comm_rank(ranks_, &rank_), "to find the rank");
  check(MPI_Comm_size(ranks_, &size_), "to count the ranks");
}

Communicator::~Communicator() {
  if (ranks_ != MPI_COMM_NULL && is_running()) MPI_Comm_free(&ranks_);
}

std::exception_ptr Communicator::failure_of(const std::function<void()>& work) noexcept {
  try {
    work();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

bool Communicator::agree_on(const std::exception_ptr& failure, bool is_any) const {
  const std::array<std::uint64_t, 2> own{number_of(failure ? rank_ : size_), is_any ? 0u : 1u};
  std::array<std::uint64_t, 2> least{};
  check(MPI_Allreduce(own.data(), least.data(), 2, MPI_UINT64_T, MPI_MIN, ranks_), "to agree");
  if (least[0] < number_of(size_)) throw_error_of(static_cast<int>(least[0]), failure);
  return least[1] == 0;
}

void Communicator::throw_error_of(int failed, const std::exception_ptr& failure) const {
  const RemoteError own = failure ? RemoteError::of(failure) : RemoteError();
  Bytes bytes = rank_ == failed ? own.to_bytes() : Bytes();
  broadcast(bytes, failed);
  const RemoteError error = RemoteError::from_bytes(bytes);
  // What all ranks say needs no name of a rank.
  const int is_same = failure && own == error ? 1 : 0;
  int is_same_everywhere = 0;
  check(MPI_Allreduce(&is_same, &is_same_everywhere, 1, MPI_INT, MPI_MIN, ranks_), "to agree on an error");
  if (rank_ == failed && error.type == RemoteError::Type::other) std::rethrow_exception(failure);
  error.raise(is_same_everywhere != 0 ? std::optional<int>() : failed);
}

void Communicator::broadcast(Bytes& bytes, int root) const {
  std::uint64_t size = bytes.size();
  check(MPI_Bcast(&size, 1, MPI_UINT64_T, root, ranks_), "to send to all");
  bytes.resize(size);
  in_pieces(size, largest_piece(), [&](std::size_t first, std::size_t count) {
    check(MPI_Bcast(bytes.data() + first, static_cast<int>(count), MPI_BYTE, root, ranks_), "to send to all");
  });
}

std::vector<std::uint64_t> Communicator::sum(std::size_t count,
                                             const std::function<std::vector<std::uint64_t>()>& work) const {
  std::vector<std::uint64_t> own;
  const std::exception_ptr failure = failure_of([&] {
    own = work();
    if (own.size() != count) throw UsageError("MPI: ranks add up different numbers of counts");
  });
  own.resize(count + 1, 0);
  own[count] = failure ? 1 : 0;
  const std::size_t largest = std::max<std::size_t>(1, largest_piece() / sizeof(std::uint64_t));
  in_pieces(own.size(), largest, [&](std::size_t first, std::size_t numbers) {
    check(MPI_Allreduce(MPI_IN_PLACE, own.data() + first, static_cast<int>(numbers), MPI_UINT64_T, MPI_SUM, ranks_),
          "to add up counts");
  });
  if (own[count] > 0) agree_on(failure, false);
  own.resize(count);
  return own;
}

std::vector<std::uint64_t> Communicator::gather_number(std::uint64_t number) const {
  std::vector<std::uint64_t> all(place_of(size_));
  check(MPI_Allgather(&number, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, ranks_), "to gather a number");
  return all;
}

std::vector<Bytes> Communicator::gather(const std::function<Bytes()>& work) const {
  Bytes own;
  std::exception_ptr failure = failure_of([&] { own = work(); });
  const std::vector<std::uint64_t> sizes = gather_number(own.size());
  std::vector<Bytes> all;
  // In every round a share of each rank's bytes, so that those of all ranks are one message.
  const std::size_t share = std::max<std::size_t>(1, largest_piece() / place_of(size_));
  const std::size_t longest = *std::max_element(sizes.begin(), sizes.end());
  Bytes round;
  if (!failure) {
    failure = failure_of([&] {
      for (const std::uint64_t size : sizes) all.emplace_back(size);
      round.resize(std::min(share, longest) * place_of(size_));
    });
  }
  agree_on(failure, false);
  std::vector<int> counts(place_of(size_)), starts(place_of(size_));
  for (std::size_t first = 0; first < longest; first += share) {
    int end = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      counts[r] = static_cast<int>(std::min(share, sizes[r] - std::min<std::uint64_t>(first, sizes[r])));
      starts[r] = std::exchange(end, end + counts[r]);
    }
    const std::size_t own_first = std::min(first, own.size());
    check(MPI_Allgatherv(own.data() + own_first, counts[place_of(rank_)], MPI_BYTE, round.data(), counts.data(),
                         starts.data(), MPI_BYTE, ranks_),
          "to gather from all");
    for (std::size_t r = 0; r < counts.size(); ++r) {
      std::copy_n(round.data() + starts[r], counts[r], all[r].data() + std::min<std::uint64_t>(first, sizes[r]));
    }
  }
  return all;
}

Incoming Communicator::exchange(const std::function<Outgoing()>& work) const {
  Outgoing outgoing;
  Incoming incoming;
  std::exception_ptr failure = failure_of([&] { outgoing = work(); });
  std::vector<std::uint64_t> sent(place_of(size_), 0), received(sent.size());
  if (!failure) std::transform(outgoing.to.begin(), outgoing.to.end(), sent.begin(), std::mem_fn(&Bytes::size));
  sent[place_of(rank_)] = 0;
  check(MPI_Alltoall(sent.data(), 1, MPI_UINT64_T, received.data(), 1, MPI_UINT64_T, ranks_), "to exchange sizes");
  if (!failure) {
    failure = failure_of([&] {
      for (const std::uint64_t size : received) incoming.from.emplace_back(size);
    });
  }
  incoming.is_any = agree_on(failure, outgoing.is_any);
  send_and_receive(outgoing.to, incoming.from);
  incoming.from[place_of(rank_)] = std::move(outgoing.to[place_of(rank_)]);
  return incoming;
}

/// Pieces between two ranks arrive in the order in which they were sent.
void Communicator::send_and_receive(std::vector<Bytes>& outgoing, std::vector<Bytes>& incoming) const {
  std::vector<MPI_Request> open;
  const auto all_but_own = [&](std::vector<Bytes>& messages, const auto& post) {
    for (int step = 1; step < size_; ++step) {
      const int other = (rank_ + step) % size_;
      Bytes& bytes = messages[place_of(other)];
      in_pieces(bytes.size(), largest_piece(), [&](std::size_t first, std::size_t count) {
        open.emplace_back();
        post(bytes.data() + first, static_cast<int>(count), other, &open.back());
      });
    }
  };
  all_but_own(incoming, [&](std::byte* data, int count, int from, MPI_Request* request) {
    check(MPI_Irecv(data, count, MPI_BYTE, from, kTag, ranks_, request), "to receive");
  });
  all_but_own(outgoing, [&](const std::byte* data, int count, int to, MPI_Request* request) {
    check(MPI_Isend(data, count, MPI_BYTE, to, kTag, ranks_, request), "to send");
  });
  check(MPI_Waitall(static_cast<int>(open.size()), open.data(), MPI_STATUSES_IGNORE), "to exchange messages");
}

void Communicator::require_same(const Bytes& bytes, const char* what) const {
  Bytes first = rank_ == 0 ? bytes : Bytes();
  broadcast(first, 0);
  agree([&] {
    if (bytes != first) throw UsageError(fmt::format("{} differ from those of rank 0; they must be the same", what));
  });
}

int Communicator::share_of_cores(int threads) const {
  const int own = std::max(1, threads > 0 ? threads : std::min(omp_get_max_threads(), omp_get_num_procs()));
  MPI_Comm machine = MPI_COMM_NULL;
  check(MPI_Comm_split_type(ranks_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine), "to find ranks of a machine");
  int wanted = 0;
  const int status = MPI_Allreduce(&own, &wanted, 1, MPI_INT, MPI_SUM, machine);
  MPI_Comm_free(&machine);
  check(status, "to count threads");
  if (threads > 0) return own;
  const auto cores = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return wanted <= cores ? own : std::max(1, static_cast<int>(std::int64_t{own} * cores / wanted));
}

}  // namespace kith::mpi
