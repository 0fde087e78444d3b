// See output_flags.hpp.
#include "output_flags.hpp"

#include "option_words.hpp"
#include "printable.hpp"
#include "standard_output.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>

namespace kith::cli {
namespace {

bool has_extension(const std::string& path, std::initializer_list<std::string_view> extensions) {
  return std::any_of(extensions.begin(), extensions.end(), [&](std::string_view extension) {
    return path.size() >= extension.size() &&
           strncasecmp(path.data() + path.size() - extension.size(), extension.data(), extension.size()) == 0;
  });
}

}  // namespace

void OutputFlags::note(std::string_view text) const {
  if (!quiet) write_to_stderr(printable(fmt::format("kith: note: {}\n", with_flags(text))));
}

void OutputFlags::summary(std::string_view text) const {
  if (!quiet && !json) write_to_stderr(printable(fmt::format("{}\n", text)));
}

void OutputFlags::explanation(std::string_view text) const {
  if (!explain) return;
  std::string out;
  for (const std::string& line : split(with_flags(text), '\n')) {
    if (!line.empty()) out += fmt::format("explain: {}\n", line);
  }
  write_to_stderr(printable(out));
}

Flag json_flag(OutputFlags& flags, const std::string& text) { return {"--json", "", text, &flags.json}; }

Flag quiet_flag(OutputFlags& flags) {
  return {"-q,--quiet", "", "no progress, notes or summary; errors are still shown", &flags.quiet};
}

Flag explain_flag(OutputFlags& flags, const std::string& text) { return {"--explain", "", text, &flags.explain}; }

void check_output_path(const std::string& path) {
  if (path.empty()) throw UsageError("--out: the name of the file is empty");
  if (path == "-") return;
  if (has_extension(path, {".zst"})) {
    throw UsageError(
        fmt::format("--out: {}: zstd is read but not written; leave out .zst and compress the file afterwards", path));
  }
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw IoError(fmt::format("{}: is a directory; name a file in it", path));
    if (!S_ISREG(status.st_mode)) return;
  }
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(directory.c_str(), W_OK) != 0) {
    throw IoError(fmt::format("{}: cannot be created: {}", path, std::strerror(errno)));
  }
}

io::Format check_points_path(const std::string& path) {
  check_output_path(path);
  if (path == "-") return io::Format::text;
  const bool is_laz = has_extension(path, {".laz", ".laz.gz"});  // named as LAS is, but not written
  const io::Format format = is_laz ? io::Format::automatic : io::format_of_extension(path);
  switch (format) {
    case io::Format::text:
    case io::Format::npy:
    case io::Format::npz:
    case io::Format::ply:
    case io::Format::pcd:
    case io::Format::las:
      return format;
    default:
      throw UsageError(
          fmt::format("--out: {}: points are written as .csv, .npy, .npz, .ply, .pcd or .las, each also as .gz; choose "
                      "one of these extensions",
                      path));
  }
}

void check_result_path(const std::string& path) {
  check_output_path(path);
  if (path == "-" || has_extension(path, {".npz", ".csv", ".tsv", ".npz.gz", ".csv.gz", ".tsv.gz"})) return;
  throw UsageError(fmt::format(
      "--out: {}: results are written as .npz, .csv or .tsv, or as CSV to -; choose one of these extensions", path));
}

void check_map_path(const std::string& path) {
  check_output_path(path);
  if (path == "-" || has_extension(path, {".npy", ".npz", ".csv", ".tsv"})) return;
  throw UsageError(fmt::format(
      "--map: {}: maps are written as .npy, .npz, .csv or .tsv, or as CSV to -; choose one of these extensions", path));
}

void check_archive_path(const std::string& path) {
  check_output_path(path);
  if (path == "-" || has_extension(path, {".npz"})) return;
  throw UsageError(fmt::format("--out: {}: trees are written as .npz; choose that extension", path));
}

}  // namespace kith::cli
