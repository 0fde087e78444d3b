// kith info for files of strings and sets.
#pragma once

#include "output_flags.hpp"
#include "sequence_flags.hpp"

#include <string>

namespace kith::cli {

/// Prints how many sequences there are, of what length, how many are empty or repeat an earlier one.
int show_sequences(const std::string& path, const SequenceFlags& flags, const OutputFlags& output);

}  // namespace kith::cli
