// A condition on columns becomes a function of the row, which is then asked for every row. See select_rows.hpp.
#include <kith/apps/select_rows.hpp>

#include "apps/condition_words.hpp"
#include "runtime/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <variant>

namespace kith::apps::inline v0 {
namespace {

using Row = std::uint64_t;
using NumberOf = std::function<double(Row)>;
using TextOf = std::function<std::string_view(Row)>;
using TruthOf = std::function<bool(Row)>;

/// A part of a condition: what it gives for a row, and where it stands.
struct Part {
  std::variant<NumberOf, TextOf, TruthOf> value;
  std::size_t at = 0;
  std::string what;  // "the column name", for messages

  bool is_text() const { return std::holds_alternative<TextOf>(value); }
  bool is_truth() const { return std::holds_alternative<TruthOf>(value); }
};

NumberOf numbers_of(const io::Column& column) {
  NumberOf result = [&column](Row row) { return column.number(row); };
  const auto read_as = [&]<typename T>(T) {
    if (column.type() == io::column_type_of<T>()) {
      result = [values = column.values<T>()](Row row) { return static_cast<double>(values[row]); };
    }
  };
  read_as(double{});
  read_as(float{});
  read_as(std::int32_t{});
  read_as(std::uint8_t{});
  return result;
}

class ConditionParser {
 public:
  ConditionParser(const io::Table& table, std::string_view condition) : table_(table), words_(condition) {}

  TruthOf parse() {
    Part all = either();
    if (words_.word().kind != ConditionWord::Kind::end) {
      words_.fail(words_.word().at, "what comes before it is complete; join conditions by and, or");
    }
    return truth(std::move(all));
  }

 private:
  Part either() {
    Part left = both();
    while (words_.accept("or")) {
      const std::size_t at = left.at;
      TruthOf a = truth(std::move(left));
      TruthOf b = truth(both());
      left = {TruthOf([a, b](Row row) { return a(row) || b(row); }), at, "a condition"};
    }
    return left;
  }

  Part both() {
    Part left = negated();
    while (words_.accept("and")) {
      const std::size_t at = left.at;
      TruthOf a = truth(std::move(left));
      TruthOf b = truth(negated());
      left = {TruthOf([a, b](Row row) { return a(row) && b(row); }), at, "a condition"};
    }
    return left;
  }

  Part negated() {
    const std::size_t at = words_.word().at;
    if (!words_.accept("not")) return comparison();
    const Nesting nesting(*this, at);
    TruthOf a = truth(negated());
    return {TruthOf([a](Row row) { return !a(row); }), at, "a condition"};
  }

  Part comparison() {
    Part left = sum();
    for (const char* sign : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!words_.accept(sign)) continue;
      Part right = sum();
      return compare(std::move(left), sign, std::move(right));
    }
    return left;
  }

  Part compare(Part left, const std::string& sign, Part right) {
    const std::size_t at = left.at;
    if (left.is_text() != right.is_text() && !left.is_truth() && !right.is_truth()) {
      const Part& text = left.is_text() ? left : right;
      const Part& number = left.is_text() ? right : left;
      words_.fail(text.at, fmt::format("{} is text, {} is a number; they cannot be compared", text.what, number.what));
    }
    if (left.is_text()) {
      if (sign != "==" && sign != "!=") words_.fail(at, "texts are compared by == and != only");
      const auto a = std::get<TextOf>(left.value);
      const auto b = std::get<TextOf>(right.value);
      const bool wanted = sign == "==";
      return {TruthOf([a, b, wanted](Row row) { return (a(row) == b(row)) == wanted; }), at, "a condition"};
    }
    const NumberOf a = number(std::move(left));
    const NumberOf b = number(std::move(right));
    const auto by = [&](auto order) {
      return Part{TruthOf([a, b, order](Row row) { return order(a(row), b(row)); }), at, "a condition"};
    };
    if (sign == "==") return by(std::equal_to<>());
    if (sign == "!=") return by(std::not_equal_to<>());
    if (sign == "<=") return by(std::less_equal<>());
    if (sign == ">=") return by(std::greater_equal<>());
    return sign == "<" ? by([](double x, double y) { return x < y; }) : by([](double x, double y) { return x > y; });
  }

  Part sum() {
    Part left = product();
    for (;;) {
      const std::size_t at = left.at;
      const bool plus = words_.is_sign("+");
      if (!plus && !words_.is_sign("-")) return left;
      words_.take();
      const NumberOf a = number(std::move(left));
      const NumberOf b = number(product());
      left = {plus ? NumberOf([a, b](Row row) { return a(row) + b(row); })
                   : NumberOf([a, b](Row row) { return a(row) - b(row); }),
              at, "a sum"};
    }
  }

  Part product() {
    Part left = signed_value();
    for (;;) {
      const std::size_t at = left.at;
      const bool times = words_.is_sign("*");
      if (!times && !words_.is_sign("/")) return left;
      words_.take();
      const NumberOf a = number(std::move(left));
      const NumberOf b = number(signed_value());
      left = {times ? NumberOf([a, b](Row row) { return a(row) * b(row); })
                    : NumberOf([a, b](Row row) { return a(row) / b(row); }),
              at, "a product"};
    }
  }

  Part signed_value() {
    const std::size_t at = words_.word().at;
    if (!words_.accept("-")) return value();
    const Nesting nesting(*this, at);
    const NumberOf a = number(signed_value());
    return {NumberOf([a](Row row) { return -a(row); }), at, "a number"};
  }

