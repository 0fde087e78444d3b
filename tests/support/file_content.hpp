// All that a file holds.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace kith::test {

/// "" if there is no such file. Not byte by byte, which takes long without optimisation.
inline std::string file_content(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

}  // namespace kith::test
