// See cover_engine.hpp.
#include "cuda/cover_tree/search/cover_engine.hpp"

#include "cuda/brute_force/scan/knn_rounds.hpp"
#include "cuda/brute_force/scan/scan_search.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"

namespace kith::cuda {
namespace {

/// So few queries come with little else, and may lie in host memory, from where kernels read rows of more bytes slowly,
/// the longest again and again.
constexpr std::uint64_t kFewQueries = 1024;
constexpr std::uint64_t kMostCopied = 512;

}  // namespace

template <typename T>
void CoverEngine<T>::knn(const KnnQuestion<T>& question, const engine::KnnRules<T>& rules, std::uint8_t* exact,
                         const Stream& stream) const {
  const CoverLeave<T> leave{rules.shrink, rules.is_exact() ? nullptr : exact};
  const QuerySource<T>& queries = question.queries;
  if (queries.rows == nullptr || queries.count > kFewQueries || queries.row_stride != dims_ ||
      dims_ * sizeof(T) <= kMostCopied) {
    return search_cover_knn_of(space_, cover_.view(), question, leave, stream);
  }
  DeviceBuffer<T> rows(queries.count * dims_, stream);
  check(cudaMemcpyAsync(rows.data(), queries.rows, rows.bytes(), cudaMemcpyDefault, stream.get()), "copying queries");
  KnnQuestion<T> here = question;
  here.queries.rows = rows.data();
  search_cover_knn_of(space_, cover_.view(), here, leave, stream);
}

template <typename T>
void CoverEngine<T>::look_in_boxes(const BoxQuestion<T>& question, bool lists, const Stream& stream) const {
  if (box_rows_ == nullptr) return;  // nobody asks for boxes of other things
  ScannedPoints<T> scanned;
  scanned.points = {box_rows_, points(), dims_};
  scanned.order = spread_order(tiles_of(points()));
  scan_in_boxes(scanned, question, lists, stream);
}

template <typename T>
void CoverEngine<T>::count_in_boxes(const BoxQuestion<T>& question, const Stream& stream) const {
  look_in_boxes(question, false, stream);
}
template <typename T>
void CoverEngine<T>::list_in_boxes(const BoxQuestion<T>& question, const Stream& stream) const {
  look_in_boxes(question, true, stream);
}

template class CoverEngine<float>;
template class CoverEngine<double>;

}  // namespace kith::cuda
