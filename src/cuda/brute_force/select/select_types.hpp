// What a selection is asked: rows of candidates, k, and what becomes of the k least. Plain data, for host and device.
#pragma once

#include "core/host_device.hpp"
#include "cuda/brute_force/scan/scan_types.hpp"

#include <cstdint>

namespace kith::cuda {

/// What becomes of a row.
enum class SelectGoal : std::uint8_t {
  cut,     ///< the k least go to its front, in any order; how many they are and the last of them are noted
  finish,  ///< the k least are the answer, ascending
};

/// Entries of a row differ, but for `none`, which is never selected. A row has less than 2^31 of them; it is used as
/// memory by the way, so what is left of it, but for the front of a cut, is garbage.
template <typename T>
struct SelectTask {
  SelectGoal goal = SelectGoal::cut;
  std::uint32_t k = 0;

  // --- rows: [row][capacity] ---
  Entry<T>* entries = nullptr;
  std::uint64_t rows = 0;                    ///< the most there are
  const std::uint32_t* row_count = nullptr;  ///< how many, if only the device knows
  std::uint32_t capacity = 0;
  std::uint32_t length = 0;               ///< of every row; 0: as `counts` say
  std::uint32_t* counts = nullptr;        ///< by row; a cut writes them
  const std::uint32_t* chosen = nullptr;  ///< row i is for row chosen[i] of the answer; null: i

  // --- a cut ---
  Entry<T>* limits = nullptr;     ///< by row: becomes the k-th, if there are k; null: not wanted
  std::uint32_t* kept = nullptr;  ///< by row: how many are left, or the capacity if the row failed; null: not wanted

  // --- rows that got more than their capacity, by `counts`: such rows are noted here, once, and not selected from ---
  std::uint32_t* failed = nullptr;  ///< their rows of the answer; null: the first `capacity` are all there are
  std::uint32_t* failed_count = nullptr;
  std::uint8_t* is_failed = nullptr;  ///< by row

  // --- answers: row i begins at i * k ---
  KnnAnswer<T> answer;
  std::uint32_t missing = 0;  ///< the index of a neighbour that is not there; its reduced distance is infinite

  KITH_HOST_DEVICE std::uint64_t answer_of(std::uint64_t row) const { return chosen == nullptr ? row : chosen[row]; }
};

}  // namespace kith::cuda
