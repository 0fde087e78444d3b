// See markup.hpp.
#include "report/markup.hpp"

#include "printable.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace kith::cli {

struct MarkupMaker {
  static Markup of(std::string source) { return Markup(std::move(source)); }
};

namespace {

/// Fit to stand between tags and between double quotes.
std::string without_markup(std::string_view words) {
  std::string safe;
  safe.reserve(words.size() + words.size() / 16);
  for (const char c : words) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string opening(std::string_view name, std::initializer_list<Attribute> attributes) {
  std::string tag = fmt::format("<{}", name);
  for (const Attribute& attribute : attributes) {
    if (attribute.value.empty()) continue;
    tag += fmt::format(" {}=\"{}\"", attribute.name, without_markup(attribute.value));
  }
  return tag;
}

}  // namespace

Markup text(std::string_view words) { return MarkupMaker::of(without_markup(printable(words))); }

Markup element(std::string_view name, std::initializer_list<Attribute> attributes, const Markup& inside) {
  return MarkupMaker::of(fmt::format("{}>{}</{}>", opening(name, attributes), inside.source(), name));
}

Markup empty_element(std::string_view name, std::initializer_list<Attribute> attributes) {
  return MarkupMaker::of(opening(name, attributes) + "/>");
}

std::string coordinate(double value) {
  const double rounded = std::round(value * 100) / 100;
  return fmt::format("{}", rounded == 0 ? 0 : rounded);
}

}  // namespace kith::cli
