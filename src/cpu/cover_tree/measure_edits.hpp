// The inner loops of the edit distance: one pattern against many sequences.
#pragma once

#include "cpu/cover_tree/coded_sequences.hpp"
#include "cpu/cover_tree/edit_pattern.hpp"

#include <cstdint>

namespace kith::cpu {

/// A pattern and the sequences [first, first + count).
struct EditMeasure {
  const EditPattern* pattern = nullptr;
  std::uint64_t pattern_signature = 0;
  const CodedSequences* sequences = nullptr;
  const std::uint64_t* signatures = nullptr;  ///< of all sequences
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  float limit = 0;  ///< above it any value above it will do
};

/// Writes `count` distances.
void measure_edits(const EditMeasure& measure, float* values);

}  // namespace kith::cpu
