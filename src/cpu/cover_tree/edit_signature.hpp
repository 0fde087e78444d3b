// 64 bits that tell from below how far two sequences are apart by the edit distance.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace kith::cpu {

/// Codes fall into buckets, and each bucket has a few bits: the first c of them are set if c items of the sequence, or
/// more than there are bits, fall into it.
///
/// The bound. Take two sequences with counts x and y per bucket; X is the sum of max(x - y, 0) over the buckets, Y that
/// of max(y - x, 0). An insertion or a deletion changes one count by one; a replacement takes one from a count and adds
/// one to a count. So each edit lowers X by one at most, and Y by one at most; equal sequences have X = Y = 0. Hence
/// the distance is at least max(X, Y). A bucket has min(x, bits) - min(y, bits) <= x - y bits that only the first
/// signature has, if that is positive: so the bits only the first one has, in all buckets, are no more than X, and
/// those only the second has no more than Y. And X - Y is the difference of the lengths.
class EditSignature {
 public:
  explicit EditSignature(std::uint32_t codes)
      : buckets_(std::clamp(std::bit_ceil(codes), 1u, 32u)), bits_(64 / buckets_) {}

  std::uint64_t of(std::span<const std::uint32_t> sequence) const {
    std::uint64_t signature = 0;
    const std::uint64_t lowest = bits_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_) - 1;
    for (const std::uint32_t code : sequence) {
      const std::uint64_t bucket = lowest << (code & (buckets_ - 1)) * bits_;
      signature |= bucket & ~signature & (~(bucket & ~signature) + 1);  // the lowest bit that is not set
    }
    return signature;
  }

 private:
  std::uint32_t buckets_;
  std::uint32_t bits_;
};

}  // namespace kith::cpu
