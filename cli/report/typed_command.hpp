// The command line as it was typed.
#pragma once

#include <string>
#include <vector>

namespace kith::cli {

/// The words after "kith" of the command that runs.
std::vector<std::string>& typed_words();

/// "kith knn 'my scan.ply' -k 8": words that a shell would take apart are in quotes.
std::string typed_command();

}  // namespace kith::cli
