// Names of weights. See neighbor_options.hpp.
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

}  // namespace kith::apps::inline v0
