// One pass of a radix sort over many segments at once: the records of each are put in the order of a digit, stably.
#pragma once

#include "runtime/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::cpu {

/// Segments of an array, cut into blocks: what one thread counts and moves at a time.
class Segments {
 public:
  struct Block {
    std::uint64_t segment, begin, end;
  };

  /// `first(s)` is where segment s begins; that of `count` is the end of the last one.
  template <typename First>
  Segments(std::uint64_t count, const First& first) {
    for (std::uint64_t s = 0; s < count; ++s) {
      for (std::uint64_t begin = first(s); begin < first(s + 1); begin += kBlock) {
        blocks_.push_back({s, begin, std::min(first(s + 1), begin + kBlock)});
      }
    }
  }

  const std::vector<Block>& blocks() const { return blocks_; }
  /// Calls visit(block number) for all of them.
  template <typename Visit>
  void for_blocks(int threads, const Visit& visit) const {
    constexpr double kNanoseconds = 1;
    runtime::parallel_for(blocks_.size(), {.threads = threads, .nanoseconds_per_task = kBlock * kNanoseconds}, visit);
  }

 private:
  static constexpr std::uint64_t kBlock = 1 << 15;

  std::vector<Block> blocks_;
};

/// `digits_of(segment)` returns a function that gives the digit of a record, which is below `digits`. `from` and `to`
/// do not overlap.
template <typename Record, typename DigitsOf>
void segmented_pass(const Segments& segments, std::uint32_t digits, const Record* from, Record* to,
                    const DigitsOf& digits_of, int threads) {
  const std::vector<Segments::Block>& blocks = segments.blocks();
  std::vector<std::uint32_t> places(blocks.size() * digits);  // first how many of each digit, then where they go
  segments.for_blocks(threads, [&](std::uint64_t b) {
    const auto [segment, begin, end] = blocks[b];
    const auto digit_of = digits_of(segment);
    std::uint32_t* own = places.data() + b * digits;
    for (std::uint64_t i = begin; i < end; ++i) ++own[digit_of(from[i])];
  });
  for (std::size_t first = 0, last = 0; first < blocks.size(); first = last) {
    while (last < blocks.size() && blocks[last].segment == blocks[first].segment) ++last;
    auto next = static_cast<std::uint32_t>(blocks[first].begin);
    for (std::uint32_t digit = 0; digit < digits; ++digit) {
      for (std::size_t b = first; b < last; ++b) {
        const std::uint32_t count = places[b * digits + digit];
        places[b * digits + digit] = next;
        next += count;
      }
    }
  }
  segments.for_blocks(threads, [&](std::uint64_t b) {
    const auto [segment, begin, end] = blocks[b];
    const auto digit_of = digits_of(segment);
    std::uint32_t* own = places.data() + b * digits;
    for (std::uint64_t i = begin; i < end; ++i) to[own[digit_of(from[i])]++] = from[i];
  });
}

}  // namespace kith::cpu
