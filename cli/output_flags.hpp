// The flags that say what is printed: --json, --quiet, --explain.
#pragma once

#include "command.hpp"

#include <kith/io/format.hpp>

#include <string>
#include <string_view>

namespace kith::cli {

struct OutputFlags {
  bool json = false;
  bool quiet = false;
  bool explain = false;

  /// Something a person should know, on standard error as "kith: note: …"; not if quiet.
  void note(std::string_view text) const;
  /// What was done, on standard error; not if quiet or if JSON was asked for.
  void summary(std::string_view text) const;
  /// Why and how, on standard error, if --explain was given (even if quiet). Each line gets the mark "explain: ".
  void explanation(std::string_view text) const;
};

Flag json_flag(OutputFlags& flags, const std::string& text);
Flag quiet_flag(OutputFlags& flags);
Flag explain_flag(OutputFlags& flags, const std::string& text);

/// Throws, before any work is done, UsageError if the path is empty and IoError if its directory is not there or cannot
/// be written.
void check_output_path(const std::string& path);

/// The same for points, and the format that the extension (text for standard output) names. Throws UsageError for one
/// that cannot be written.
io::Format check_points_path(const std::string& path);

/// The same for the result of a search: the extension must be one that results have.
void check_result_path(const std::string& path);

/// The same for the map from old to kept rows.
void check_map_path(const std::string& path);

/// The same for several arrays in one file.
void check_archive_path(const std::string& path);

}  // namespace kith::cli
