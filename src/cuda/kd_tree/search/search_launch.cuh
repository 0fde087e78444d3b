// See search.hpp; included once per type of coordinates.
#pragma once

#include "cuda/check.hpp"
#include "cuda/device_buffer.hpp"
#include "cuda/kd_tree/search/search.hpp"
#include "cuda/kd_tree/search/search_launcher.cuh"
#include "cuda/kd_tree/search/search_steps.cuh"

namespace kith::cuda {

/// A task with its tree's points packed, for as long as it lives.
template <typename Task, typename T>
class PackedTask {
 public:
  PackedTask(const Task& task, const SearchTree<T>& tree, const Stream& stream)
      : packed_(tree.packed == nullptr ? packed_bytes(tree) : 0, stream), task_(task) {
    if (tree.packed == nullptr) task_.tree = launch_pack_steps(tree, packed_.data(), SearchLauncher(stream));
  }
  const Task& task() const { return task_; }

 private:
  DeviceBuffer<std::byte> packed_;
  Task task_;
};
template <typename Task>
auto with_packed_points(const Task& task, const Stream& stream) {
  return PackedTask(task, task.tree, stream);
}

template <typename T>
void search_knn(const KnnTask<T>& task, const Stream& stream) {
  const SearchLimits limits = search_limits(stream.device());
  if (packets_pay(task)) {
    const auto packed = with_packed_points(task, stream);
    DeviceBuffer<std::uint32_t> scratch(PacketScratch::words(task.queries.count), stream);
    const std::uint64_t zeros = PacketScratch::kZeroWords * sizeof(std::uint32_t);
    check(cudaMemsetAsync(scratch.data(), 0, zeros, stream.get()), "searching");
    launch_packet_steps(packed.task(), scratch.data(), limits, SearchLauncher(stream));
    return;
  }
  const ListsPlan plan = plan_knn(task.tree, task.queries.count, task.k, limits);
  DeviceBuffer<std::byte> scratch(plan.scratch_bytes, stream);
  launch_knn_steps(task, plan, scratch.data(), SearchLauncher(stream));
}

template <typename T>
void count_within(const RadiusTask<T>& task, const Stream& stream) {
  if (packets_pay(task)) {
    launch_packet_count_steps(with_packed_points(task, stream).task(), SearchLauncher(stream));
  } else {
    launch_count_steps(task, SearchLauncher(stream));
  }
}
template <typename T>
void list_within(const RadiusTask<T>& task, const Stream& stream) {
  if (!packets_pay(task)) return launch_list_steps(task, SearchLauncher(stream));
  DeviceBuffer<std::uint32_t> scratch(task.queries.count + 1, stream);
  check(cudaMemsetAsync(scratch.data(), 0, sizeof(std::uint32_t), stream.get()), "searching");
  launch_packet_list_steps(with_packed_points(task, stream).task(), scratch.data(), search_limits(stream.device()),
                           SearchLauncher(stream));
}
template <typename T>
void count_in_boxes(const BoxTask<T>& task, const Stream& stream) {
  launch_box_steps(task, false, SearchLauncher(stream));
}
template <typename T>
void list_in_boxes(const BoxTask<T>& task, const Stream& stream) {
  launch_box_steps(task, true, SearchLauncher(stream));
}

template <typename T>
void order_queries(const SearchTree<T>& tree, const T* rows, std::uint64_t row_stride, std::uint64_t count,
                   std::uint32_t* order, const Stream& stream) {
  const OrderLayout layout(tree.geometry.leaves(), count);
  DeviceBuffer<std::uint32_t> scratch(layout.words, stream);
  check(cudaMemsetAsync(scratch.data(), 0, layout.sums_at * sizeof(std::uint32_t), stream.get()), "searching");
  launch_order_steps(tree, rows, row_stride, count, scratch.data(), order, SearchLauncher(stream));
}

template <typename T>
void choose_points(const SearchTree<T>& tree, std::uint32_t first, std::uint32_t end, std::uint32_t* chosen,
                   std::uint32_t* chosen_count, const Stream& stream) {
  check(cudaMemsetAsync(chosen_count, 0, sizeof(std::uint32_t), stream.get()), "searching");
  launch_choose_steps(tree, first, end, chosen, chosen_count, SearchLauncher(stream));
}

}  // namespace kith::cuda
