// The flag --report of commands that can show their result as a page.
#pragma once

#include "command.hpp"

#include <string>

namespace kith::cli {

/// `text` says what the page shows. The path is checked before any work is done: a file that ends in .html and can be
/// written.
Flag report_flag(std::string& path, const std::string& text);

}  // namespace kith::cli
