// A sequence prepared to be compared with many others by the edit distance: where each item occurs in it, as bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kith::cpu {

/// A short pattern (up to 64 items) has one word per code: bit i says that item i is that code. A long one has several
/// words, for the codes that occur in it only. Its memory is used again.
class EditPattern {
 public:
  static constexpr std::uint32_t kWord = 64;
  /// Codes of short patterns are looked up directly if there are not more of them.
  static constexpr std::uint32_t kMostDirect = 1 << 16;

  /// A code of `codes`, the number of all codes, matches nothing.
  void set(std::span<const std::uint32_t> pattern, std::uint32_t codes);

  std::uint32_t length() const { return static_cast<std::uint32_t>(items_.size()); }
  std::uint32_t words() const { return words_; }
  /// True: `direct()` has the words of all codes. False: `words_of`.
  bool is_direct() const { return is_direct_; }
  const std::uint64_t* direct() const { return direct_.data(); }
  const std::uint64_t* words_of(std::uint32_t code) const {
    return matches_.data() + std::size_t{places_[code]} * words_;
  }

 private:
  void clear();

  std::vector<std::uint32_t> items_;
  std::uint32_t words_ = 0;
  bool is_direct_ = true;
  std::vector<std::uint64_t> direct_;
  std::vector<std::uint32_t> places_;   // of a code in matches_; 0: it does not occur
  std::vector<std::uint64_t> matches_;  // [place][word]
};

}  // namespace kith::cpu
