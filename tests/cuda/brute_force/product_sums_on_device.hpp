// The sums of the filter by products, from the tensor cores of the GPU.
#pragma once

#include "cuda/brute_force/product_pairs.hpp"

namespace kith::test {

ProductSums product_sums_on_device(const ProductPairs& pairs);

}  // namespace kith::test
