// Points dealt out to participants in different ways.
#pragma once

#include <kith/point_set.hpp>
#include <kith/shards/numbered_points.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace kith::test {

/// The rows of some participants, with their numbers among all.
class DealtPoints {
 public:
  enum class Way { contiguous, in_turn, shuffled, count_of_ways };

  DealtPoints(PointView points, std::size_t participants, Way way, std::mt19937_64& random) {
    std::vector<std::vector<std::uint64_t>> rows(participants);
    for (std::uint64_t i = 0; i < points.rows(); ++i) {
      const std::uint64_t to = way == Way::contiguous ? i * participants / points.rows()
                               : way == Way::in_turn  ? i % participants
                                                      : random() % participants;
      rows[to].push_back(i);
    }
    for (std::vector<std::uint64_t>& own : rows) {
      if (way == Way::shuffled) std::shuffle(own.begin(), own.end(), random);
      PointSet copy(points.dtype(), own.size(), points.dims());
      for (std::size_t i = 0; i < own.size(); ++i) {
        for (std::uint32_t d = 0; d < points.dims(); ++d) {
          if (points.dtype() == DType::f32) {
            copy.values<float>()[i * points.dims() + d] = points.row<float>(own[i])[d];
          } else {
            copy.values<double>()[i * points.dims() + d] = points.row<double>(own[i])[d];
          }
        }
      }
      sets_.push_back(std::move(copy));
      numbers_.push_back(std::move(own));
    }
    for (std::size_t r = 0; r < participants; ++r) {
      // Numbers that count up need no array.
      const bool counts_up = way == Way::contiguous;
      const std::uint64_t first = numbers_[r].empty() ? 0 : numbers_[r].front();
      parts_.push_back({sets_[r].view(), counts_up ? std::span<const std::uint64_t>() : numbers_[r], first});
    }
  }

  const std::vector<shards::NumberedPoints>& parts() const { return parts_; }

 private:
  std::vector<PointSet> sets_;
  std::vector<std::vector<std::uint64_t>> numbers_;
  std::vector<shards::NumberedPoints> parts_;
};

inline DealtPoints::Way random_way(std::mt19937_64& random) {
  return static_cast<DealtPoints::Way>(random() % static_cast<std::uint64_t>(DealtPoints::Way::count_of_ways));
}

}  // namespace kith::test
