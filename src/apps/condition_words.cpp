// See condition_words.hpp.
#include "apps/condition_words.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace kith::apps::inline v0 {
namespace {

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }
bool continues_word(char c) { return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.'; }

}  // namespace

ConditionWord ConditionWords::take() {
  ConditionWord taken = std::move(word_);
  next();
  return taken;
}

bool ConditionWords::is_sign(std::string_view sign) const {
  return word_.kind == ConditionWord::Kind::sign && word_.text == sign;
}

bool ConditionWords::is_name(std::string_view name) const {
  return word_.kind == ConditionWord::Kind::name && word_.text == name;
}

bool ConditionWords::accept(std::string_view word) {
  if (!is_sign(word) && !is_name(word)) return false;
  next();
  return true;
}

void ConditionWords::fail(std::size_t at, std::string_view why) const {
  constexpr std::size_t kShown = 30;
  if (at >= text_.size()) throw UsageError(fmt::format("the condition \"{}\" ends too early: {}", text_, why));
  throw UsageError(fmt::format("the condition is wrong at character {}, \"{}{}\": {}", at + 1, text_.substr(at, kShown),
                               text_.size() - at > kShown ? "…" : "", why));
}

void ConditionWords::next() {
  while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  word_ = {};
  word_.at = at_;
  if (at_ == text_.size()) return;
  const char first = text_[at_];
  if (std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '.') {
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), word_.number);
    if (error != std::errc()) fail(at_, "this is not a number");
    word_.kind = ConditionWord::Kind::number;
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && continues_word(text_[at_])) fail(word_.at, "this is not a number");
    return;
  }
  if (first == '\'' || first == '"' || first == '`') {
    const std::size_t end = text_.find(first, at_ + 1);
    if (end == std::string_view::npos) fail(at_, fmt::format("the {} has no end", first == '`' ? "name" : "text"));
    word_.kind = first == '`' ? ConditionWord::Kind::column : ConditionWord::Kind::text;
    word_.text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return;
  }
  if (begins_word(first)) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && continues_word(text_[at_])) ++at_;
    word_.kind = ConditionWord::Kind::name;
    word_.text = text_.substr(begin, at_ - begin);
    return;
  }
  constexpr std::array<std::string_view, 14> kSigns = {"==", "!=", "<=", ">=", "<", ">", "+",
                                                       "-",  "*",  "/",  "(",  ")", ",", "="};
  for (const std::string_view sign : kSigns) {
    if (!text_.substr(at_).starts_with(sign)) continue;
    if (sign == "=") fail(at_, "write == to compare");
    word_.kind = ConditionWord::Kind::sign;
    word_.text = sign;
    at_ += sign.size();
    return;
  }
  fail(at_, first == '&' || first == '|' || first == '!' ? "write and, or, not" : "this sign means nothing here");
}

}  // namespace kith::apps::inline v0
