// Where a test may write a file: a name of its own for each process, because tests run side by side.
#pragma once

#include <string>
#include <unistd.h>

namespace kith::test {

inline std::string temporary_path(const std::string& name) {
  return std::string(KITH_TEST_TEMPORARY) + "/" + std::to_string(getpid()) + "_" + name;
}

}  // namespace kith::test
