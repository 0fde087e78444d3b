// Names of engines, of rules to split and of builders. See kith/index.hpp.
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kith::inline v0 {
namespace {

constexpr std::array<std::string_view, 4> kEngines{"auto", "brute", "kdtree", "covertree"};
constexpr std::array<std::string_view, 2> kSplitRules{"widest", "cycle"};
constexpr std::array<std::string_view, 7> kBuilders{"auto",    "histogram", "presort", "select",
                                                    "segsort", "batch",     "lists"};

template <typename Option, typename Names>
Option parse(std::string_view text, const Names& names, std::string_view what, std::string_view choices) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) throw UsageError(fmt::format("unknown {} \"{}\"; choose {}", what, text, choices));
  return static_cast<Option>(found - names.begin());
}

}  // namespace

std::string_view name_of(Engine engine) { return kEngines.at(static_cast<std::size_t>(engine)); }
std::string_view name_of(SplitRule rule) { return kSplitRules.at(static_cast<std::size_t>(rule)); }
std::string_view name_of(Builder builder) { return kBuilders.at(static_cast<std::size_t>(builder)); }

Engine parse_engine(std::string_view text) {
  return parse<Engine>(text, kEngines, "engine", "auto, brute, kdtree or covertree");
}
SplitRule parse_split_rule(std::string_view text) {
  return parse<SplitRule>(text, kSplitRules, "split rule", "widest or cycle");
}
Builder parse_builder(std::string_view text) {
  return parse<Builder>(text, kBuilders, "builder",
                        "auto, histogram, presort, select or segsort (k-d tree), batch or lists (cover tree)");
}

}  // namespace kith::inline v0
