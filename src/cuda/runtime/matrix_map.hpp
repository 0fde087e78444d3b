// What the driver wants to know of a matrix before a GPU can copy parts of it by itself (start_copy_of_matrix).
#pragma once

#include <cuda.h>

#include <cstdint>

namespace kith::cuda {

/// A matrix of halves in device memory, aligned to 16 bytes, with rows of a multiple of 8, and parts of it: some rows
/// of 64 halves. Piece c of 16 bytes of row r of a part is put at place c ^ (r % 8); what lies beyond the matrix is
/// zeros.
CUtensorMap map_of_halves(const std::uint16_t* values, std::uint64_t rows, std::uint32_t columns,
                          std::uint32_t part_rows);

}  // namespace kith::cuda
