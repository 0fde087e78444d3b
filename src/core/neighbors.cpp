// Storage of results. See kith/neighbors.hpp.
#include <kith/neighbors.hpp>

namespace kith::inline v0 {

Distances::Distances(DType dtype, std::size_t count) {
  if (dtype == DType::f32) {
    values_ = ValueArray<float>(count);
  } else {
    values_ = ValueArray<double>(count);
  }
}

}  // namespace kith::inline v0
