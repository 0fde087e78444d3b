// How long the steps of work in a stream take, measured by the GPU.
#pragma once

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstddef>
#include <vector>

namespace kith::cuda {

/// Two kinds of steps that take turns; each mark begins the next one and ends the one before.
class TimeMarks {
 public:
  explicit TimeMarks(const Stream& stream) : stream_(stream.get()) {}
  ~TimeMarks() {
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
  }
  TimeMarks(const TimeMarks&) = delete;
  TimeMarks& operator=(const TimeMarks&) = delete;

  void begin() {
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event), "making an event");
    events_.push_back(event);
    check(cudaEventRecord(event, stream_), "marking a place in a stream");
  }

  /// All steps number `kind` (0 or 1), `kind` + 2, and so on; the stream has done them.
  double sum_ms(std::size_t kind) const {
    double sum = 0;
    for (std::size_t i = kind; i + 1 < events_.size(); i += 2) {
      float ms = 0;
      check(cudaEventElapsedTime(&ms, events_[i], events_[i + 1]), "measuring time");
      sum += static_cast<double>(ms);
    }
    return sum;
  }

 private:
  cudaStream_t stream_;
  std::vector<cudaEvent_t> events_;
};

}  // namespace kith::cuda
