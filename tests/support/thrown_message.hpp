// The text of the exception that a call must throw.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace kith::test {

/// Fails the test if `f` throws nothing of type E.
template <typename E, typename F>
std::string thrown_message(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "no exception of the expected type";
  return {};
}

/// True if `text` holds `part`; for EXPECT_PRED2.
inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace kith::test
