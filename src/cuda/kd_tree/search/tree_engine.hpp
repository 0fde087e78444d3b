// The k-d tree as searches on the GPU ask it.
#pragma once

#include "cuda/kd_tree/device_tree.hpp"
#include "cuda/kd_tree/search/knn_bytes.hpp"
#include "cuda/kd_tree/search/search_types.hpp"
#include "cuda/queries/search_engine.hpp"

#include <cstdint>

namespace kith::cuda {

/// The arrays of the tree outlive it.
template <typename T>
class TreeEngine final : public SearchEngine<T> {
 public:
  explicit TreeEngine(const DeviceTree<T>& tree);

  std::uint64_t points() const override { return tree_.geometry.points; }
  std::uint32_t dims() const override { return tree_.dims; }
  KnnExtra knn_extra() const override { return kTreeKnnExtra; }
  void knn(const KnnRequest<T>& request, const engine::KnnRules<T>& rules, std::uint8_t* exact,
           const Stream& stream) const override;
  void count(const RadiusRequest<T>& request, const Stream& stream) const override;
  void list(const RadiusRequest<T>& request, const Stream& stream) const override;
  void count_in_boxes(const BoxRequest<T>& request, const Stream& stream) const override;
  void list_in_boxes(const BoxRequest<T>& request, const Stream& stream) const override;
  std::string explain(const engine::SearchShape& shape, const SearchMetric<T>& metric) const override;
  bool wants_order() const override { return true; }
  void order_queries(const T* rows, std::uint64_t row_stride, std::uint64_t count, std::uint32_t* order,
                     const Stream& stream) const override;
  bool wants_chosen() const override { return true; }
  void choose_points(std::uint32_t first, std::uint32_t end, std::uint32_t* chosen, std::uint32_t* chosen_count,
                     const Stream& stream) const override;

 private:
  SearchTree<T> tree_;
};

}  // namespace kith::cuda
