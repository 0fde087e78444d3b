// See watched_call.hpp.
#include "watched_call.hpp"

namespace kith::python {

namespace {
constexpr std::chrono::milliseconds kBetweenLooks{50};
}

bool Watch::look(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  const bool ends_stage = !progress_.is_none() && progress.total != 0 && progress.done >= progress.total;
  if (now - last_ < kBetweenLooks && !ends_stage) return true;
  last_ = now;
  const nb::gil_scoped_acquire held;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress_.is_none()) {
      progress_(nb::str(progress.stage.data(), progress.stage.size()), progress.done, progress.total);
    }
    return true;
  } catch (...) {
    raised_ = std::current_exception();
    return false;
  }
}

}  // namespace kith::python
