// The builder of cover trees for rows of bits, and sequences of one length.
#include "cuda/cover_tree/spaces/build_space.cuh"
#include "cuda/cover_tree/spaces/bit_space.cuh"
#include "cuda/cover_tree/spaces/hamming_space.cuh"

namespace kith::cuda {

template DeviceCoverTree build_cover_tree(const BitSpace&, const std::uint32_t*, std::uint32_t, const CoverRules&,
                                          const Stream&, BuildPhases*);
template DeviceCoverTree build_cover_tree(const HammingSpace&, const std::uint32_t*, std::uint32_t, const CoverRules&,
                                          const Stream&, BuildPhases*);

}  // namespace kith::cuda
