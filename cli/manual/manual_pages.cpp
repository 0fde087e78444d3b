// Manual pages in roff for man(1), written from the descriptions of the commands.
#include "help_text.hpp"

#include <kith/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <utility>

namespace kith::cli {
namespace {

/// The code point that starts at `text[at]`, which moves to its last byte. Help texts are valid UTF-8.
std::uint32_t code_point(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  std::uint32_t value = lead & (0x3FU >> more);
  for (int i = 0; i < more && at + 1 < text.size(); ++i) {
    value = (value << 6) | (static_cast<unsigned char>(text[++at]) & 0x3FU);
  }
  return value;
}

/// Text that appears as it is typed: every dash is the one of flags, and lines may break after "|".
std::string roff_literal(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '|':
        out += "|\\:";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x80) {
          out += c;
        } else {
          out += fmt::format("\\[u{:04X}]", code_point(text, i));
        }
    }
  }
  return out;
}

/// Running text. Words that are flags keep their dashes; those of "k-d tree" are hyphens.
std::string roff_text(const std::string& text) {
  std::string out;
  for (const std::string& word : split(text, ' ')) {
    if (!out.empty()) out += ' ';
    const std::size_t first = word.find_first_not_of("\"([");
    const bool is_flag = first != std::string::npos && word[first] == '-';
    std::string literal = roff_literal(word);
    if (!is_flag) {
      for (std::size_t at = literal.find("\\-"); at != std::string::npos; at = literal.find("\\-", at)) {
        literal.replace(at, 2, "-");
      }
    }
    out += literal;
  }
  // A dot or quote at the beginning of a line would be a request.
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  return text;
}

std::string roff_heading(const std::string& name, const std::string& summary) {
  return fmt::format(".TH {} 1 \"\" \"kith {}\" \"Manual of kith\"\n.SH NAME\n{} \\- {}\n",
                     roff_literal(upper_case(name)), KITH_VERSION, roff_literal(name), roff_text(summary));
}

std::string roff_flag(const Flag& flag) {
  std::string names;
  for (const std::string& name : split(flag.names, ',')) {
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff_literal(name));
  }
  if (!flag.value.empty()) names += fmt::format(" \\fI{}\\fR", roff_literal(flag.value));
  return fmt::format(".TP\n{}\n{}\n", names, roff_text(flag.required ? flag.text + " (required)" : flag.text));
}

std::string roff_examples(const std::vector<Example>& examples) {
  std::string text = ".SH EXAMPLES\n";
  for (const Example& example : examples) {
    std::string sentence = example.text;
    sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
    if (&example != &examples.front()) text += ".PP\n";
    text += fmt::format("{}:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", roff_text(sentence), roff_literal(example.line));
  }
  return text;
}

constexpr std::array kExitCodes = {
    std::pair{0, "all is well"},
    std::pair{1, "a bug in kith; please report it"},
    std::pair{2, "a command line that makes no sense"},
    std::pair{3, "bad data: NaN, a ragged row, a missing value; a result that verify finds wrong, or classify --check"},
    std::pair{4, "a file that is damaged, or of a kind that kith does not read"},
    std::pair{5, "the system could not open, read or write; standard output closed or full"},
    std::pair{6, "not enough memory"},
    std::pair{7, "no such GPU, or the GPU reported an error"},
    std::pair{130, "interrupted by Ctrl-C, SIGTERM or a closed terminal"},
};

}  // namespace

std::string manual_page(const std::vector<Command>& commands) {
  std::string text = roff_heading("kith", "find nearest neighbours, exact, the same answer on every machine");
  text +=
      ".SH SYNOPSIS\n.B kith\n.I COMMAND\n[\\fIARGUMENTS\\fR] [\\fIFLAGS\\fR]\n.br\n.B kith help\n[\\fICOMMAND\\fR]\n"
      ".br\n.B kith \\-\\-version\n"
      ".SH DESCRIPTION\n"
      "Points come from CSV and other text, NPY, NPZ, PLY, PCD, LAS, fvecs, bvecs, ivecs and IDX files,\n"
      "or from standard input (\"\\-\").\n"
      "Results go to standard output or to the file after \\fB\\-\\-out\\fR, everything else to standard error.\n"
      "A file appears whole or not at all.\n"
      ".SH COMMANDS\n";
  for (const Command& command : commands) {
    text += fmt::format(".TP\n.BR kith\\-{} (1)\n{}\n", roff_literal(command.name), roff_text(command.summary));
  }
  text += roff_examples(first_steps());
  text += ".SH \"EXIT STATUS\"\n";
  for (const auto& [code, meaning] : kExitCodes) text += fmt::format(".TP\n.B {}\n{}\n", code, roff_text(meaning));
  return text;
}

std::string manual_page_of(const Command& command) {
  std::string text = roff_heading("kith-" + command.name, command.summary);
  text += fmt::format(".SH SYNOPSIS\n.B kith {}\n{}\n.SH DESCRIPTION\n{}\n", roff_literal(command.name),
                      roff_literal(command.synopsis), roff_text(command.description));
  if (!command.arguments.empty()) {
    text += ".SH ARGUMENTS\n";
    for (const Argument& argument : command.arguments) {
      text += fmt::format(".TP\n.I {}\n{}\n", roff_literal(argument.name), roff_text(argument.text));
    }
  }
  text += ".SH OPTIONS\n";
  for (const FlagGroup& group : command.groups) {
    text += fmt::format(".SS \"{}\"\n", roff_literal(group.title));
    for (const Flag& flag : group.flags) text += roff_flag(flag);
  }
  if (!command.groups.empty()) text += ".SS Other\n";
  text += ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow the help\n";
  text += roff_examples(command.examples);
  return text + ".SH \"SEE ALSO\"\n.BR kith (1),\nwhich lists all commands and exit codes.\n";
}

}  // namespace kith::cli
