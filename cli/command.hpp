// What one command of kith is made of: its flags and arguments, its help text and the function that runs it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kith::cli {

/// Called with the value of a flag or argument ("" for a switch); throws UsageError.
class Take : public std::function<void(const std::string&)> {
 public:
  using function::function;
  /// A switch.
  Take(bool* is_given) : function([=](const std::string&) { *is_given = true; }) {}
  /// Keeps the value as it is, once `check`, which throws UsageError, has accepted it.
  Take(std::string* text, void (*check)(const std::string&) = nullptr)
      : function([=](const std::string& value) {
          if (check != nullptr) check(value);
          *text = value;
        }) {}
};

/// One flag. Help, parsing, suggestions and completion all read the same description, so they never disagree.
struct Flag {
  std::string names;  ///< "-k", "--json" or "-o,--out"
  std::string value;  ///< what follows it: "K", "FILE", or the choices "yes|no|auto"; empty for a switch
  std::string text;   ///< one line for the help
  Take take;
  bool required = false;
};

/// Flags that stand together under one heading of the help.
struct FlagGroup {
  std::string title;
  std::vector<Flag> flags;
};

/// One argument that is no flag.
struct Argument {
  std::string name;   ///< "POINTS"; "COMMAND" and choices such as "bash|zsh" are completed as what they are
  std::string value;  ///< "FILE", "COMMAND" or choices, as for a flag
  std::string text;
  Take take;
  bool required = false;
  bool repeated = false;  ///< one or more; `take` is called for each
};

/// One example of the help: what it does, and the line to type.
struct Example {
  std::string text;
  std::string line;
};

struct Command {
  std::string name;
  std::string summary;      ///< a few words for the list of commands
  std::string synopsis;     ///< what follows "kith NAME" in the usage line
  std::string description;  ///< a few sentences
  std::vector<Argument> arguments;
  std::vector<FlagGroup> groups;
  std::vector<Example> examples;
  std::function<int()> run;  ///< called after all flags were taken; returns the exit code
};

/// The program whose commands these are, as help and messages name it: "kith" unless another one sets it.
std::string& program_name();

/// The parts of "a,b,c" between the separators; one empty part for an empty text.
std::vector<std::string> split(const std::string& text, char separator);

/// The values of "auto|cpu|cuda"; empty if `value` is no list of choices.
std::vector<std::string> choices_of(const std::string& value);

/// Every name of every flag of a command, e.g. "-o" and "--out".
std::vector<std::string> flag_names(const Command& command);

/// The flag without its short form, as messages name it: "--out" of "-o,--out".
std::string spoken_name(const std::string& names);

/// Throws UsageError, with a suggestion, unless `text` is one of the choices.
void require_choice(const std::string& flag, const std::string& choices, const std::string& text);

/// A flag that sets `target` to what `parse` makes of one of the choices.
template <typename Target, typename Parse>
Flag choice_flag(const std::string& names, const std::string& choices, const std::string& text, Target& target,
                 Parse parse) {
  return {names, choices, text, [=, &target](const std::string& value) {
            require_choice(spoken_name(names), choices, value);
            target = parse(value);
          }};
}

}  // namespace kith::cli
