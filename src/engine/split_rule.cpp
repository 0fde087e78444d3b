// Names of the rules by which a k-d tree splits. See kith/index.hpp.
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <fmt/format.h>

namespace kith::inline v0 {

std::string_view name_of(SplitRule rule) { return rule == SplitRule::cycle ? "cycle" : "widest"; }

SplitRule parse_split_rule(std::string_view text) {
  if (text == "widest") return SplitRule::widest;
  if (text == "cycle") return SplitRule::cycle;
  throw UsageError(fmt::format("unknown split rule \"{}\"; choose widest or cycle", text));
}

}  // namespace kith::inline v0
