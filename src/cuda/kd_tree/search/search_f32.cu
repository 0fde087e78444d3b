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

void sum_counts(const std::uint32_t* counts, std::uint64_t count, std::uint64_t* starts, const Stream& stream) {
  DeviceBuffer<std::uint64_t> sums(scan_tiles_of(count) + 2, stream);
  launch_scan_steps(counts, count, sums.data(), starts, true, SearchLauncher(stream));
}

}  // namespace kith::cuda
