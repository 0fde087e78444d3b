// kith register --pairs: many pairs of clouds in one call.
#pragma once

#include "registration_flags.hpp"
#include "terminal_progress.hpp"

#include <string>

namespace kith::cli {

/// Where the results go.
struct PairOutputs {
  std::string table;   ///< "-": CSV on standard output; empty: none
  std::string report;  ///< a page that shows all pairs; empty: none
};

/// Registers the pairs of a list in chunks, each in one call; a target of several pairs of a chunk is prepared once.
/// Writes the outputs and, if the flags want it, JSON. A pair that fails
/// does not stop the others. Returns the exit code: that of the first pair that failed, else 3 if convergence is
/// required and one did not.
int register_pairs(const std::string& list, const PairOutputs& out, const RegistrationFlags& flags,
                   TerminalProgress& progress);

}  // namespace kith::cli
