// Names of weights and of rules for ties. See neighbor_options.hpp.
#include <kith/apps/neighbor_options.hpp>

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::apps::inline v0 {

std::string_view name_of(Weights weights) { return weights == Weights::uniform ? "uniform" : "distance"; }

Weights parse_weights(std::string_view text) {
  for (const Weights weights : {Weights::uniform, Weights::distance}) {
    if (text == name_of(weights)) return weights;
  }
  throw UsageError(fmt::format("unknown weights \"{}\"; choose uniform or distance", text));
}

std::string_view name_of(Ties ties) {
  return ties == Ties::nearest ? "nearest" : ties == Ties::lowest ? "lowest" : "highest";
}

Ties parse_ties(std::string_view text) {
  for (const Ties ties : {Ties::nearest, Ties::lowest, Ties::highest}) {
    if (text == name_of(ties)) return ties;
  }
  throw UsageError(fmt::format("unknown rule for ties \"{}\"; choose nearest, lowest or highest", text));
}

}  // namespace kith::apps::inline v0
