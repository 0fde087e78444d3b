// See cover_engine.hpp.
#include "cuda/cover_tree/search/cover_engine.hpp"

#include "cuda/cover_tree/tuning.hpp"
#include "cuda/queries/boxes_among_rows.hpp"
#include "cuda/queries/tuning.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"

namespace kith::cuda {

template <typename T>
void CoverEngine<T>::knn(const KnnRequest<T>& request, const engine::KnnRules<T>& rules, std::uint8_t* exact,
                         const Stream& stream) const {
  const CoverLeave<T> leave{rules.shrink, rules.is_exact() ? nullptr : exact};
  const QuerySource<T>& queries = request.queries;
  if (queries.rows == nullptr || queries.count > kMostInHostMemory || queries.row_stride != dims_ ||
      dims_ * sizeof(T) <= kMostReadInPlace) {
    return search_cover_knn_of(space_, cover_.view(), request, leave, stream);
  }
  DeviceBuffer<T> rows(queries.count * dims_, stream);
  check(cudaMemcpyAsync(rows.data(), queries.rows, rows.bytes(), cudaMemcpyDefault, stream.get()), "copying queries");
  KnnRequest<T> here = request;
  here.queries.rows = rows.data();
  search_cover_knn_of(space_, cover_.view(), here, leave, stream);
}

template <typename T>
void CoverEngine<T>::look_in_boxes(const BoxRequest<T>& request, bool lists, const Stream& stream) const {
  if (box_rows_ == nullptr) return;  // boxes of other things are never requested
  find_in_rows(box_rows_, points(), dims_, request, lists, stream);
}

template <typename T>
void CoverEngine<T>::count_in_boxes(const BoxRequest<T>& request, const Stream& stream) const {
  look_in_boxes(request, false, stream);
}
template <typename T>
void CoverEngine<T>::list_in_boxes(const BoxRequest<T>& request, const Stream& stream) const {
  look_in_boxes(request, true, stream);
}

template class CoverEngine<float>;
template class CoverEngine<double>;

}  // namespace kith::cuda
