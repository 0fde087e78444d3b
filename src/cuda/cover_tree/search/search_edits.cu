// Searches in a cover tree by edit distance.
#include "cuda/cover_tree/spaces/edit_space.cuh"
#include "cuda/cover_tree/spaces/long_edit_space.cuh"
#include "cuda/cover_tree/search/search_launch.cuh"

namespace kith::cuda {

template void search_cover_knn(const CoverKnnTask<EditSpace<std::uint32_t>>&, const Stream&);
template void search_cover_radius(const CoverRadiusTask<EditSpace<std::uint32_t>>&, bool, const Stream&);
template void search_cover_knn(const CoverKnnTask<EditSpace<std::uint64_t>>&, const Stream&);
template void search_cover_radius(const CoverRadiusTask<EditSpace<std::uint64_t>>&, bool, const Stream&);
template void search_cover_knn(const CoverKnnTask<LongEditSpace>&, const Stream&);
template void search_cover_radius(const CoverRadiusTask<LongEditSpace>&, bool, const Stream&);

}  // namespace kith::cuda
