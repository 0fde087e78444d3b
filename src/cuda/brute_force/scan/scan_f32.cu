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

void pack_points(const ScanPoints<float>& points, const PackedPointsMemory& memory, const Stream& stream) {
  const SearchLauncher launch(stream);
  launch_find_centre(points, memory.centre, memory.half_sum_scale, launch);
  launch_pack_rows(PackTask{.rows = points.rows,
                            .row_stride = points.dims,
                            .count = points.count,
                            .dims = points.dims,
                            .centre = memory.centre,
                            .values = memory.values,
                            .terms = memory.terms,
                            .scales = memory.scales},
                   launch);
  if (memory.half_sum_values == nullptr) return;
  launch_pack_half_sum_rows(
      HalfSumPackTask{points, memory.centre, memory.half_sum_scale, memory.half_sum_values, memory.half_sum_terms},
      launch);
}

}  // namespace kith::cuda
