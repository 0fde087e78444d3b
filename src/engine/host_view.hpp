// A caller's array where the CPU can read it: itself, or a copy of one that lies on a GPU.
#pragma once

#include "engine/backend.hpp"

#include <kith/error.hpp>
#include <kith/point_set.hpp>
#include <kith/point_view.hpp>

namespace kith::engine {

/// Keeps the copy, if there is one. Throws DeviceError if the GPU or the CUDA backend is missing, UsageError if the
/// memory is not where the view says, OutOfMemory.
class HostView {
 public:
  HostView(PointView points, int threads) : view_(points) {
    if (points.device().kind() != Device::Kind::cuda) return;
    if (cuda_backend() == nullptr) {
      throw DeviceError("an array on " + points.device().name() + ", but this build has no CUDA backend");
    }
    copy_ = cuda_backend()->copy_to_host(points, threads);
    view_ = copy_.view();
  }
  HostView(const HostView&) = delete;
  HostView& operator=(const HostView&) = delete;

  PointView view() const { return view_; }

 private:
  PointSet copy_;
  PointView view_;
};

}  // namespace kith::engine
