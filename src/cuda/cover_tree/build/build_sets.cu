// The builder of cover trees for sets.
#include "cuda/cover_tree/spaces/build_space.cuh"
#include "cuda/cover_tree/spaces/jaccard_space.cuh"

namespace kith::cuda {

template DeviceCoverTree build_cover_tree(const JaccardSpace&, const std::uint32_t*, std::uint32_t, const CoverRules&,
                                          const Stream&, BuildPhases*);

}  // namespace kith::cuda
