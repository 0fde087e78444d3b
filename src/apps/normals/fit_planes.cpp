// See fit_planes.hpp: lists of neighbours chunk by chunk, then a plane for each.
#include "apps/normals/fit_planes.hpp"

#include "apps/for_each_row.hpp"
#include "core/cloud/neighborhood.hpp"

#include <kith/neighbors.hpp>
#include <kith/point_view.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

/// Entries of lists in memory at a time.
constexpr std::uint64_t kPlaneNeighborsAtOnce = std::uint64_t{1} << 24;

template <typename T, int D>
void fit(const T* rows, std::uint64_t point, const std::uint32_t* list, std::uint64_t length, T* normal, T* curvature) {
  core::Neighborhood<D> around;
  for (std::uint64_t j = 0; j < length; ++j) around.add(rows + std::uint64_t{list[j]} * D, rows + point * D);
  const core::FittedPlane<D> plane = core::fitted_plane(around);
  for (int d = 0; d < D; ++d) normal[d] = static_cast<T>(plane.normal[d]);
  if (curvature != nullptr) *curvature = static_cast<T>(plane.curvature);
}

template <typename T, int D>
class PlaneFitter {
 public:
  PlaneFitter(const Index& index, std::span<const T> rows, const PlaneNeighbors& neighbors, std::span<T> normals,
              std::span<T> curvatures, KeptNeighbors* keep)
      : index_(index), rows_(rows), neighbors_(neighbors), normals_(normals), curvatures_(curvatures), keep_(keep) {}

  void run() {
    if (neighbors_.radius) {
      by_radius();
    } else {
      by_count();
    }
  }

 private:
  std::uint64_t points() const { return rows_.size() / D; }
  PointView slice(std::uint64_t first, std::uint64_t count) const {
    return PointView(rows_.data() + first * D, count, D);
  }
  SearchOptions search() const {
    SearchOptions options;
    options.threads = neighbors_.threads;
    if (neighbors_.progress != nullptr) options.progress = *neighbors_.progress;
    return options;
  }

  template <typename ListOf>
  void fit_all(std::uint64_t first, std::uint64_t count, const ListOf& list_of) {
    for_each_row(count, {.threads = neighbors_.threads, .stage = "fitting planes"}, [&](std::uint64_t i) {
      const std::span<const std::uint32_t> list = list_of(i);
      const std::uint64_t point = first + i;
      fit<T, D>(rows_.data(), point, list.data(), list.size(), normals_.data() + point * D,
                curvatures_.empty() ? nullptr : curvatures_.data() + point);
    });
  }

  void by_count() {
    const std::uint32_t k =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(neighbors_.count, std::max<std::uint64_t>(points(), 1)));
    const std::uint64_t most = std::max<std::uint64_t>(1, kPlaneNeighborsAtOnce / k);
    std::vector<std::uint32_t> indices(std::min(points(), most) * k);
    std::vector<T> distances(indices.size());
    for (std::uint64_t first = 0; first < points(); first += most) {
      const std::uint64_t count = std::min(most, points() - first);
      const std::span<std::uint32_t> found(indices.data(), count * k);
      const std::span<T> measured(distances.data(), count * k);
      if (count == points()) {
        index_.knn_self(k, found, measured, search());
      } else {
        index_.knn(slice(first, count), k, found, measured, search());
      }
      fit_all(first, count, [&](std::uint64_t i) { return std::span<const std::uint32_t>(found).subspan(i * k, k); });
    }
    if (keep_ != nullptr && points() <= most) {
      keep_->count = k;
      keep_->distances = rounded_down(distances);
      keep_->indices = std::move(indices);
    }
  }

  /// By more than distances round; squares that overflow are as far as any whose root is known.
  std::vector<float> rounded_down(const std::vector<T>& distances) const {
    constexpr float kLess = 1 - 1e-5F;
    const T most =
        std::min(static_cast<T>(std::numeric_limits<float>::max()), std::sqrt(std::numeric_limits<T>::max()));
    std::vector<float> rounded(distances.size());
    for_each_row(distances.size(), {.threads = neighbors_.threads},
                 [&](std::uint64_t i) { rounded[i] = static_cast<float>(std::min(distances[i], most)) * kLess; });
    return rounded;
  }

  void by_radius() {
    // Lists of unknown length: counted first, then taken for as many points as fit.
    const std::vector<std::uint32_t> counts = index_.count_self(*neighbors_.radius, search());
    for (std::uint64_t first = 0; first < points();) {
      std::uint64_t entries = counts[first];
      std::uint64_t last = first + 1;
      while (last < points() && entries + counts[last] <= kPlaneNeighborsAtOnce) entries += counts[last++];
      const NeighborLists lists = index_.radius(slice(first, last - first), *neighbors_.radius, search());
      fit_all(first, last - first,
              [&](std::uint64_t i) { return lists.indices().subspan(lists.offsets()[i], lists.count(i)); });
      first = last;
    }
  }

  const Index& index_;
  std::span<const T> rows_;
  PlaneNeighbors neighbors_;
  std::span<T> normals_;
  std::span<T> curvatures_;
  KeptNeighbors* keep_;
};

}  // namespace

template <typename T>
void fit_planes(const Index& index, std::span<const T> rows, const PlaneNeighbors& neighbors, std::span<T> normals,
                std::span<T> curvatures, KeptNeighbors* keep) {
  if (index.dims() == 2) {
    PlaneFitter<T, 2>(index, rows, neighbors, normals, curvatures, keep).run();
  } else {
    PlaneFitter<T, 3>(index, rows, neighbors, normals, curvatures, keep).run();
  }
}

template void fit_planes<float>(const Index&, std::span<const float>, const PlaneNeighbors&, std::span<float>,
                                std::span<float>, KeptNeighbors*);
template void fit_planes<double>(const Index&, std::span<const double>, const PlaneNeighbors&, std::span<double>,
                                 std::span<double>, KeptNeighbors*);

}  // namespace kith::apps::inline v0
