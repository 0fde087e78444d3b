// Text from files and command lines, made harmless for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace kith::cli {

/// The text with control characters (escape sequences begin with one), marks that turn the direction of writing and
/// bytes that are no UTF-8 written as \u001b or \xff. Line feeds and tabs stay. Everything that the command prints, but
/// for the results themselves, goes through this; what is JSON stays JSON.
std::string printable(std::string_view text);

}  // namespace kith::cli
