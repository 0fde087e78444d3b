// Options in messages: the library names what to change, each front end writes it as its users do.
#pragma once

#include <kith/export.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace kith::inline v0 {

/// How a front end writes an option: ("device", "cpu") is --device cpu for the command and device="cpu" for Python.
using OptionWords = std::function<std::string(std::string_view option, std::string_view value)>;

/// Messages of errors, notes and explanations name an option of the library between backticks, with the value that
/// helps, `device=cpu`, or without one if that is for the user to choose, `columns=`. Returns the message with each of
/// them as `words` writes it.
KITH_EXPORT std::string with_options(std::string_view message, const OptionWords& words);

}  // namespace kith::inline v0
