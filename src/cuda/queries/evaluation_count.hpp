// How many distances a search measured, counted on the GPU by engines that do.
#pragma once

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/staging.hpp"
#include "engine/searcher.hpp"

#include <cstdint>

namespace kith::cuda {

/// A counter that kernels in a stream add to, or none.
class EvaluationCount {
 public:
  EvaluationCount(bool is_wanted, const Stream& stream) : count_(is_wanted ? 1 : 0, stream) {
    if (is_wanted) check(cudaMemsetAsync(count_.data(), 0, count_.bytes(), stream.get()), "writing zeros");
  }
  std::uint64_t* data() { return count_.size() == 0 ? nullptr : count_.data(); }
  /// Waits for the stream if there is a counter.
  void add_to(const engine::RunOptions& run, const Stream& stream) const {
    if (count_.size() == 0 || run.times == nullptr) return;
    std::uint64_t count = 0;
    copy_to_host(&count, count_.data(), sizeof count, stream, {.threads = 1});
    run.times->evaluations += count;
  }

 private:
  DeviceBuffer<std::uint64_t> count_;
};

}  // namespace kith::cuda
