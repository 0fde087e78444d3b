// Searches on the GPU for coordinates of type double.
#include "cuda/kd_tree/search/search_launch.cuh"

namespace kith::cuda {

template void search_knn(const KnnTask<double>&, const Stream&);
template void count_within(const RadiusTask<double>&, const Stream&);
template void list_within(const RadiusTask<double>&, const Stream&);
template void count_in_boxes(const BoxTask<double>&, const Stream&);
template void list_in_boxes(const BoxTask<double>&, const Stream&);
template void order_queries(const SearchTree<double>&, const double*, std::uint64_t, std::uint64_t, std::uint32_t*,
                            const Stream&);
template void choose_points(const SearchTree<double>&, std::uint32_t, std::uint32_t, std::uint32_t*, std::uint32_t*,
                            const Stream&);

}  // namespace kith::cuda
