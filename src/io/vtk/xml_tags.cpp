// See xml_tags.hpp.
#include "io/vtk/xml_tags.hpp"

#include <algorithm>

namespace kith::io::inline v0 {
namespace {

constexpr std::string_view kXmlBlanks = " \t\r\n";

}  // namespace

std::optional<std::string_view> XmlTag::attribute(std::string_view key) const {
  std::string_view rest = attributes;
  for (;;) {
    const std::size_t begin = rest.find_first_not_of(kXmlBlanks);
    if (begin == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(begin);
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view found = rest.substr(0, std::min(rest.find_first_of(kXmlBlanks), equals));
    const std::size_t open = rest.find_first_not_of(kXmlBlanks, equals + 1);
    if (open == std::string_view::npos || (rest[open] != '"' && rest[open] != '\'')) return std::nullopt;
    const std::size_t close = rest.find(rest[open], open + 1);
    if (close == std::string_view::npos) return std::nullopt;
    if (found == key) return rest.substr(open + 1, close - open - 1);
    rest.remove_prefix(close + 1);
  }
}

bool XmlTags::next(XmlTag& tag) {
  for (;;) {
    const std::size_t open = text_.find('<', at_);
    if (open == std::string_view::npos) return false;
    const bool is_comment = text_.substr(open).starts_with("<!--");
    const std::size_t close = is_comment ? text_.find("-->", open) : text_.find('>', open);
    if (close == std::string_view::npos) return false;
    at_ = close + (is_comment ? 3 : 1);
    if (is_comment || text_[open + 1] == '?' || text_[open + 1] == '!') continue;
    std::string_view inside = text_.substr(open + 1, close - open - 1);
    tag.is_empty = inside.ends_with('/') && inside.size() > 1;
    if (tag.is_empty) inside.remove_suffix(1);
    const std::size_t name_end = std::min(inside.find_first_of(kXmlBlanks), inside.size());
    tag.name = inside.substr(0, name_end);
    tag.attributes = inside.substr(name_end);
    tag.end = at_;
    tag.text = text_.substr(at_, std::min(text_.find('<', at_), text_.size()) - at_);
    return true;
  }
}

}  // namespace kith::io::inline v0
