// See typed_command.hpp.
#include "report/typed_command.hpp"

#include <string_view>

namespace kith::cli {
namespace {

constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";

std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::vector<std::string>& typed_words() {
  static std::vector<std::string> words;
  return words;
}

std::string typed_command() {
  std::string text = "kith";
  for (const std::string& word : typed_words()) text += " " + quoted(word);
  return text;
}

}  // namespace kith::cli
