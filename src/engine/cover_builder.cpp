// Names of the builders of a cover tree. See kith/index.hpp.
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <fmt/format.h>

namespace kith::inline v0 {

std::string_view name_of(CoverBuilder builder) { return builder == CoverBuilder::lists ? "lists" : "batch"; }

CoverBuilder parse_cover_builder(std::string_view text) {
  if (text == "batch") return CoverBuilder::batch;
  if (text == "lists") return CoverBuilder::lists;
  throw UsageError(fmt::format("unknown builder \"{}\"; choose batch or lists", text));
}

}  // namespace kith::inline v0
