// Storage of results. See kith/neighbors.hpp.
#include <kith/neighbors.hpp>

namespace kith::inline v0 {

Distances::Distances(DType dtype, std::size_t count) {
  if (dtype == DType::f32) {
    values_ = std::vector<float>(count);
  } else {
    values_ = std::vector<double>(count);
  }
}

}  // namespace kith::inline v0
