// Options that the library's messages name, as arguments of Python.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kith::python {

/// "use `device=cpu`" becomes "use device=\"cpu\"".
std::string with_arguments(std::string_view message);
std::vector<std::string> with_arguments(const std::vector<std::string>& messages);

}  // namespace kith::python
