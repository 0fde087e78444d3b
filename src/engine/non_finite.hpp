// How a backend says that it found NaN or infinity among points that it was to look at itself.
#pragma once

namespace kith::engine {

/// Thrown by a build whose points were not known to be finite. Never leaves the engine: the facade finds out which row
/// it is.
struct NonFinite {};

}  // namespace kith::engine
