// Sums in halves by the tensor cores of a GPU.
#pragma once

#include "cuda/brute_force/half_sums.hpp"

namespace kith::test {

std::vector<std::uint16_t> half_sums_on_device(const HalfSumRowsOf16& rows);

}  // namespace kith::test
