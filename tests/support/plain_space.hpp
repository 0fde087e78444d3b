// Objects for tests of the cover tree: anything that a distance function can tell apart, measured one by one.
#pragma once

#include "cpu/cover_tree/space.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace kith::test {

/// A space over a function (i, j) -> Value of two objects' numbers; queries from outside do not occur.
template <typename V>
class PlainSpace {
 public:
  using Value = V;
  using Outside = std::uint32_t;
  using Between = std::function<Value(std::uint32_t, std::uint32_t)>;

  struct Query {
    std::uint32_t number = 0;
  };

  class Rows {
   public:
    Rows(const PlainSpace& space, std::span<const std::uint32_t> numbers)
        : space_(&space), numbers_(numbers.begin(), numbers.end()) {}

    void measure(const Query& query, std::uint32_t first, std::uint32_t count, Value, Value* values) const {
      for (std::uint32_t i = 0; i < count; ++i) values[i] = space_->between_(query.number, numbers_[first + i]);
    }
    std::uint64_t memory_bytes() const { return numbers_.size() * sizeof(numbers_[0]); }

   private:
    const PlainSpace* space_;
    std::vector<std::uint32_t> numbers_;
  };

  /// `roots`: a Value is a squared distance.
  PlainSpace(std::uint32_t size, Between between, core::CoverRounding rounding, bool roots)
      : size_(size), between_(std::move(between)), rounding_(rounding), roots_(roots) {}

  std::uint32_t size() const { return size_; }
  void ask(Query& query, std::uint32_t number) const { query.number = number; }
  void ask_outside(Query& query, const Outside& number) const { query.number = number; }
  Rows arrange(std::span<const std::uint32_t> numbers, int) const { return Rows(*this, numbers); }
  double metric(Value value) const { return static_cast<double>(roots_ ? std::sqrt(value) : value); }
  core::CoverRounding rounding() const { return rounding_; }
  bool same(std::uint32_t a, std::uint32_t b) const { return between_(a, b) == 0; }

 private:
  std::uint32_t size_;
  Between between_;
  core::CoverRounding rounding_;
  bool roots_;
};

/// Rows, which must stay, with the reduced distance of L2.
template <typename T>
PlainSpace<T> vectors(const std::vector<T>& rows, std::uint32_t dims) {
  return PlainSpace<T>(
      static_cast<std::uint32_t>(rows.size() / dims),
      [&rows, dims](std::uint32_t a, std::uint32_t b) {
        T sum = 0;
        for (std::uint32_t d = 0; d < dims; ++d) {
          const T e = rows[a * dims + d] - rows[b * dims + d];
          sum = std::fma(e, e, sum);
        }
        return sum;
      },
      core::reduced_rounding<T>(dims), true);
}

/// Up to `most` words of few bits, by how many of these differ: many ties.
inline PlainSpace<float> random_words_space(std::uint64_t most, std::mt19937_64& random) {
  std::vector<std::uint64_t> words(1 + random() % most);
  const std::uint64_t mask = (std::uint64_t{1} << (2 + random() % 14)) - 1;
  for (auto& word : words) word = random() & mask;
  const auto count = static_cast<std::uint32_t>(words.size());
  return PlainSpace<float>(
      count,
      [words = std::move(words)](std::uint32_t a, std::uint32_t b) {
        return static_cast<float>(__builtin_popcountll(words[a] ^ words[b]));
      },
      {}, false);
}

}  // namespace kith::test
