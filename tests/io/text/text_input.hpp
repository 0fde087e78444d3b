// Text files that exist in memory only, for the tests of the text reader.
#pragma once

#include "io/formats.hpp"
#include "io/text/text_reader.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kith::testing_text {

using Values = std::vector<double>;
using Names = std::vector<std::string>;
using Codes = std::vector<std::uint32_t>;

inline runtime::InputFile memory_file(const std::string& text, const std::string& name = "points.csv") {
  return runtime::InputFile(name, std::vector<char>(text.begin(), text.end()));
}

inline io::PointFile read(const std::string& text, const io::ReadOptions& options = {}) {
  return io::read_text(memory_file(text), options);
}

/// All values as doubles, row after row.
inline std::vector<double> values_of(const io::PointFile& file) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < file.points.rows(); ++i) {
    for (std::uint32_t d = 0; d < file.points.dims(); ++d) values.push_back(file.view().at(i, d));
  }
  return values;
}

/// The message of the exception of type `Thrown` that `work` must throw; "" and a failure if it throws none.
template <typename Thrown, typename Work>
std::string message_of(Work&& work) {
  try {
    std::forward<Work>(work)();
  } catch (const Thrown& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception than expected: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

/// The message with which reading `text` fails.
template <typename Thrown>
std::string failure_of(const std::string& text, const io::ReadOptions& options = {}) {
  return message_of<Thrown>([&] { read(text, options); });
}

}  // namespace kith::testing_text
