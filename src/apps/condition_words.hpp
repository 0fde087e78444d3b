// The words of a condition on columns: numbers, texts, names and signs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kith::apps::inline v0 {

struct ConditionWord {
  enum class Kind : std::uint8_t { number, text, name, column, sign, end };  // a column stood in backticks
  Kind kind = Kind::end;
  std::string text;  ///< without quotes; of a sign the sign
  double number = 0;
  std::size_t at = 0;  ///< where it starts
};

/// Goes over a condition word by word.
class ConditionWords {
 public:
  explicit ConditionWords(std::string_view condition) : text_(condition) { next(); }

  const ConditionWord& word() const { return word_; }
  /// The word, and on to the one behind it.
  ConditionWord take();
  bool is_sign(std::string_view sign) const;
  bool is_name(std::string_view name) const;
  /// Takes the word if it is this sign or name.
  bool accept(std::string_view word);
  /// Throws UsageError that says where.
  [[noreturn]] void fail(std::size_t at, std::string_view why) const;

 private:
  void next();

  std::string_view text_;
  std::size_t at_ = 0;
  ConditionWord word_;
};

}  // namespace kith::apps::inline v0
