// Objects of any kind in a cover tree on the GPU, for files that do not include kernels: their space is chosen at run
// time.
#pragma once

#include "cuda/cover_tree/device_cover_tree.hpp"
#include "cuda/cover_tree/search/search_types.hpp"
#include "cuda/runtime/build_phases.hpp"
#include "cuda/queries/requests.hpp"
#include "cuda/runtime/stream.hpp"

#include <kith/metric.hpp>

#include <cstdint>

namespace kith::cuda {

enum class SpaceKind : std::uint8_t { f32, f64, bits, hamming, edit_32, edit_64, edit_long, jaccard };

/// What a space is made of.
struct AnySpace {
  SpaceKind kind = SpaceKind::f32;
  std::uint32_t stride = 0;                ///< words in a row of an object
  Metric::Kind metric = Metric::Kind::l2;  ///< f32 and f64
  std::uint32_t symbols = 0;               ///< edit distances
  std::uint32_t most_prepared = 0;         ///< edit_long: symbols; jaccard: words of a row that is a query

  /// Whether searches need heads (search/cover_head.cuh).
  bool has_heads() const {
    return kind == SpaceKind::edit_32 || kind == SpaceKind::edit_64 || kind == SpaceKind::edit_long;
  }
};

/// See build.hpp. The rows are in device memory.
DeviceCoverTree build_cover_tree_of(const AnySpace& space, const std::uint32_t* rows, std::uint32_t count,
                                    const CoverRules& rules, const Stream& stream, BuildPhases* phases = nullptr);

/// How a kNN search may be less than exact.
template <typename T>
struct CoverLeave {
  T shrink = 1;                   ///< as engine::KnnRules says
  std::uint8_t* exact = nullptr;  ///< per row of the answer; null: not requested
};

/// See search/search.hpp. T is the type of the space's values.
template <typename T>
void search_cover_knn_of(const AnySpace& space, const CoverSearchTree& tree, const KnnRequest<T>& request,
                         const CoverLeave<T>& leave, const Stream& stream);
template <typename T>
void search_cover_radius_of(const AnySpace& space, const CoverSearchTree& tree, const RadiusRequest<T>& request,
                            bool lists, const Stream& stream);

}  // namespace kith::cuda
