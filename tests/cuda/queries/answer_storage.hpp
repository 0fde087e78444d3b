// Room for the answer of a kNN search in any form that one may ask for, and the comparison with what the CPU found.
#pragma once

#include "cuda/queries/put_answer.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace kith::test {

/// Numbers in 32 or 64 bits, reduced distances or roots, at an address for vectors or not: a form for each number, as
/// it may come.
template <typename T>
class AnswerStorage {
 public:
  AnswerStorage(std::uint64_t entries, std::uint64_t form)
      : entries_(entries),
        is_wide_(form % 2 == 1),
        takes_roots_(form / 2 % 2 == 1),
        skipped_(form / 4 % 4 == 3 ? 1 : 0),
        indices_(entries + skipped_ + kBehind, 0xdeadbeef),
        wide_(entries + skipped_ + kBehind, -77),
        reduced_(entries + skipped_ + kBehind, T(-1)) {}

  cuda::KnnAnswer<T> answer() {
    return {.indices = is_wide_ ? nullptr : indices_.data() + skipped_,
            .reduced = reduced_.data() + skipped_,
            .is_reported = is_wide_ || takes_roots_,
            .takes_roots = takes_roots_,
            .wide = is_wide_ ? wide_.data() + skipped_ : nullptr};
  }

  /// By bytes; nothing beside the answer was written.
  void expect(const std::vector<std::uint32_t>& indices, const std::vector<T>& reduced) const {
    ASSERT_EQ(indices.size(), entries_);
    for (std::uint64_t i = 0; i < entries_; ++i) {
      ASSERT_EQ(is_wide_ ? wide_[skipped_ + i] : indices_[skipped_ + i], indices[i]) << "index " << i;
      const T expected = takes_roots_ ? std::sqrt(reduced[i]) : reduced[i];
      ASSERT_EQ(std::memcmp(&reduced_[skipped_ + i], &expected, sizeof(T)), 0)
          << "value " << i << ": " << reduced_[skipped_ + i] << " instead of " << expected;
    }
    for (std::uint64_t i = 0; i < kBehind; ++i) {
      ASSERT_EQ(wide_[skipped_ + entries_ + i], -77);
      ASSERT_EQ(indices_[skipped_ + entries_ + i], 0xdeadbeef);
      ASSERT_EQ(reduced_[skipped_ + entries_ + i], T(-1));
    }
  }

 private:
  static constexpr std::uint64_t kBehind = 4;
  std::uint64_t entries_;
  bool is_wide_, takes_roots_;
  std::uint64_t skipped_;
  std::vector<std::uint32_t> indices_;
  std::vector<std::int64_t> wide_;
  std::vector<T> reduced_;
};

}  // namespace kith::test
