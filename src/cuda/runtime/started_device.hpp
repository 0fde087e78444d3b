// The GPU on which an index is built or loaded.
#pragma once

#include "cuda/runtime/device_scope.hpp"
#include "cuda/runtime/stream.hpp"
#include "engine/searcher.hpp"
#include "runtime/time_spent.hpp"

#include <optional>

namespace kith::cuda {

/// A GPU made current, and a stream there. The first of a process waits until the GPU has started.
class StartedDevice {
 public:
  StartedDevice(int ordinal, const engine::RunOptions& run)
      : spent_(std::in_place, runtime::member_of(run.times, &WorkTimes::start_ms)), scope_(ordinal) {
    spent_.reset();
  }

 private:
  std::optional<runtime::TimeSpent> spent_;
  DeviceScope scope_;

 public:
  Stream stream;
};

}  // namespace kith::cuda
