// See order_tree.hpp.
#include "cuda/ordered_tree/order_tree.hpp"

#include "cuda/ordered_tree/check_steps.cuh"
#include "cuda/ordered_tree/order_steps.cuh"
#include "cuda/ordered_tree/usable_rows.cuh"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/device_facts.hpp"
#include "cuda/runtime/shared_limit.hpp"
#include "cuda/runtime/step_device.hpp"

namespace kith::cuda {

template <typename T>
bool can_order(std::uint32_t dims, int device) {
  constexpr std::uint32_t kTooManyLevels = 32;
  return plan_order<T>(1, dims, shared_limit_of(device)).levels < kTooManyLevels;
}

template <typename T>
void order_tree(const OrderTask<T>& task, const OrderedNodes<T>& nodes, const Stream& stream, BuildPhases* phases) {
  StepDevice device(stream, "building a tree", phases);
  const OrderPlan plan = plan_order<T>(task.count, task.dims, device.shared_limit(), processors_of(stream.device()));
  DeviceBuffer<std::byte> memory(lay_out_order_scratch<T>(task.count, task.dims, plan, nullptr).bytes, stream);
  OrderSteps<T, StepDevice>(device, task, plan, lay_out_order_scratch<T>(task.count, task.dims, plan, memory.data()),
                            nodes)
      .run();
  check(cudaStreamSynchronize(stream.get()), "building a tree");
  device.report();
}

template <typename T>
bool is_right_tree(const OrderTask<T>& task, std::uint64_t rows, const ClaimedNodes<T>& claimed, const Stream& stream,
                   BuildPhases* phases) {
  StepDevice device(stream, "checking a tree", phases);
  OrderCheck<T> check;
  check.task = task;
  check.rows = rows;
  check.claimed = claimed;
  DeviceBuffer<std::byte> memory(lay_out_check(check, static_cast<std::byte*>(nullptr)), stream);
  lay_out_check(check, memory.data());
  const bool is_right = is_right_order(device, check);
  device.report();
  return is_right;
}

template <typename T>
std::uint32_t list_usable_rows(const T* rows, std::uint64_t row_stride, std::uint32_t dims, std::uint32_t count,
                               std::uint32_t* numbers, const Stream& stream) {
  StepDevice device(stream, "looking for rows that are not finite", nullptr);
  DeviceBuffer<std::uint32_t> flags(std::uint64_t{count} + 1, stream), sums(sum_tiles_of(count) + 1, stream);
  return list_usable_rows(device, rows, row_stride, dims, count, flags.data(), sums.data(), numbers);
}

template bool can_order<float>(std::uint32_t, int);
template bool can_order<double>(std::uint32_t, int);
template void order_tree(const OrderTask<float>&, const OrderedNodes<float>&, const Stream&, BuildPhases*);
template void order_tree(const OrderTask<double>&, const OrderedNodes<double>&, const Stream&, BuildPhases*);
template bool is_right_tree(const OrderTask<float>&, std::uint64_t, const ClaimedNodes<float>&, const Stream&,
                            BuildPhases*);
template bool is_right_tree(const OrderTask<double>&, std::uint64_t, const ClaimedNodes<double>&, const Stream&,
                            BuildPhases*);
template std::uint32_t list_usable_rows(const float*, std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t*,
                                        const Stream&);
template std::uint32_t list_usable_rows(const double*, std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t*,
                                        const Stream&);

}  // namespace kith::cuda