  Part value() {
    const ConditionWord word = words_.take();
    switch (word.kind) {
      case ConditionWord::Kind::number:
        return {NumberOf([number = word.number](Row) { return number; }), word.at, "a number"};
      case ConditionWord::Kind::text:
        return {TextOf([text = word.text](Row) -> std::string_view { return text; }), word.at, "'" + word.text + "'"};
      case ConditionWord::Kind::column:
        return column(word);
      case ConditionWord::Kind::name:
        return words_.is_sign("(") ? call(word) : column(word);
      case ConditionWord::Kind::sign:
        if (word.text == "(") {
          const Nesting nesting(*this, word.at);
          Part inner = either();
          close(word);
          return inner;
        }
        break;
      case ConditionWord::Kind::end:
        break;
    }
    words_.fail(word.at, "a column, a number or a text is expected here");
  }

  Part column(const ConditionWord& word) {
    for (const io::Column& column : table_.columns) {
      if (column.name() == word.text) return part_of(column, word);
    }
    if (word.kind == ConditionWord::Kind::name && word.text == "row") {
      return {NumberOf([](Row row) { return static_cast<double>(row); }), word.at, "row"};
    }
    const auto found = table_.find(word.text);
    if (found) return part_of(table_.columns[*found], word);
    std::string names;
    for (const io::Column& column : table_.columns) names += (names.empty() ? "" : ", ") + column.name().substr(0, 40);
    words_.fail(word.at, fmt::format("there is no column \"{}\"; there are {}", word.text, names.substr(0, 800)));
  }

  static Part part_of(const io::Column& column, const ConditionWord& word) {
    const std::string what = fmt::format("the column {}", column.name());
    if (!column.is_text()) return {numbers_of(column), word.at, what};
    return {TextOf([&column](Row row) { return column.texts()[row]; }), word.at, what};
  }

  Part call(const ConditionWord& name) {
    words_.take();
    const Nesting nesting(*this, name.at);
    std::vector<NumberOf> given = {number(sum())};
    while (words_.accept(",")) given.push_back(number(sum()));
    close(name);
    const auto needs = [&](std::size_t count) {
      if (given.size() != count) words_.fail(name.at, fmt::format("{} takes {} of them", name.text, count));
    };
    const auto of_one = [&](double (*function)(double)) {
      needs(1);
      return Part{NumberOf([a = given[0], function](Row row) { return function(a(row)); }), name.at, name.text};
    };
    if (name.text == "abs") return of_one([](double x) { return std::abs(x); });
    if (name.text == "sqrt") return of_one([](double x) { return std::sqrt(x); });
    if (name.text == "floor") return of_one([](double x) { return std::floor(x); });
    if (name.text == "isnan" || name.text == "isfinite") {
      needs(1);
      const bool nan = name.text == "isnan";
      return {TruthOf([a = given[0], nan](Row row) { return nan ? std::isnan(a(row)) : std::isfinite(a(row)); }),
              name.at, name.text};
    }
    if (name.text == "min" || name.text == "max") {
      needs(2);
      const bool least = name.text == "min";
      return {NumberOf([a = given[0], b = given[1], least](Row row) {
                const double x = a(row);
                const double y = b(row);
                if (std::isnan(x) || std::isnan(y)) return x + y;
                return least ? std::min(x, y) : std::max(x, y);
              }),
              name.at, name.text};
    }
    words_.fail(name.at, "functions are abs, sqrt, floor, min, max, isnan and isfinite");
  }

  void close(const ConditionWord& opened) {
    if (!words_.accept(")")) {
      words_.fail(words_.word().at, fmt::format("the bracket opened at character {} is not closed", opened.at + 1));
    }
  }

  NumberOf number(Part part) {
    if (part.is_text()) words_.fail(part.at, fmt::format("{} is text, a number is needed", part.what));
    if (part.is_truth()) words_.fail(part.at, "this is true or false, a number is needed");
    return std::get<NumberOf>(std::move(part.value));
  }

  TruthOf truth(Part part) {
    if (!part.is_truth()) words_.fail(part.at, "this is neither true nor false; compare it with something");
    return std::get<TruthOf>(std::move(part.value));
  }

  /// Brackets in brackets, so many that the stack would not hold them, are refused.
  struct Nesting {
    Nesting(ConditionParser& parser, std::size_t at) : parser_(parser) {
      constexpr int kDeepest = 200;
      if (++parser_.depth_ > kDeepest) parser_.words_.fail(at, "too many brackets within each other");
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ConditionParser& parser_;
  };

  const io::Table& table_;
  ConditionWords words_;
  int depth_ = 0;
};

}  // namespace

std::vector<std::uint32_t> rows_where(const io::Table& table, std::string_view condition, int threads) {
  const TruthOf is_true = ConditionParser(table, condition).parse();
  constexpr std::uint64_t kBlockRows = 1 << 14;
  const std::uint64_t rows = table.rows();
  std::vector<std::vector<std::uint32_t>> found(static_cast<std::size_t>((rows + kBlockRows - 1) / kBlockRows));
  runtime::parallel_for(found.size(), {.threads = threads}, [&](std::uint64_t block) {
    const std::uint64_t end = std::min(rows, (block + 1) * kBlockRows);
    for (std::uint64_t row = block * kBlockRows; row < end; ++row) {
      if (is_true(row)) found[block].push_back(static_cast<std::uint32_t>(row));
    }
  });
  std::vector<std::uint32_t> all;
  for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace kith::apps::inline v0
