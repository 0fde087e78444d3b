// Objects in a cover tree in the memory of a GPU, as searches ask them.
#pragma once

#include "cuda/cover_tree/spaces/any_space.hpp"
#include "cuda/cover_tree/search/prepared_cover.hpp"
#include "cuda/queries/search_engine.hpp"

#include <cstdint>

namespace kith::cuda {

/// The tree outlives it, and so do the rows for boxes.
template <typename T>
class CoverEngine final : public SearchEngine<T> {
 public:
  /// Queries are rows of `dims` values of type T, whatever these mean to the space. `box_rows`: vectors by number,
  /// count x dims in device memory; null: there are no boxes.
  CoverEngine(const PreparedCover& cover, const AnySpace& space, std::uint32_t dims, const T* box_rows = nullptr)
      : cover_(cover), space_(space), dims_(dims), box_rows_(box_rows) {}

  std::uint64_t points() const override { return cover_.size(); }
  std::uint32_t dims() const override { return dims_; }
  bool counts_evaluations() const override { return true; }
  void knn(const KnnRequest<T>& request, const engine::KnnRules<T>& rules, std::uint8_t* exact,
           const Stream& stream) const override;
  void count(const RadiusRequest<T>& request, const Stream& stream) const override {
    search_cover_radius_of(space_, cover_.view(), request, false, stream);
  }
  void list(const RadiusRequest<T>& request, const Stream& stream) const override {
    search_cover_radius_of(space_, cover_.view(), request, true, stream);
  }
  void count_in_boxes(const BoxRequest<T>& request, const Stream& stream) const override;
  void list_in_boxes(const BoxRequest<T>& request, const Stream& stream) const override;
  bool wants_order() const override { return false; }
  void order_queries(const T*, std::uint64_t, std::uint64_t, std::uint32_t*, const Stream&) const override {}
  bool wants_chosen() const override { return true; }
  void choose_points(std::uint32_t first, std::uint32_t end, std::uint32_t* chosen, std::uint32_t* chosen_count,
                     const Stream& stream) const override {
    choose_positions(cover_.view(), first, end, chosen, chosen_count, stream);
  }

 private:
  void look_in_boxes(const BoxRequest<T>& request, bool lists, const Stream& stream) const;

  const PreparedCover& cover_;
  AnySpace space_;
  std::uint32_t dims_;
  const T* box_rows_;
};

}  // namespace kith::cuda
