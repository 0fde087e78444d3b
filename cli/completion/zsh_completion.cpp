// The completion script for zsh: one _arguments call per command.
#include "help_text.hpp"

#include <fmt/format.h>

#include <string_view>

namespace kith::cli {
namespace {

/// Text inside '…' of an _arguments specification: quotes, brackets and colons mean something there.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// ":message:action" for a value that follows.
std::string action_of(const std::string& value, const std::vector<std::string>& names) {
  if (value == "FILE") return ":file:_files";
  std::vector<std::string> words = value == "COMMAND" ? names : choices_of(value);
  std::erase_if(words, [](const std::string& word) { return word.find(':') != std::string::npos; });
  if (words.empty()) return fmt::format(":{}: ", escaped(value));
  return fmt::format(":value:({})", fmt::join(words, " "));
}

std::string flag_lines(const Flag& flag, const std::vector<std::string>& names) {
  const std::vector<std::string> own = split(flag.names, ',');
  const std::string action = flag.value.empty() ? "" : action_of(flag.value, names);
  std::string text;
  for (const std::string& name : own) {
    const std::string join = flag.value.empty() ? "" : name.starts_with("--") ? "=" : "+";
    text += fmt::format("        '({}){}{}[{}]{}' \\\n", fmt::join(own, " "), name, join, escaped(flag.text), action);
  }
  return text;
}

std::string zsh_case(const Command& command, const std::vector<std::string>& names) {
  std::string text = fmt::format("    {})\n      _arguments -s -S \\\n", command.name);
  for (const FlagGroup& group : command.groups) {
    for (const Flag& flag : group.flags) text += flag_lines(flag, names);
  }
  text += "        '(-h --help)'{-h,--help}'[show help]'";
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    const Argument& argument = command.arguments[i];
    const std::string place = argument.repeated ? "*" : std::to_string(i + 1);
    const bool optional = !argument.required && !argument.repeated;
    text += fmt::format(" \\\n        '{}{}{}'", place, optional ? ":" : "", action_of(argument.value, names));
  }
  return text + "\n      ;;\n";
}

}  // namespace

std::string zsh_completion(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  std::string described;
  for (const Command& command : commands) {
    names.push_back(command.name);
    described += fmt::format("    '{}:{}'\n", command.name, escaped(command.summary));
  }
  std::string cases;
  for (const Command& command : commands) cases += zsh_case(command, names);
  return fmt::format(
      R"(#compdef kith
# Completion of kith for zsh. Written by "kith completion zsh".
_kith() {{
  local -a commands
  commands=(
{0}  )
  if (( CURRENT == 2 )); then
    _describe -t commands 'command' commands
    _arguments '--help[show the guide]' '--version[show the version]'
    return
  fi
  local command="${{words[2]}}"
  shift words
  (( CURRENT-- ))
  case "$command" in
{1}  esac
}}
if [[ "$funcstack[1]" == _kith ]]; then
  _kith "$@"
else
  compdef _kith kith
fi
)",
      described, cases);
}

}  // namespace kith::cli
