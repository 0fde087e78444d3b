// Searches by scans on the GPU for coordinates of type double.
#include "cuda/brute_force/scan/scan_search.cuh"

namespace kith::cuda {

template void scan_knn(const ScannedPoints<double>&, const KnnRequest<double>&, SelectStrategy, const Stream&);
template void scan_count(const ScannedPoints<double>&, const RadiusRequest<double>&, const Stream&);
template void scan_list(const ScannedPoints<double>&, const RadiusRequest<double>&, const Stream&);
template void scan_in_boxes(const ScannedPoints<double>&, const BoxRequest<double>&, bool, const Stream&);
template void take_rows_to(const double*, std::uint64_t, std::uint32_t, std::uint64_t, double*, std::uint32_t*,
                           const Stream&);

}  // namespace kith::cuda
