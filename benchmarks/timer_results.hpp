// What a timer writes: lists of rows as JSON, with the machine and the commit.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace kith {

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

inline std::string first_line_of(const char* command) {
  std::string text;
  if (FILE* pipe = popen(command, "r"); pipe != nullptr) {
    char line[256] = {};
    if (std::fgets(line, sizeof line, pipe) != nullptr) text = line;
    pclose(pipe);
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

/// Of the sources; a copy of them without their history says it by KITH_COMMIT.
inline std::string commit() {
  const char* given = std::getenv("KITH_COMMIT");
  return given != nullptr ? given : first_line_of("git rev-parse --short HEAD 2>/dev/null");
}

/// Lists of rows, written as one JSON object with the machine before them.
class Results {
 public:
  void begin_list(const char* name) {
    json_ << (is_first_list_ ? "" : "\n],") << "\n \"" << name << "\": [";
    is_first_list_ = false;
    is_first_row_ = true;
  }

  /// `row` is one JSON object; `is_right`: whether the answers were.
  void add(const std::string& row, bool is_right = true) {
    json_ << (is_first_row_ ? "" : ",") << "\n  " << row;
    is_first_row_ = false;
    is_right_ = is_right_ && is_right;
    std::fflush(stdout);
  }

  /// `machine` is a JSON object. True if the file is written and all answers were right.
  bool write(const char* path, const std::string& machine) const {
    std::ofstream out(path);
    out << "{\"machine\": " << machine << ',' << json_.str() << "\n]}\n" << std::flush;
    return out.good() && is_right_;
  }

 private:
  std::ostringstream json_;
  bool is_first_list_ = true, is_first_row_ = true, is_right_ = true;
};

}  // namespace kith
