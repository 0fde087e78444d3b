// Stands in for the CUDA backend in builds without nvcc.
#include "engine/backend.hpp"

namespace kith::engine {

const Backend* cuda_backend() { return nullptr; }

}  // namespace kith::engine
