// The keyword arguments of a search as SearchOptions.
#pragma once

#include "arrays.hpp"
#include "watched_call.hpp"

#include <kith/index.hpp>

#include <cstdint>
#include <string_view>

namespace kith::python {

/// Reads every field of SearchOptions by its name; `progress` is a callable or None, `allowed` an array of 64-bit words
/// and `index_below` one of uint32. Anything else is a TypeError. Stays where it is: the options point to it.
class SearchRequest {
 public:
  explicit SearchRequest(const nb::kwargs& keywords);

  const SearchOptions& options() const { return options_; }
  /// For one query: other threads would only be waited for.
  void use_one_thread() { options_.threads = 1; }
  template <typename Work>
  auto run(Work&& work) {
    return watch_.run(work);
  }

 private:
  void read(std::string_view name, nb::handle value);

  SearchOptions options_;
  Watch watch_;
  Values<std::uint64_t> allowed_;
  Values<std::uint32_t> index_below_;
};

}  // namespace kith::python
