// The tags of an XML text, one after the other: enough for files that programs write, without entities or schemas.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kith::io::inline v0 {

/// One tag and the text that follows it.
struct XmlTag {
  std::string_view name;        ///< "DataArray"; with a leading '/' for the end of an element
  std::string_view attributes;  ///< everything between the name and the '>'
  std::string_view text;        ///< up to the next tag
  std::size_t end = 0;          ///< where the text begins
  bool is_empty = false;        ///< "<DataArray …/>"

  /// The value of an attribute, entities and all; nothing if it is not there.
  std::optional<std::string_view> attribute(std::string_view key) const;
};

/// Walks over the tags; comments and declarations are left out.
class XmlTags {
 public:
  explicit XmlTags(std::string_view text) : text_(text) {}
  /// False at the end, or where a tag is not closed.
  bool next(XmlTag& tag);

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace kith::io::inline v0
