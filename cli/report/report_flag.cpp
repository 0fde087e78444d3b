// See report_flag.hpp.
#include "report/report_flag.hpp"

#include "output_flags.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <strings.h>

#include <string_view>

namespace kith::cli {
namespace {

void check_report_path(const std::string& path) {
  if (path.empty()) throw UsageError("--report: the name of the file is empty");
  if (path == "-") throw UsageError("--report: a report is a file that a browser opens; name one, such as report.html");
  const auto ends_with = [&](std::string_view extension) {
    return path.size() >= extension.size() &&
           strncasecmp(path.data() + path.size() - extension.size(), extension.data(), extension.size()) == 0;
  };
  if (!ends_with(".html") && !ends_with(".htm")) {
    throw UsageError(fmt::format("--report: {}: a report is a page for a browser; choose a name with .html", path));
  }
  check_output_path(path);
}

}  // namespace

Flag report_flag(std::string& path, const std::string& text) {
  return {"--report", "FILE", text, Take(&path, check_report_path)};
}

}  // namespace kith::cli
