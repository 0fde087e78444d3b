// See search_request.hpp.
#include "search_request.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <fmt/format.h>

#include <string>

namespace kith::python {
namespace {

template <typename T>
T value_of(std::string_view name, nb::handle value, std::string_view wanted) {
  T result{};
  if (!nb::try_cast(value, result)) throw nb::type_error(fmt::format("{} must be {}", name, wanted).c_str());
  return result;
}

}  // namespace

SearchRequest::SearchRequest(const nb::kwargs& keywords) {
  for (const auto& [name, value] : keywords) read(nb::cast<std::string_view>(name), value);
  options_.progress = watch_.callback();
}

void SearchRequest::read(std::string_view name, nb::handle value) {
  if (name == "squared") {
    options_.squared = value_of<bool>(name, value, "a bool");
  } else if (name == "exclude_self") {
    options_.exclude_self = value_of<bool>(name, value, "a bool");
  } else if (name == "earlier_only") {
    options_.earlier_only = value_of<bool>(name, value, "a bool");
  } else if (name == "skip_nonfinite") {
    options_.skip_nonfinite = value_of<bool>(name, value, "a bool");
  } else if (name == "max_neighbors") {
    options_.max_neighbors = value_of<std::uint32_t>(name, value, "a whole number from 0 to 2**32 - 1");
  } else if (name == "max_leaves") {
    options_.max_leaves = value_of<std::uint32_t>(name, value, "a whole number from 0 to 2**32 - 1");
  } else if (name == "max_distance") {
    options_.max_distance = value_of<double>(name, value, "a number");
  } else if (name == "eps") {
    options_.eps = value_of<double>(name, value, "a number");
  } else if (name == "threads") {
    options_.threads = value_of<int>(name, value, "a whole number");
  } else if (name == "progress") {
    watch_.report_to(nb::borrow(value));
  } else if (name == "allowed") {
    if (value.is_none()) return;
    allowed_ = value_of<Values<std::uint64_t>>(name, value, "an array of uint64, a bit for each point");
    options_.allowed = span_of(allowed_);
  } else if (name == "index_below") {
    if (value.is_none()) return;
    index_below_ = value_of<Values<std::uint32_t>>(name, value, "an array of uint32, a number for each query");
    options_.index_below = span_of(index_below_);
  } else {
    throw nb::type_error(fmt::format("a search has no argument \"{}\"", name).c_str());
  }
}

}  // namespace kith::python
