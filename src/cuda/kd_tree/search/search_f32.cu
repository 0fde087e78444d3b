// Searches on the GPU for coordinates of type float.
#include "cuda/kd_tree/search/search_launch.cuh"

namespace kith::cuda {

template void search_knn(const KnnTask<float>&, const Stream&);
template void count_within(const RadiusTask<float>&, const Stream&);
template void list_within(const RadiusTask<float>&, const Stream&);
template void count_in_boxes(const BoxTask<float>&, const Stream&);
template void list_in_boxes(const BoxTask<float>&, const Stream&);
template void order_queries(const SearchTree<float>&, const float*, std::uint64_t, std::uint64_t, std::uint32_t*,
                            const Stream&);
template void choose_points(const SearchTree<float>&, std::uint32_t, std::uint32_t, std::uint32_t*, std::uint32_t*,
                            const Stream&);

}  // namespace kith::cuda
