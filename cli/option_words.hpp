// Options that the library's messages name, as flags of the command.
#pragma once

#include <string>
#include <string_view>

namespace kith::cli {

/// "use `device=cpu`" becomes "use --device cpu".
std::string with_flags(std::string_view message);

}  // namespace kith::cli
