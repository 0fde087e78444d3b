// The completion script for bash: a table of flags and values per command, and one function that reads it.
#include "help_text.hpp"

#include <fmt/format.h>

namespace kith::cli {
namespace {

/// The words to offer for a value; those with a part to fill in ("cuda:N") cannot be offered as they are.
std::vector<std::string> offered(const std::string& value) {
  std::vector<std::string> words = choices_of(value);
  std::erase_if(words, [](const std::string& word) { return word.find(':') != std::string::npos; });
  return words;
}

std::string values_case(const Command& command) {
  std::string text;
  for (const FlagGroup& group : command.groups) {
    for (const Flag& flag : group.flags) {
      if (flag.value.empty()) continue;
      const std::string names = fmt::format("{}", fmt::join(split(flag.names, ','), "|"));
      const std::vector<std::string> words = offered(flag.value);
      if (flag.value == "FILE") {
        text += fmt::format("        {}) kind=files ;;\n", names);
      } else if (words.empty()) {
        text += fmt::format("        {}) kind=none ;;\n", names);
      } else {
        text += fmt::format("        {}) kind=words words=\"{}\" ;;\n", names, fmt::join(words, " "));
      }
    }
  }
  return text;
}

/// What stands where no flag does.
std::string argument_words(const Command& command, const std::vector<std::string>& names) {
  if (command.arguments.empty()) return "argument=none";
  const std::string& value = command.arguments.front().value;
  if (value == "FILE") return "argument=files";
  const std::vector<std::string> words = value == "COMMAND" ? names : offered(value);
  return fmt::format("argument=words argument_words=\"{}\"", fmt::join(words, " "));
}

std::string bash_case(const Command& command, const std::vector<std::string>& names) {
  return fmt::format(
      "    {}) # {}\n      flags=\"{}\"\n      {}\n      case \"$previous\" in\n{}        *) kind= ;;\n"
      "      esac\n      ;;\n",
      command.name, command.summary, fmt::join(flag_names(command), " "), argument_words(command, names),
      values_case(command));
}

}  // namespace

std::string bash_completion(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  std::string cases;
  for (const Command& command : commands) cases += bash_case(command, names);
  return fmt::format(
      R"(# Completion of kith for bash. Written by "kith completion bash".
_kith() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local kind= words= flags= argument= argument_words=
  COMPREPLY=()
  # bash splits --flag=value into three words
  if [[ "$current" == "=" ]]; then
    current=
  elif [[ "$previous" == "=" && $COMP_CWORD -ge 2 ]]; then
    previous="${{COMP_WORDS[COMP_CWORD-2]}}"
  fi
  if [[ $COMP_CWORD -eq 1 ]]; then
    mapfile -t COMPREPLY < <(compgen -W "{0} --help --version" -- "$current")
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{1}    *) return ;;
  esac
  if [[ -z "$kind" && "$current" == -?* ]]; then
    kind=words words="$flags"
  elif [[ -z "$kind" ]]; then
    kind="$argument" words="$argument_words"
  fi
  case "$kind" in
    words) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    files)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      ;;
  esac
}}
complete -F _kith kith
)",
      fmt::join(names, " "), cases);
}

}  // namespace kith::cli
