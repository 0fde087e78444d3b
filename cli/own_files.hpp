// Outputs get files of their own: none may take the place of an input, or of another output.
#pragma once

#include <string>
#include <vector>

namespace kith::cli {

/// A flag such as --out, and the path that it was given; paths that are empty or "-" are ignored.
struct OutputPath {
  std::string flag;
  std::string path;
};

/// Throws UsageError if an output is the same file as an input or another output, also by another name or through a
/// link. Inputs that are empty, "-", or no regular file are ignored. Call it before anything is read.
void require_own_files(const std::vector<OutputPath>& outputs, const std::vector<std::string>& inputs);

}  // namespace kith::cli
