// One object measured with many that stay where they lie.
#pragma once

#include "cpu/cover_tree/space.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace kith::cpu {

/// Owns memory that is used again. For spaces that prefer it; never asked of others.
template <Space S>
class OneWithMany {
 public:
  using Value = typename S::Value;

  void measure(const S& space, std::uint32_t one, const std::uint32_t* numbers, std::uint32_t count, Value* values) {
    if constexpr (MeasuresFew<S>) {
      if (limits_.size() < count) {
        limits_.resize(count, std::numeric_limits<Value>::infinity());
        found_.resize(count);
        found_values_.resize(std::size_t{count} * kFew);
      }
      few_.set(space, {&one, 1});
      few_.measure(numbers, limits_.data(), count, found_.data(), found_values_.data());
      for (std::uint32_t i = 0; i < count; ++i) values[i] = found_values_[std::size_t{i} * kFew];
    }
  }

 private:
  typename FewOf<S>::Few few_;
  std::vector<Value> limits_, found_values_;
  std::vector<std::uint32_t> found_;
};

}  // namespace kith::cpu
