// See own_files.hpp.
#include "own_files.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace kith::cli {
namespace {

bool names_a_file(const std::string& path) { return !path.empty() && path != "-"; }

/// Whether two names lead to one regular file, which may not exist yet. Devices and pipes can be shared.
bool is_same_file(const std::string& one, const std::string& other) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(one, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) return false;
  if (fs::equivalent(one, other, error)) return true;
  if (fs::exists(status)) return false;
  const fs::path first = fs::weakly_canonical(fs::absolute(one, error), error);
  return !error && first == fs::weakly_canonical(fs::absolute(other, error), error) && !error;
}

}  // namespace

void require_own_files(const std::vector<OutputPath>& outputs, const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const OutputPath& output = outputs[i];
    if (!names_a_file(output.path)) continue;
    for (const std::string& input : inputs) {
      if (!names_a_file(input) || !is_same_file(output.path, input)) continue;
      throw UsageError(
          output.path == input
              ? fmt::format("{}: {} is an input and would be lost; name another file", output.flag, output.path)
              : fmt::format("{}: {} is the same file as the input {}, which would be lost; name another file",
                            output.flag, output.path, input));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (!names_a_file(outputs[j].path) || !is_same_file(output.path, outputs[j].path)) continue;
      throw UsageError(fmt::format("{} and {} name the same file", outputs[j].flag, output.flag));
    }
  }
}

}  // namespace kith::cli
