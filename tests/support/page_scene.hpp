// What a page of kith view holds, decoded plainly: see src/apps/view/README.md for the format.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace kith::test {

/// A page taken apart.
class PageScene {
 public:
  /// Fails the test if a part is not there.
  explicit PageScene(std::string page);

  const nlohmann::json& json() const { return json_; }
  const std::string& page() const { return page_; }
  const nlohmann::json& cloud(std::size_t i) const { return json_.at("clouds").at(i); }
  /// The column of this name.
  const nlohmann::json& column(std::size_t cloud, const std::string& name) const;
  /// The numbers of an array that the scene describes.
  std::vector<double> values(const nlohmann::json& array) const;
  /// What is between `open` and the next `close`, from the first `open` on; empty if it is not there.
  std::string between(std::string_view open, std::string_view close) const;
  std::size_t blocks() const { return blocks_.size(); }

 private:
  std::string page_;
  nlohmann::json json_;
  std::vector<std::string> blocks_;
};

}  // namespace kith::test
