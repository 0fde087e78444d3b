// Cells that refine ties, of one dimension seen as those of another.
//
// Where all points of a half have the same coordinate in dimension d, and in each of those between d and w, the
// super-keys of d and of w order them alike, and so does their number if all dimensions are such. What is known of
// their median in cells of d is then known in cells of w, too.
#pragma once

#include "cuda/kd_tree/build/ties/tied_cells.cuh"

namespace kith::cuda {

/// Whether the super-keys of dimensions `from` and `to` (dims: the number) order points alike that are equal in `from`,
/// given how wide their box is in the others, `side(d)`.
template <typename Side>
__device__ __forceinline__ bool are_ordered_alike(std::uint32_t dims, std::uint32_t from, std::uint32_t to,
                                                  const Side& side) {
  if (from == dims) return false;
  bool is_alike = true;
  for (std::uint32_t stage = 1; stage < dims; ++stage) {
    const std::uint32_t d = from + stage < dims ? from + stage : from + stage - dims;
    if (d == to) break;
    is_alike = is_alike && !(side(d) > 0);
  }
  return is_alike;
}

/// What a cell of a dimension says of the points in it, if it says all: their values, as slots, and between which plain
/// cells their numbers lie.
struct DecodedCell {
  std::uint32_t slots[kTabledDims];
  std::uint32_t first_number, last_number;
  bool is_known;
};

template <typename T>
KITH_NOINLINE __device__ void decode_cell(const TieMap<T>& map, std::uint32_t from, std::uint32_t cell,
                                          DecodedCell& decoded) {
  const std::uint32_t dims = map.dims;
  std::uint32_t rest = cell, capacity = 0;
  decoded.is_known = false;
#pragma unroll 1
  for (std::uint32_t stage = 0; stage < dims; ++stage) {
    const std::uint32_t d = from + stage < dims ? from + stage : from + stage - dims;
    capacity = map.ties->widths[from][stage];
    const std::uint32_t value = rest / (capacity + 1), within = rest - value * (capacity + 1);
    if (capacity == 0 || within == 0) return;
    decoded.slots[d] = 2 * value + 1;
    rest = within - 1;
  }
  decoded.first_number = ((rest << kCellBits) + capacity - 1) / capacity;
  decoded.last_number = (((rest + 1) << kCellBits) - 1) / capacity;
  decoded.is_known = true;
}

struct RecodedCell {
  std::uint32_t cell;
  bool is_known;
};

/// The cell of dimension `to` that is the first or the last one of those that belong to a cell of dimension `from`.
template <typename T>
KITH_NOINLINE __device__ RecodedCell recode_cell(const TieMap<T>& map, std::uint32_t from, std::uint32_t to,
                                                 std::uint32_t cell, bool is_last) {
  DecodedCell decoded;
  decode_cell(map, from, cell, decoded);
#pragma unroll 1
  for (std::uint32_t stage = 0; to < map.dims && stage < map.dims; ++stage) {
    decoded.is_known = decoded.is_known && map.ties->widths[to][stage] != 0;
  }
  if (!decoded.is_known) return {0, false};
  const std::uint32_t number = is_last ? decoded.last_number : decoded.first_number;
  return {tied_cell<0>(
              map, to, [&](std::uint32_t d) { return decoded.slots[d]; }, [&](std::uint32_t) { return number; }),
          true};
}

}  // namespace kith::cuda
