// See equal_rows.hpp.
#include "cuda/dedupe/equal_rows.hpp"

#include "cuda/dedupe/equal_steps.cuh"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/step_device.hpp"

namespace kith::cuda {

template <typename T>
EqualReport keep_first_rows(const EqualTask<T>& task, std::uint32_t* kept, std::uint32_t* map, const Stream& stream,
                            BuildPhases* phases) {
  DeviceBuffer<std::byte> memory(lay_out_equal_scratch(task.count, nullptr).bytes, stream);
  StepDevice device(stream, "removing duplicates", phases);
  const EqualReport report =
      EqualSteps<T, StepDevice>(device, task, lay_out_equal_scratch(task.count, memory.data()), kept, map).run();
  device.report();
  return report;
}

template EqualReport keep_first_rows(const EqualTask<float>&, std::uint32_t*, std::uint32_t*, const Stream&,
                                     BuildPhases*);
template EqualReport keep_first_rows(const EqualTask<double>&, std::uint32_t*, std::uint32_t*, const Stream&,
                                     BuildPhases*);

}  // namespace kith::cuda
