// See any_space.hpp: run-time spaces become types. The kernels are instantiated elsewhere, a few spaces in a file.
#include "cuda/cover_tree/spaces/any_space.hpp"

#include "cuda/cover_tree/spaces/bit_space.cuh"
#include "cuda/cover_tree/build/build.hpp"
#include "cuda/cover_tree/build/build_vectors.hpp"
#include "cuda/cover_tree/spaces/edit_space.cuh"
#include "cuda/cover_tree/spaces/hamming_space.cuh"
#include "cuda/cover_tree/spaces/jaccard_space.cuh"
#include "cuda/cover_tree/spaces/long_edit_space.cuh"
#include "cuda/cover_tree/search/search.hpp"
#include "cuda/cover_tree/spaces/vector_space.cuh"

#include <type_traits>

namespace kith::cuda {
namespace {

/// Calls `f` with the space, if its values are of type T.
template <typename T, typename F>
void visit_space(const AnySpace& space, const F& f) {
  if constexpr (std::is_same_v<T, double>) {
    f(VectorSpace<double>(space.stride / 2, space.metric));
  } else {
    switch (space.kind) {
      case SpaceKind::f64:
        return;
      case SpaceKind::f32:
        return f(VectorSpace<float>(space.stride, space.metric));
      case SpaceKind::bits:
        return f(BitSpace(space.stride));
      case SpaceKind::hamming:
        return f(HammingSpace(space.stride));
      case SpaceKind::edit_32:
        return f(EditSpace<std::uint32_t>(space.stride, space.symbols));
      case SpaceKind::edit_64:
        return f(EditSpace<std::uint64_t>(space.stride, space.symbols));
      case SpaceKind::edit_long:
        return f(LongEditSpace(space.stride, space.symbols, space.most_prepared));
      case SpaceKind::jaccard:
        return f(JaccardSpace(space.stride, space.most_prepared));
    }
  }
}

}  // namespace

DeviceCoverTree build_cover_tree_of(const AnySpace& space, const std::uint32_t* rows, std::uint32_t count,
                                    const CoverRules& rules, const Stream& stream, BuildPhases* phases) {
  if (space.kind == SpaceKind::f64) {
    return build_cover_tree_of_vectors(reinterpret_cast<const double*>(rows), count, space.stride / 2, space.metric,
                                       rules, stream, phases);
  }
  if (space.kind == SpaceKind::f32) {
    return build_cover_tree_of_vectors(reinterpret_cast<const float*>(rows), count, space.stride, space.metric, rules,
                                       stream, phases);
  }
  DeviceCoverTree tree;
  visit_space<float>(space, [&](const auto& typed) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(typed)>, VectorSpace<float>>) {
      tree = build_cover_tree(typed, rows, count, rules, stream, phases);
    }
  });
  return tree;
}

template <typename T>
void search_cover_knn_of(const AnySpace& space, const CoverSearchTree& tree, const KnnRequest<T>& request,
                         const CoverLeave<T>& leave, const Stream& stream) {
  visit_space<T>(space, [&](const auto& typed) {
    using Space = std::decay_t<decltype(typed)>;
    search_cover_knn(CoverKnnTask<Space>{typed, tree, request, leave.shrink, leave.exact}, stream);
  });
}
template <typename T>
void search_cover_radius_of(const AnySpace& space, const CoverSearchTree& tree, const RadiusRequest<T>& request,
                            bool lists, const Stream& stream) {
  visit_space<T>(space, [&](const auto& typed) {
    using Space = std::decay_t<decltype(typed)>;
    search_cover_radius(CoverRadiusTask<Space>{typed, tree, request}, lists, stream);
  });
}

template void search_cover_knn_of(const AnySpace&, const CoverSearchTree&, const KnnRequest<float>&,
                                  const CoverLeave<float>&, const Stream&);
template void search_cover_knn_of(const AnySpace&, const CoverSearchTree&, const KnnRequest<double>&,
                                  const CoverLeave<double>&, const Stream&);
template void search_cover_radius_of(const AnySpace&, const CoverSearchTree&, const RadiusRequest<float>&, bool,
                                     const Stream&);
template void search_cover_radius_of(const AnySpace&, const CoverSearchTree&, const RadiusRequest<double>&, bool,
                                     const Stream&);

}  // namespace kith::cuda
