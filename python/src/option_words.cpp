// See option_words.hpp.
#include "option_words.hpp"

#include <kith/advice.hpp>

namespace kith::python {
namespace {

std::string argument(std::string_view option, std::string_view value) {
  std::string text(option);
  if (value.empty()) return text;
  if (value == "true" || value == "false") return text + (value == "true" ? "=True" : "=False");
  if (option == "period") return text + "=[" + std::string(value) + "]";
  const bool are_many = option == "columns";
  text += are_many ? "=[\"" : "=\"";
  for (const char c : value) {
    if (c == ',' && are_many) {
      text += "\", \"";
    } else {
      text += c;
    }
  }
  return text + (are_many ? "\"]" : "\"");
}

}  // namespace

std::string with_arguments(std::string_view message) { return with_options(message, argument); }

std::vector<std::string> with_arguments(const std::vector<std::string>& messages) {
  std::vector<std::string> texts;
  for (const std::string& message : messages) texts.push_back(with_arguments(message));
  return texts;
}

}  // namespace kith::python
