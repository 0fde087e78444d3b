// The sums of the filter by products, from the tensor cores of the GPU.
#pragma once

#include "cuda/brute_force/product_pairs.hpp"

namespace kith::test {

/// `on_hopper`: as GPUs of compute capability 9.0 can do, which has_hopper_sums tells.
ProductSums product_sums_on_device(const ProductPairs& pairs, bool on_hopper);

bool has_hopper_sums();

}  // namespace kith::test
