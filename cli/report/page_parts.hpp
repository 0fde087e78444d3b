// The style and the script of reports, compiled in: cmake/embed_page.cmake makes them of the files in page/.
#pragma once

#include <string_view>

namespace kith::cli {

struct PageParts {
  std::string_view body;
  std::string_view style;
  std::string_view script;
  std::string_view style_hash;  ///< "sha256-…" of it, for the page's content security policy
  std::string_view script_hash;
};

extern const PageParts kReportPage;

}  // namespace kith::cli
