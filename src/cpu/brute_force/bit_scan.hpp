// The inner loop of searches by the Hamming distance: groups of queries against panels of rows, SIMD across the rows.
#pragma once

#include "cpu/brute_force/scan.hpp"

#include <cstdint>

namespace kith::cpu {

/// Every query of `groups` against every row of the panels [first_panel, first_panel + panel_count). A row is reported
/// when its distance is not above bounds[query]; bounds only ever fall.
struct BitScan {
  const std::uint64_t* panels = nullptr;  ///< [panel][word][kBitPanel]
  std::uint32_t words = 0;                ///< of a row
  std::uint64_t first_panel = 0;
  std::uint64_t panel_count = 0;

  const std::uint64_t* queries = nullptr;  ///< [group][word][kGroup]
  std::uint32_t groups = 0;
  float* bounds = nullptr;  ///< per query, below 2^31

  HitFunction<float> on_hit = nullptr;
  void* context = nullptr;
};

void scan_bits(const BitScan& scan);

}  // namespace kith::cpu
