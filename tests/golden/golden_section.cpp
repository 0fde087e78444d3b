// See golden_section.hpp.
#include "golden/golden_section.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace kith::test {
namespace {

constexpr const char* kHead =
    "# Digests of answers that every machine must give, see HACKING.md. FNV-1a, 64 bits, over the bytes.\n"
    "# A line changes only by a commit that says why. To write all anew: KITH_WRITE_DIGESTS=1 build/bin/golden_tests\n";

bool is_of(const std::string& section, const std::string& name) { return name.starts_with(section + "/"); }

}  // namespace

std::map<std::string, std::string> read_digests() {
  std::map<std::string, std::string> lines;
  std::ifstream file(KITH_GOLDEN_DIGESTS);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string name, digest;
    words >> name >> digest;
    EXPECT_TRUE(lines.emplace(name, digest).second) << "two lines for " << name;
  }
  return lines;
}

GoldenSection::GoldenSection(std::string section)
    : section_(std::move(section)), writes_(std::getenv("KITH_WRITE_DIGESTS") != nullptr) {
  if (writes_) return;
  lines_ = read_digests();
  std::erase_if(lines_, [&](const auto& line) { return !is_of(section_, line.first); });
}

GoldenSection::~GoldenSection() {
  if (!writes_) {
    for (const auto& [name, digest] : lines_) {
      if (!made_.contains(name)) ADD_FAILURE() << "no case makes the line\n" << name << "  " << digest;
    }
    return;
  }
  std::map<std::string, std::string> all = read_digests();
  std::erase_if(all, [&](const auto& line) { return is_of(section_, line.first); });
  all.insert(lines_.begin(), lines_.end());
  std::ofstream file(KITH_GOLDEN_DIGESTS);
  file << kHead;
  for (const auto& [name, digest] : all) file << name << "  " << digest << "\n";
}

void GoldenSection::check(const std::string& name, const std::string& digest, const std::string& by) {
  const std::string full = section_ + "/" + name;
  if (writes_) lines_.emplace(full, digest);
  made_.insert(full);
  const auto line = lines_.find(full);
  if (line == lines_.end()) {
    ADD_FAILURE() << "digests.txt lacks the line\n" << full << "  " << digest;
  } else if (line->second != digest) {
    ADD_FAILURE() << by << (by.empty() ? "" : " ") << "gives another answer than digests.txt:\n"
                  << full << "  " << digest << "\ninstead of " << line->second;
  }
}

void GoldenSection::leave_out(const std::string& name) {
  const std::string full = section_ + "/" + name;
  EXPECT_TRUE(writes_ || lines_.contains(full)) << full;
  EXPECT_FALSE(writes_) << "digests are written by programs that make them all";
  made_.insert(full);
}

}  // namespace kith::test
