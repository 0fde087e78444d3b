// See named_rows.hpp.
#include "named_rows.hpp"

#include <kith/error.hpp>
#include <kith/index_file.hpp>
#include <kith/io/text_header.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace kith::cli {
namespace {

std::string place_of(const NamedFile& file, const BadRow& bad) {
  std::optional<std::string> place;
  try {
    if (!is_index_file(file.path)) place = io::place_in_text(file.path, *file.read, bad.row(), bad.column());
  } catch (const Error&) {  // it could be read before, so the row is what matters
  }
  if (place) return *place;
  return fmt::format("row {}{} (counted from 0)", bad.row(),
                     bad.column() ? fmt::format(", column {}", *bad.column()) : std::string());
}

}  // namespace

int run_naming_rows(const std::vector<NamedFile>& files, const std::function<int()>& work) {
  try {
    return work();
  } catch (const BadRow& bad) {
    const auto file = std::ranges::find(files, bad.array(), &NamedFile::array);
    if (file == files.end() || file->path.empty()) throw;
    throw BadData(fmt::format("{}: {} {}; correct it, or leave such rows out (--skip-nonfinite)",
                              file->path == "-" ? "standard input" : file->path, place_of(*file, bad), bad.problem()));
  }
}

}  // namespace kith::cli
