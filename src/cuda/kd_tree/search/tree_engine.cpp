// See tree_engine.hpp: requests become tasks for a tree.
#include "cuda/kd_tree/search/tree_engine.hpp"

#include "cuda/kd_tree/search/search.hpp"

namespace kith::cuda {
namespace {

template <typename T>
SearchTree<T> search_tree(const DeviceTree<T>& tree) {
  SearchTree<T> view;
  view.blocks = tree.blocks.data();
  view.split_dims = tree.split_dims.data();
  view.split_values = tree.split_values.data();
  view.boxes = tree.boxes.data();
  view.smallest = tree.smallest.data();
  view.geometry = tree.shape.geometry;
  view.dims = tree.shape.dims;
  view.point_bytes = tree.shape.point_bytes;
  return view;
}

}  // namespace

template <typename T>
TreeEngine<T>::TreeEngine(const DeviceTree<T>& tree) : tree_(search_tree(tree)) {}

template <typename T>
void TreeEngine<T>::knn(const KnnRequest<T>& request, const engine::KnnRules<T>& rules, std::uint8_t* exact,
                        const Stream& stream) const {
  const KnnTask<T> task{request, tree_};
  if (rules.is_exact()) return search_knn(task, stream);
  search_knn_approximately(
      ApproximateTask<T>{.knn = task, .shrink = rules.shrink, .max_leaves = rules.max_leaves, .exact = exact}, stream);
}

template <typename T>
void TreeEngine<T>::count(const RadiusRequest<T>& request, const Stream& stream) const {
  count_within(RadiusTask<T>{request, tree_}, stream);
}
template <typename T>
void TreeEngine<T>::list(const RadiusRequest<T>& request, const Stream& stream) const {
  list_within(RadiusTask<T>{request, tree_}, stream);
}
template <typename T>
void TreeEngine<T>::count_in_boxes(const BoxRequest<T>& request, const Stream& stream) const {
  cuda::count_in_boxes(BoxTask<T>{request, tree_}, stream);
}
template <typename T>
void TreeEngine<T>::list_in_boxes(const BoxRequest<T>& request, const Stream& stream) const {
  cuda::list_in_boxes(BoxTask<T>{request, tree_}, stream);
}

template <typename T>
void TreeEngine<T>::order_queries(const T* rows, std::uint64_t row_stride, std::uint64_t count, std::uint32_t* order,
                                  const Stream& stream) const {
  cuda::order_queries(tree_, rows, row_stride, count, order, stream);
}
template <typename T>
void TreeEngine<T>::choose_points(std::uint32_t first, std::uint32_t end, std::uint32_t* chosen,
                                  std::uint32_t* chosen_count, const Stream& stream) const {
  cuda::choose_points(tree_, first, end, chosen, chosen_count, stream);
}

template class TreeEngine<float>;
template class TreeEngine<double>;

}  // namespace kith::cuda
