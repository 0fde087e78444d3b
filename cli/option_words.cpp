// See option_words.hpp.
#include "option_words.hpp"

#include <kith/advice.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kith::cli {
namespace {

/// The command has names of its own for a few options.
std::string flag_of(std::string_view option, std::string_view value) {
  if (option == "missing_as_nan") return "--skip-nonfinite";
  if (option == "kind") return "--text";
  if (option == "format" && value == "lines") return "--from";  // of strings; --format is that of points
  std::string flag = fmt::format("--{}", option);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::string value_of(std::string_view option, std::string_view value) {
  if (option == "header") return value == "true" ? "yes" : "no";
  if (value == "true") return {};  // the flag says it
  if (value == ",") return "comma";
  if (value == ".") return "point";
  return value.find(' ') == std::string_view::npos ? std::string(value) : fmt::format("\"{}\"", value);
}

}  // namespace

std::string with_flags(std::string_view message) {
  return with_options(message, [](std::string_view option, std::string_view value) {
    const std::string text = value_of(option, value);
    return text.empty() ? flag_of(option, value) : flag_of(option, value) + ' ' + text;
  });
}

}  // namespace kith::cli
