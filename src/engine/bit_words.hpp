// Rows of bits as callers pack them, put into words of 64 bits.
#pragma once

#include "engine/object_searcher.hpp"
#include "runtime/large_buffer.hpp"

#include <kith/bit_index.hpp>

#include <string_view>

namespace kith::engine {

/// Owns a copy of a caller's rows with zeros behind the last bit. The order of the bits in a word means nothing: only
/// those that differ are counted.
class BitWords {
 public:
  /// Throws OutOfMemory, which names `what`, and Interrupted.
  BitWords(BitView view, std::string_view what, const RunOptions& run);

  BitRows rows() const { return {reinterpret_cast<const std::uint64_t*>(memory_.data()), count_, words_per_row_}; }

 private:
  runtime::LargeBuffer memory_;
  std::uint64_t count_;
  std::uint32_t words_per_row_;
};

}  // namespace kith::engine
