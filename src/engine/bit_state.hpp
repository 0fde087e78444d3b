// What a BitIndex shares between its copies.
#pragma once

#include "engine/object_searcher.hpp"

#include <kith/bit_index.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kith {

template <>
struct StateOf<BitView> {
  std::uint64_t rows = 0;
  std::uint32_t bits = 0;
  Engine engine = Engine::brute_force;
  Device device;
  std::string reason;  ///< why this engine and device
  std::unique_ptr<engine::BitSearcher> searcher;

  std::uint32_t words_per_row() const { return (bits + 63) / 64; }
  std::vector<std::uint64_t> words(const engine::RunOptions& run) const {
    std::vector<std::uint64_t> words(rows * words_per_row());
    searcher->copy_rows(words.data(), run);
    return words;
  }
};

namespace engine {

/// Throws UsageError unless the queries have the bits of the points, in rows that do not overlap.
void require_bit_queries(const StateOf<BitView>& state, BitView queries);

}  // namespace engine
}  // namespace kith
