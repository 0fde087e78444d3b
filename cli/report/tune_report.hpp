// The report of kith tune: what each number gains on this machine, and the times that kith plan estimates by.
#pragma once

#include "commands/tune_search.hpp"
#include "output_flags.hpp"

#include <string>

namespace kith::cli {

/// `profile` is the file that was written.
void write_tune_report(const std::string& path, const Tuned& tuned, const std::string& profile,
                       const OutputFlags& output);

}  // namespace kith::cli
