// See help_text.hpp.
#include "help_text.hpp"

#include <kith/version.hpp>

#include <fmt/format.h>

namespace kith::cli {
namespace {

constexpr std::size_t kTextColumn = 30;
constexpr std::size_t kLineWidth = 100;

/// Breaks `text` into lines between words; the first line starts at `column`, the others are indented to it.
std::string wrapped(const std::string& text, std::size_t column) {
  std::string out;
  std::size_t at = column;
  for (const std::string& word : split(text, ' ')) {
    if (at > column && at + 1 + word.size() > kLineWidth) {
      out += fmt::format("\n{:{}}", "", column);
      at = column;
    } else if (at > column) {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
  }
  return out;
}

std::string entry(const std::string& left, const std::string& text) {
  const std::string head = fmt::format("  {}", left);
  if (head.size() + 2 > kTextColumn) {
    return fmt::format("{}\n{:{}}{}\n", head, "", kTextColumn, wrapped(text, kTextColumn));
  }
  return fmt::format("{:<{}}{}\n", head, kTextColumn, wrapped(text, kTextColumn));
}

std::string flag_heading(const Flag& flag) {
  std::string names = fmt::format("{}", fmt::join(split(flag.names, ','), ", "));
  return flag.value.empty() ? names : names + " " + flag.value;
}

}  // namespace

std::vector<Example> first_steps() {
  return {{"generate points", "kith generate --shape lidar --points 20k --out scan.npy"},
          {"describe them", "kith info scan.npy"},
          {"8 nearest neighbours of each point", "kith knn scan.npy -k 8 --out near.npz"},
          {"count neighbours within 0.5", "kith radius scan.npy -r 0.5 --count"},
          {"check the answer", "kith verify near.npz scan.npy --sample 1000"}};
}

std::string guide(const std::vector<Command>& commands) {
  std::string text = fmt::format(
      "kith {} finds nearest neighbours: exact, the same answer on every machine.\n\n"
      "Try these commands in turn:\n",
      KITH_VERSION);
  for (const Example& step : first_steps()) text += fmt::format("  {:<60}{}\n", step.line, step.text);
  text += "\nCommands:\n";
  for (const Command& command : commands) text += fmt::format("  {:<12}{}\n", command.name, command.summary);
  text +=
      "\nkith help COMMAND shows the flags and examples of a command. Points are read from CSV and other text,\n"
      "NPY, NPZ, PLY, PCD, LAS, fvecs, IDX, PDB, VTK and other files, or from standard input (\"-\").\n";
  return text;
}

std::string help_of(const Command& command) {
  std::string text = fmt::format("{0} {1}: {2}\n\nUsage: {0} {1} {3}\n\n{4}\n", program_name(), command.name,
                                 command.summary, command.synopsis, wrapped(command.description, 0));
  if (!command.arguments.empty()) {
    text += "\nArguments:\n";
    for (const Argument& argument : command.arguments) text += entry(argument.name, argument.text);
  }
  for (const FlagGroup& group : command.groups) {
    text += fmt::format("\n{}:\n", group.title);
    for (const Flag& flag : group.flags) {
      text += entry(flag_heading(flag), flag.required ? flag.text + " (required)" : flag.text);
    }
  }
  text += fmt::format("\n{}", entry("-h, --help", "show this"));
  text += "\nExamples:\n";
  for (const Example& example : command.examples) {
    text += fmt::format("  # {}\n  {}\n", example.text, example.line);
  }
  return text;
}

}  // namespace kith::cli
