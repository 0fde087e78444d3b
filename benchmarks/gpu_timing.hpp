// What the timers of the GPU share: medians of times between CUDA events, copies, and the run of a timer.
#pragma once

#include "timer_results.hpp"

#include "cuda/runtime/build_phases.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/stream.hpp"

#include <kith/error.hpp>

#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace kith {

inline constexpr int kWarmUps = 3;
inline constexpr int kRuns = 9;

/// The median over the runs of the time between two events around `work`.
class EventTimer {
 public:
  explicit EventTimer(cudaStream_t stream) : stream_(stream) {
    cuda::check(cudaEventCreate(&start_), "making an event");
    cuda::check(cudaEventCreate(&stop_), "making an event");
  }
  ~EventTimer() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;

  double median_ms(const std::function<void()>& work) const {
    std::vector<double> times;
    for (int run = -kWarmUps; run < kRuns; ++run) {
      const double ms = once_ms(work);
      if (run >= 0) times.push_back(ms);
    }
    return median(times);
  }

  double once_ms(const std::function<void()>& work) const {
    cuda::check(cudaEventRecord(start_, stream_), "timing");
    work();
    cuda::check(cudaEventRecord(stop_, stream_), "timing");
    cuda::check(cudaEventSynchronize(stop_), "timing");
    float ms = 0;
    cuda::check(cudaEventElapsedTime(&ms, start_, stop_), "timing");
    return static_cast<double>(ms);
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

inline std::string machine_json() {
  cudaDeviceProp properties{};
  int driver = 0, runtime = 0;
  cuda::check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU");
  cuda::check(cudaDriverGetVersion(&driver), "asking for the driver");
  cuda::check(cudaRuntimeGetVersion(&runtime), "asking for the runtime");
  const std::string cpu = first_line_of("sed -n 's/^model name.*: //p' /proc/cpuinfo");
  char text[1024];
  std::snprintf(text, sizeof text,
                "{\"gpu\": \"%s\", \"cuda\": \"%d.%d\", \"driver_cuda\": \"%d.%d\", \"cpu\": \"%s\", \"cores\": %u, "
                "\"system\": \"Linux\", \"commit\": \"%s\"}",
                properties.name, runtime / 1000, runtime % 1000 / 10, driver / 1000, driver % 1000 / 10, cpu.c_str(),
                std::thread::hardware_concurrency(), commit().c_str());
  return text;
}

template <typename T>
cuda::DeviceBuffer<T> on_device(std::span<const T> values, const cuda::Stream& stream) {
  cuda::DeviceBuffer<T> copy(values.size(), stream);
  if (!values.empty()) {
    cuda::check(cudaMemcpyAsync(copy.data(), values.data(), copy.bytes(), cudaMemcpyHostToDevice, stream.get()),
                "copying to the GPU");
  }
  stream.synchronize();
  return copy;
}

template <typename T>
std::vector<T> on_host(const T* values, std::uint64_t count) {
  std::vector<T> copy(count);
  cuda::check(cudaMemcpy(copy.data(), values, count * sizeof(T), cudaMemcpyDeviceToHost), "copying from the GPU");
  return copy;
}

/// The time of each step: the median of some builds that wait after each.
template <typename Build>
std::vector<cuda::BuildPhase> phases_of(Build&& build) {
  std::vector<cuda::BuildPhases> runs(5);
  for (cuda::BuildPhases& run : runs) build(&run);
  std::vector<cuda::BuildPhase> phases = runs[0].phases;
  for (std::size_t p = 0; p < phases.size(); ++p) {
    std::vector<double> times;
    for (const cuda::BuildPhases& run : runs) {
      if (p < run.phases.size()) times.push_back(run.phases[p].ms);
    }
    phases[p].ms = median(times);
  }
  return phases;
}

/// Calls measure(results, argument) for the second argument or an empty one; the first is the file of results.
template <typename Measure>
int run_timer(int argc, char** argv, const char* usage, Measure&& measure) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s\n", usage);
    return 2;
  }
  try {
    Results results;
    measure(results, std::string(argc > 2 ? argv[2] : ""));
    return results.write(argv[1], machine_json()) ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}

}  // namespace kith
