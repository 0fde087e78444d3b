// What a BitIndex shares between its copies.
#pragma once

#include "engine/bit_searcher.hpp"

#include <kith/bit_index.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace kith {

struct BitIndexState {
  std::uint64_t rows = 0;
  std::uint32_t bits = 0;
  Engine engine = Engine::brute_force;
  Device device;
  std::string reason;  ///< why this engine and device
  std::unique_ptr<engine::BitSearcher> searcher;

  std::uint32_t words_per_row() const { return (bits + 63) / 64; }
};

}  // namespace kith
