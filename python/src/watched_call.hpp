// Calls into the library: without the GIL, and with Ctrl-C and a progress callback of Python's obeyed.
#pragma once

#include <kith/error.hpp>
#include <kith/progress.hpp>

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <utility>

namespace kith::python {

namespace nb = nanobind;

/// Looks for signals and reports progress while the library works. Made and destroyed with the GIL held; stays where it
/// is, because the callback points to it.
class Watch {
 public:
  Watch() = default;
  /// `progress` is None or a callable (stage, done, total); what it raises stops the work.
  explicit Watch(nb::object progress) : progress_(std::move(progress)) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Replaces the callable.
  void report_to(nb::object progress) { progress_ = std::move(progress); }

  /// For the options of the library. The library calls it on the thread that waits for the answer.
  ProgressCallback callback() {
    return [this](const Progress& progress) { return look(progress); };
  }

  /// Runs `work` without the GIL. What the callback or a signal handler raised comes out as it was.
  template <typename Work>
  auto run(Work&& work) {
    try {
      const nb::gil_scoped_release released;
      return work();
    } catch (const Interrupted&) {
      if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
      throw;
    }
  }

 private:
  bool look(const Progress& progress);

  nb::object progress_ = nb::none();
  std::exception_ptr raised_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace kith::python
