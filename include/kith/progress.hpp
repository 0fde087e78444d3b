// How long work tells how far it is, and how it is asked to stop.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace kith::inline v0 {

/// How far one stage of the work is.
struct Progress {
  std::string_view stage;   ///< e.g. "reading" or "searching"; valid during the call only
  std::uint64_t done = 0;   ///< in units of the stage (bytes, queries); never decreases within a stage
  std::uint64_t total = 0;  ///< 0 if unknown
};

/// Called about every 20 ms, from one thread at a time, while work runs, and once at the end of each stage. Return
/// false to stop: the call that runs then throws Interrupted. An empty callback is never called.
using ProgressCallback = std::function<bool(const Progress&)>;

}  // namespace kith::inline v0
