// See command.hpp.
#include "command.hpp"

#include "suggestion.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kith::cli {

std::string& program_name() {
  static std::string name = "kith";
  return name;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (;;) {
    const std::size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string::npos) return parts;
    start = end + 1;
  }
}

std::vector<std::string> choices_of(const std::string& value) {
  return value.find('|') == std::string::npos ? std::vector<std::string>{} : split(value, '|');
}

std::vector<std::string> flag_names(const Command& command) {
  std::vector<std::string> names;
  for (const FlagGroup& group : command.groups) {
    for (const Flag& flag : group.flags) {
      for (std::string& name : split(flag.names, ',')) names.push_back(std::move(name));
    }
  }
  names.insert(names.end(), {"-h", "--help"});
  return names;
}

std::string spoken_name(const std::string& names) { return split(names, ',').back(); }

void require_choice(const std::string& flag, const std::string& choices, const std::string& text) {
  const std::vector<std::string> all = choices_of(choices);
  if (std::find(all.begin(), all.end(), text) != all.end()) return;
  throw UsageError(
      fmt::format("{}: \"{}\" is not one of {}{}", flag, text, fmt::join(all, ", "), did_you_mean(text, all)));
}

}  // namespace kith::cli
