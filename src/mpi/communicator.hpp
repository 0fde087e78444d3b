// What ranks say to each other: numbers to all, bytes from each to each, and whether all of them can go on.
//
// Every member function is collective. Work that may throw is handed in: if it throws on some rank, the function throws
// the same type of error on all ranks, and none waits for another.
#pragma once

#include <kith/export.hpp>
#include <kith/shards/numbered_points.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::mpi {

using shards::Bytes;

/// The most bytes of one message of MPI, which counts them in an int; longer ones go in pieces. The same on all ranks.
/// Tests make it small.
std::size_t& largest_piece();

/// What a rank sends in one round: bytes for each rank, empty ones are not sent; and whether it takes part at all.
struct Outgoing {
  std::vector<Bytes> to;
  bool is_any = false;
};

/// What it gets: bytes from each rank, and whether any rank takes part.
struct Incoming {
  std::vector<Bytes> from;
  bool is_any = false;
};

/// A duplicate of a communicator. Only the thread that calls uses MPI.
class Communicator {
 public:
  /// Throws UsageError before MPI_Init and after MPI_Finalize.
  explicit Communicator(MPI_Comm ranks);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Nothing yet for any rank.
  Outgoing outgoing() const { return {std::vector<Bytes>(static_cast<std::size_t>(size_))}; }

  /// Runs `work` on each rank and returns what it made, once it has ended on all of them.
  template <typename Work>
  auto agree(const Work& work) const {
    using Made = decltype(work());
    if constexpr (std::is_void_v<Made>) {
      agree_on(failure_of(work), false);
    } else {
      std::vector<Made> made;  // of one, so that it needs no default
      agree_on(failure_of([&] { made.push_back(work()); }), false);
      return std::move(made.front());
    }
  }

  /// Adds up what `work` makes, element by element: `count` numbers on each rank.
  std::vector<std::uint64_t> sum(std::size_t count, const std::function<std::vector<std::uint64_t>()>& work) const;
  /// One number of each rank.
  std::vector<std::uint64_t> gather_number(std::uint64_t number) const;
  /// The bytes that each rank makes, any number of them.
  std::vector<Bytes> gather(const std::function<Bytes()>& work) const;
  /// From each rank to each other; what goes to the rank itself comes back as it is.
  Incoming exchange(const std::function<Outgoing()>& work) const;
  /// Throws UsageError, which names `what`, unless these bytes are the same on all ranks.
  void require_same(const Bytes& bytes, const char* what) const;
  /// So many that the ranks of a machine use each of its cores once, where every rank would take `threads`.
  int share_of_cores(int threads) const;

 private:
  static std::exception_ptr failure_of(const std::function<void()>& work) noexcept;
  /// Throws if some rank failed. Returns whether `is_any` is true on any rank.
  bool agree_on(const std::exception_ptr& failure, bool is_any) const;
  [[noreturn]] void throw_error_of(int failed, const std::exception_ptr& failure) const;
  void broadcast(Bytes& bytes, int root) const;
  void send_and_receive(std::vector<Bytes>& outgoing, std::vector<Bytes>& incoming) const;

  MPI_Comm ranks_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace kith::mpi
