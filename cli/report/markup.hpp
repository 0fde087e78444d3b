// Markup of a page: elements put together, and text, which gets in only escaped.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace kith::cli {

/// A piece of HTML or SVG. Only `text` and `element` make one, so that no name of a file and no label can be markup.
class Markup {
 public:
  Markup() = default;
  Markup& operator+=(const Markup& more) {
    source_ += more.source_;
    return *this;
  }
  friend Markup operator+(Markup first, const Markup& second) { return first += second; }
  bool empty() const { return source_.empty(); }
  const std::string& source() const { return source_; }

 private:
  explicit Markup(std::string source) : source_(std::move(source)) {}
  friend struct MarkupMaker;

  std::string source_;
};

/// An attribute; `value` is any text.
struct Attribute {
  std::string_view name;
  std::string value;
};

/// Words as they are, made `printable`: nothing in them is markup.
Markup text(std::string_view words);

/// `name` and names of attributes are ours; attributes without a value are left out.
Markup element(std::string_view name, std::initializer_list<Attribute> attributes, const Markup& inside);
inline Markup element(std::string_view name, const Markup& inside) { return element(name, {}, inside); }
inline Markup element(std::string_view name, std::initializer_list<Attribute> attributes, std::string_view words) {
  return element(name, attributes, text(words));
}
inline Markup element(std::string_view name, std::string_view words) { return element(name, {}, text(words)); }
/// Of SVG and of HTML: <rect …/>, <br/>.
Markup empty_element(std::string_view name, std::initializer_list<Attribute> attributes);
/// A number as SVG has it: two decimals at most.
std::string coordinate(double value);

}  // namespace kith::cli
