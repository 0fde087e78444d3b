// kith dedupe for files of strings and sets.
#pragma once

#include "output_flags.hpp"
#include "sequence_flags.hpp"

#include <optional>
#include <string>

namespace kith::cli {

/// What the flags of dedupe say about strings and sets.
struct SequenceDedupe {
  std::string path;
  std::string out;       ///< empty: nowhere
  std::string map_path;  ///< empty: nowhere
  std::optional<double> tolerance;
  int threads = 0;
};

/// Keeps the first of equal sequences, or with a tolerance those that are farther than it from all kept before.
int dedupe_sequences(const SequenceDedupe& work, const SequenceFlags& flags, const OutputFlags& output);

}  // namespace kith::cli
