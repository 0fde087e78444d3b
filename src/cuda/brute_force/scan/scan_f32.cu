// Searches by scans on the GPU for coordinates of type float.
#include "cuda/brute_force/scan/scan_search.cuh"

namespace kith::cuda {

template void scan_knn(const ScannedPoints<float>&, const KnnRequest<float>&, SelectStrategy, const Stream&);
template void scan_count(const ScannedPoints<float>&, const RadiusRequest<float>&, const Stream&);
template void scan_list(const ScannedPoints<float>&, const RadiusRequest<float>&, const Stream&);
template void scan_in_boxes(const ScannedPoints<float>&, const BoxRequest<float>&, bool, const Stream&);
template void take_rows_to(const float*, std::uint64_t, std::uint32_t, std::uint64_t, float*, std::uint32_t*,
                           const Stream&);

std::size_t product_filter_shared_bytes(std::uint32_t dims) { return product_shared_bytes(dims); }

void pack_points(const ScanPoints<float>& points, std::uint16_t* values, float* terms, float* scales, float* centre,
                 const Stream& stream) {
  const SearchLauncher launch(stream);
  launch_find_centre(points, centre, launch);
  launch_pack_rows(PackTask{.rows = points.rows,
                            .row_stride = points.dims,
                            .count = points.count,
                            .dims = points.dims,
                            .centre = centre,
                            .values = values,
                            .terms = terms,
                            .scales = scales},
                   launch);
}

}  // namespace kith::cuda
