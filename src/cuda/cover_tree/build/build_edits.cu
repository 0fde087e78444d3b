// The builder of cover trees by edit distance.
#include "cuda/cover_tree/spaces/build_space.cuh"
#include "cuda/cover_tree/spaces/edit_space.cuh"
#include "cuda/cover_tree/spaces/long_edit_space.cuh"

namespace kith::cuda {

template DeviceCoverTree build_cover_tree(const EditSpace<std::uint32_t>&, const std::uint32_t*, std::uint32_t,
                                          const CoverRules&, const Stream&, BuildPhases*);
template DeviceCoverTree build_cover_tree(const EditSpace<std::uint64_t>&, const std::uint32_t*, std::uint32_t,
                                          const CoverRules&, const Stream&, BuildPhases*);
template DeviceCoverTree build_cover_tree(const LongEditSpace&, const std::uint32_t*, std::uint32_t, const CoverRules&,
                                          const Stream&, BuildPhases*);

}  // namespace kith::cuda
