// See direct_normals.hpp. Neighbours agree along a minimum spanning tree: edges by (how unlike the normals are, lower
// number, higher number), so that there is one tree.
#include "apps/normals/direct_normals.hpp"

#include "apps/for_each_row.hpp"
#include "runtime/progress_meter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

struct Edge {
  double unlike = 0;  ///< 1 - |cosine of the angle between the normals|
  std::uint32_t low = 0;
  std::uint32_t high = 0;

  friend bool operator<(const Edge& a, const Edge& b) {
    return std::tie(a.unlike, a.low, a.high) < std::tie(b.unlike, b.low, b.high);
  }
  friend bool operator==(const Edge&, const Edge&) = default;
};

template <typename T>
double cosine_of(const T* a, const T* b, std::uint32_t dims) {
  double sum = 0;
  for (std::uint32_t d = 0; d < dims; ++d) sum += static_cast<double>(a[d]) * static_cast<double>(b[d]);
  return sum;
}

/// Which points are connected so far.
class Parts {
 public:
  explicit Parts(std::uint64_t count) : parents_(count) { std::iota(parents_.begin(), parents_.end(), 0u); }

  std::uint32_t find(std::uint32_t point) {
    while (parents_[point] != point) point = parents_[point] = parents_[parents_[point]];
    return point;
  }
  /// False if they were connected already.
  bool join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    parents_[std::max(a, b)] = std::min(a, b);
    return true;
  }

 private:
  std::vector<std::uint32_t> parents_;
};

template <typename T>
std::vector<Edge> edges_of_neighbors(const Index& index, std::uint32_t neighbors, std::span<const T> normals,
                                     int threads) {
  SearchOptions search;
  search.threads = threads;
  search.exclude_self = true;
  neighbors = static_cast<std::uint32_t>(std::min<std::uint64_t>(neighbors, index.size()));
  const Neighbors found = index.knn_self(neighbors, search);
  const std::uint32_t dims = index.dims();
  std::vector<Edge> edges;
  edges.reserve(found.queries() * neighbors);
  for (std::uint64_t point = 0; point < found.queries(); ++point) {
    if (point % 4096 == 0) runtime::look_for_stop();
    for (std::uint32_t j = 0; j < neighbors; ++j) {
      const std::uint32_t other = found.index(point, j);
      if (other == found.missing()) break;
      const double cosine =
          cosine_of(normals.data() + point * dims, normals.data() + std::uint64_t{other} * dims, dims);
      const auto self = static_cast<std::uint32_t>(point);
      edges.push_back({1 - std::abs(cosine), std::min(self, other), std::max(self, other)});
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// Of each point those next to it in the spanning forest, side by side.
struct Forest {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> next;
};

Forest spanning_forest(std::uint64_t points, const std::vector<Edge>& edges) {
  Parts parts(points);
  std::vector<Edge> kept;
  for (const Edge& edge : edges) {
    if (parts.join(edge.low, edge.high)) kept.push_back(edge);
  }
  Forest forest;
  forest.offsets.assign(points + 1, 0);
  for (const Edge& edge : kept) {
    ++forest.offsets[edge.low + 1];
    ++forest.offsets[edge.high + 1];
  }
  std::partial_sum(forest.offsets.begin(), forest.offsets.end(), forest.offsets.begin());
  forest.next.resize(kept.size() * 2);
  std::vector<std::uint64_t> filled(forest.offsets.begin(), forest.offsets.end() - 1);
  for (const Edge& edge : kept) {
    forest.next[filled[edge.low]++] = edge.high;
    forest.next[filled[edge.high]++] = edge.low;
  }
  return forest;
}

template <typename T>
void turn_round(T* normal, std::uint32_t dims) {
  for (std::uint32_t d = 0; d < dims; ++d) normal[d] = T{0} - normal[d];  // never -0
}

/// The points by descending last coordinate, then by number: the first of a part is where its normals begin.
template <typename T>
std::vector<std::uint32_t> from_the_top(std::span<const T> rows, std::uint32_t dims) {
  std::vector<std::uint32_t> order(rows.size() / dims);
  std::iota(order.begin(), order.end(), 0u);
  const auto height = [&](std::uint32_t point) { return rows[std::uint64_t{point} * dims + dims - 1]; };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return height(a) > height(b); });
  return order;
}

}  // namespace

template <typename T>
void look_towards(std::span<const T> rows, std::uint32_t dims, const double* viewpoint, std::span<T> normals,
                  int threads) {
  for_each_row(rows.size() / dims, {.threads = threads}, [&](std::uint64_t i) {
    T* normal = normals.data() + i * dims;
    double along = 0;
    for (std::uint32_t d = 0; d < dims; ++d) {
      along += static_cast<double>(normal[d]) * (viewpoint[d] - static_cast<double>(rows[i * dims + d]));
    }
    if (along < 0) turn_round(normal, dims);
  });
}

template <typename T>
void agree_with_neighbors(const Index& index, std::span<const T> rows, std::uint32_t neighbors, std::span<T> normals,
                          int threads) {
  const std::uint32_t dims = index.dims();
  const Forest forest = spanning_forest(rows.size() / dims, edges_of_neighbors<T>(index, neighbors, normals, threads));
  std::vector<std::uint8_t> is_done(rows.size() / dims);
  std::vector<std::uint32_t> open;
  for (const std::uint32_t root : from_the_top(rows, dims)) {
    if (is_done[root]) continue;
    T* upwards = normals.data() + std::uint64_t{root} * dims;
    if (upwards[dims - 1] < 0) turn_round(upwards, dims);
    is_done[root] = 1;
    open.push_back(root);
    while (!open.empty()) {
      const std::uint32_t point = open.back();
      open.pop_back();
      const T* normal = normals.data() + std::uint64_t{point} * dims;
      for (std::uint64_t e = forest.offsets[point]; e < forest.offsets[point + 1]; ++e) {
        const std::uint32_t other = forest.next[e];
        if (is_done[other]) continue;
        T* turned = normals.data() + std::uint64_t{other} * dims;
        if (cosine_of(normal, turned, dims) < 0) turn_round(turned, dims);
        is_done[other] = 1;
        open.push_back(other);
      }
    }
  }
}

template void look_towards<float>(std::span<const float>, std::uint32_t, const double*, std::span<float>, int);
template void look_towards<double>(std::span<const double>, std::uint32_t, const double*, std::span<double>, int);
template void agree_with_neighbors<float>(const Index&, std::span<const float>, std::uint32_t, std::span<float>, int);
template void agree_with_neighbors<double>(const Index&, std::span<const double>, std::uint32_t, std::span<double>,
                                           int);

}  // namespace kith::apps::inline v0
