// A report taken apart by a small strict reader: elements must close in order, attributes stand in double quotes.
#pragma once

#include "cli/run_command.hpp"

#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kith::test {

/// A number that stands in a page.
inline double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  ///< its own and that of all inside
  std::vector<std::unique_ptr<Element>> children;

  std::string attribute(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : found->second;
  }
  bool has_class(const std::string& word) const {
    return (" " + attribute("class") + " ").find(" " + word + " ") != std::string::npos;
  }
  /// All elements of a name inside, in order.
  std::vector<const Element*> all(const std::string& wanted) const {
    std::vector<const Element*> found;
    for (const auto& child : children) {
      if (child->name == wanted) found.push_back(child.get());
      for (const Element* inner : child->all(wanted)) found.push_back(inner);
    }
    return found;
  }
};

/// Text between two tags, or the value of an attribute, with its entities read. Fails on a bare "<" or "&".
inline std::string unescaped(std::string_view source) {
  static const std::map<std::string, char> kNames = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"#39", '\''}};
  std::string text;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '&') {
      EXPECT_NE(source[i], '<') << source.substr(0, 200);
      text += source[i];
      continue;
    }
    const std::size_t end = source.find(';', i);
    const auto known =
        end == std::string_view::npos ? kNames.end() : kNames.find(std::string(source.substr(i + 1, end - i - 1)));
    if (known == kNames.end()) {
      ADD_FAILURE() << "no entity: " << source.substr(i, 40);
      continue;
    }
    text += known->second;
    i = end;
  }
  return text;
}

class ReportPage {
 public:
  explicit ReportPage(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    source_ = text.str();
    read();
  }

  const std::string& source() const { return source_; }
  const Element& root() const { return root_; }

  /// A table by its caption, as rows of what is copied.
  std::vector<std::vector<std::string>> table(const std::string& caption) const {
    for (const Element* figure : root_.all("figure")) {
      if (!figure->has_class("table") || figure->all("figcaption").front()->text != caption) continue;
      std::vector<std::vector<std::string>> rows;
      for (const Element* row : figure->all("tr")) {
        rows.emplace_back();
        for (const auto& cell : row->children) {
          rows.back().push_back(cell->attributes.contains("data-value") ? cell->attribute("data-value") : cell->text);
        }
      }
      return rows;
    }
    ADD_FAILURE() << "no table: " << caption;
    return {};
  }
  /// The second cell of the row that begins with `name`.
  std::string fact(const std::string& caption, const std::string& name) const {
    for (const auto& row : table(caption)) {
      if (!row.empty() && row[0] == name) return row.at(1);
    }
    ADD_FAILURE() << "no row: " << name;
    return "";
  }
  /// What a figure at the top says.
  std::string figure(const std::string& name) const {
    for (const Element* list : root_.all("dl")) {
      for (const auto& pair : list->children) {
        if (pair->children.at(0)->text == name) return pair->children.at(1)->text;
      }
    }
    ADD_FAILURE() << "no figure: " << name;
    return "";
  }
  /// The sum of the counts of a histogram's table.
  double counted(const std::string& caption) const {
    double sum = 0;
    const auto rows = table(caption);
    for (std::size_t i = 1; i < rows.size(); ++i) sum += std::strtod(rows[i].at(1).c_str(), nullptr);
    return sum;
  }

 private:
  void read() {
    ASSERT_TRUE(source_.starts_with("<!doctype html>\n"));
    std::vector<Element*> open = {&root_};
    std::size_t place = source_.find('\n');
    while (place < source_.size()) {
      const bool is_raw = open.back()->name == "script" || open.back()->name == "style";
      const std::size_t tag = is_raw ? source_.find("</" + open.back()->name + ">", place) : source_.find('<', place);
      const std::string_view between =
          std::string_view(source_).substr(place, tag == std::string::npos ? tag : tag - place);
      if (!is_raw) {
        const std::string words = unescaped(between);
        for (Element* element : open) element->text += words;
      }
      if (tag == std::string::npos) break;
      const std::size_t end = end_of_tag(tag);
      ASSERT_NE(end, std::string::npos);
      place = end + 1;
      const std::string inside = source_.substr(tag + 1, end - tag - 1);
      if (inside.starts_with("/")) {
        ASSERT_EQ(inside.substr(1), open.back()->name);
        open.pop_back();
        ASSERT_FALSE(open.empty());
        continue;
      }
      auto element = std::make_unique<Element>(element_of(inside));
      Element* added = element.get();
      open.back()->children.push_back(std::move(element));
      if (!inside.ends_with("/") && added->name != "meta") open.push_back(added);
    }
    ASSERT_EQ(open.size(), 1u) << open.back()->name << " is not closed";
  }

  std::size_t end_of_tag(std::size_t tag) const {
    bool is_quoted = false;
    for (std::size_t i = tag; i < source_.size(); ++i) {
      if (source_[i] == '"') is_quoted = !is_quoted;
      if (source_[i] == '>' && !is_quoted) return i;
    }
    return std::string::npos;
  }

  static Element element_of(const std::string& inside) {
    Element element;
    std::size_t place = inside.find_first_of(" /");
    element.name = inside.substr(0, place);
    while (place != std::string::npos && place < inside.size()) {
      place = inside.find_first_not_of(" /", place);
      if (place == std::string::npos) break;
      const std::size_t equals = inside.find("=\"", place);
      if (equals == std::string::npos) {
        ADD_FAILURE() << "an attribute without quotes: " << inside;
        break;
      }
      const std::size_t end = inside.find('"', equals + 2);
      element.attributes[inside.substr(place, equals - place)] = unescaped(inside.substr(equals + 2, end - equals - 2));
      place = end + 1;
    }
    return element;
  }

  std::string source_;
  Element root_;
};

/// Nothing on the page loads, runs or styles anything but its own script and style.
inline void expect_alone(const ReportPage& page) {
  EXPECT_EQ(page.root().all("script").size(), 1u);
  EXPECT_EQ(page.root().all("style").size(), 1u);
  for (const char* name : {"link", "img", "object", "embed", "base", "form", "a", "use", "image", "foreignObject"}) {
    EXPECT_TRUE(page.root().all(name).empty()) << name;
  }
  const Element& policy = *page.root().all("meta").at(1);
  EXPECT_EQ(policy.attribute("http-equiv"), "Content-Security-Policy");
  EXPECT_TRUE(policy.attribute("content").starts_with("default-src 'none'; script-src 'sha256-"));
  EXPECT_EQ(policy.attribute("content").find("unsafe"), std::string::npos);
  std::vector<const Element*> all = {&page.root()};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const auto& child : all[i]->children) all.push_back(child.get());
    for (const auto& [name, value] : all[i]->attributes) {
      EXPECT_TRUE(name != "src" && name != "href" && name != "style" && !name.starts_with("on")) << name;
      if (name != "srcdoc") {
        EXPECT_FALSE(has(value, "://")) << value;
      }
    }
  }
}

/// A test that reads reports.
class ReportTest : public CommandTest {
 protected:
  /// The page of a command that succeeds.
  ReportPage report_of(std::vector<std::string> words, const std::string& input = {}) const {
    words.insert(words.end(), {"--report", path("report.html"), "--quiet"});
    const Outcome outcome = run_kith(words, input);
    EXPECT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(outcome.err, "");
    ReportPage page(path("report.html"));
    expect_alone(page);
    return page;
  }
};

}  // namespace kith::test
