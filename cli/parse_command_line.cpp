// See parse_command_line.hpp.
#include "parse_command_line.hpp"

#include "suggestion.hpp"

#include <kith/error.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace kith::cli {
namespace {

void add_to(CLI::App& app, const Flag& flag) {
  if (flag.value.empty()) {
    app.add_flag_callback(flag.names, [&flag] { flag.take(""); });
    return;
  }
  const auto take = [&flag](const CLI::results_t& results) {
    if (results.size() > 1) throw UsageError(fmt::format("{} is given more than once", spoken_name(flag.names)));
    flag.take(results.empty() ? "" : results.front());
    return true;
  };
  app.add_option(flag.names, take)
      ->required(flag.required)
      ->type_name(flag.value)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_to(CLI::App& app, const Argument& argument) {
  const auto take = [&argument](const CLI::results_t& results) {
    for (const std::string& result : results) argument.take(result);
    return true;
  };
  CLI::Option* option = app.add_option(argument.name, take)->required(argument.required);
  if (argument.repeated) {
    option->expected(1, -1)->allow_extra_args()->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
}

[[noreturn]] void refuse_extra(const Command& command, const std::string& extra) {
  if (extra.size() > 1 && extra[0] == '-') {
    const std::string name = extra.substr(0, extra.find('='));
    throw UsageError(
        fmt::format("{}: there is no flag {}{}", command.name, name, did_you_mean(name, flag_names(command))));
  }
  throw UsageError(fmt::format("{}: \"{}\" is one argument too many", command.name, extra));
}

/// CLI11 says "--out: 1 required FILE missing".
std::string missing_value(const std::string& said) {
  const std::size_t colon = said.find(": 1 required ");
  const std::size_t end = said.rfind(" missing");
  if (colon == std::string::npos || end == std::string::npos) return said;
  const std::size_t type = colon + std::string(": 1 required ").size();
  return fmt::format("{} needs a value: {}", said.substr(0, colon), said.substr(type, end - type));
}

}  // namespace

bool parse_words(const Command& command, const std::vector<std::string>& words) {
  CLI::App app(command.summary, program_name() + " " + command.name);
  for (const Argument& argument : command.arguments) add_to(app, argument);
  for (const FlagGroup& group : command.groups) {
    for (const Flag& flag : group.flags) add_to(app, flag);
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the end
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ExtrasError&) {
    refuse_extra(command, app.remaining().front());
  } catch (const CLI::RequiredError& error) {
    // A mistyped flag is often the reason why a required one seems to be missing.
    for (const std::string& extra : app.remaining()) {
      if (extra.size() > 1 && extra[0] == '-') refuse_extra(command, extra);
    }
    throw UsageError(fmt::format("{}: {}; usage: {} {} {}", command.name, error.what(), program_name(), command.name,
                                 command.synopsis));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}: {}", command.name, missing_value(error.what())));
  }
  return true;
}

}  // namespace kith::cli
