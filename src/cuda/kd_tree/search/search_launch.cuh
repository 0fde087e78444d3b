// See search.hpp; included once per type of coordinates.
#pragma once

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/kd_tree/search/packet/general_packets.hpp"
#include "cuda/kd_tree/search/search.hpp"
#include "cuda/queries/search_limits.cuh"
#include "cuda/kd_tree/search/search_steps.cuh"
#include "cuda/queries/search_launcher.cuh"

#include <kith/error.hpp>

#include <memory>

namespace kith::cuda {

/// A task with its tree's points packed, for as long as it lives.
template <typename Task>
class PackedTask {
 public:
  PackedTask(const Task& task, const Stream& stream)
      : packed_(task.tree.packed == nullptr ? packed_bytes(task.tree) : 0, stream), task_(task) {
    if (task.tree.packed == nullptr) {
      task_.tree = launch_pack_steps(task.tree, packed_.data(), SearchLauncher(stream));
    }
  }
  const Task& task() const { return task_; }

 private:
  DeviceBuffer<std::byte> packed_;
  Task task_;
};
/// For packets, if they pay and there is memory for the points; otherwise a warp takes a query.
template <typename Task>
std::unique_ptr<const PackedTask<Task>> for_packets(const Task& task, const Stream& stream) {
  if (!packets_pay(task)) return nullptr;
  try {
    return std::make_unique<const PackedTask<Task>>(task, stream);
  } catch (const OutOfMemory&) {
    return nullptr;
  }
}

template <typename T>
void search_knn(const KnnTask<T>& task, const Stream& stream) {
  const SearchLimits limits = search_limits(stream.device());
  if (const auto packed = for_packets(task, stream)) {
    DeviceBuffer<std::uint32_t> scratch(PacketScratch::words(task.queries.count), stream);
    const std::uint64_t zeros = PacketScratch::zero_words(task.queries.count) * sizeof(std::uint32_t);
    check(cudaMemsetAsync(scratch.data(), 0, zeros, stream.get()), "searching");
    launch_packet_steps(packed->task(), scratch.data(), limits, SearchLauncher(stream),
                        [&](const PacketTask<T>& general) { search_general_packets(general, stream); });
    return;
  }
  const ListsPlan plan = plan_knn(task.tree, task.queries.count, task.k, limits);
  DeviceBuffer<std::byte> scratch(plan.scratch_bytes, stream);
  launch_knn_steps(task, plan, scratch.data(), SearchLauncher(stream));
}

template <typename T>
void count_within(const RadiusTask<T>& task, const Stream& stream) {
  if (const auto packed = for_packets(task, stream)) {
    launch_packet_count_steps(packed->task(), SearchLauncher(stream));
  } else {
    launch_count_steps(task, SearchLauncher(stream));
  }
}
template <typename T>
void list_within(const RadiusTask<T>& task, const Stream& stream) {
  const auto packed = for_packets(task, stream);
  if (packed == nullptr) return launch_list_steps(task, SearchLauncher(stream));
  DeviceBuffer<std::uint32_t> scratch(task.queries.count + 1, stream);
  check(cudaMemsetAsync(scratch.data(), 0, sizeof(std::uint32_t), stream.get()), "searching");
  launch_packet_list_steps(packed->task(), scratch.data(), search_limits(stream.device()), SearchLauncher(stream));
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
