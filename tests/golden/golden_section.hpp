// The digests in digests.txt whose names begin alike, checked or written anew.
#pragma once

#include <map>
#include <set>
#include <string>

namespace kith::test {

/// Every section that a test makes; the file may have no other.
inline constexpr const char* kGoldenSections[] = {
    "approximate",    "bits",      "boxes",        "lp",          "canberra",     "prepared",   "choose_k",
    "classify",       "dedupe",    "filters",      "generate",    "index_files",  "inputs",     "knn",
    "object_files",   "outputs",   "periodic",     "radius",      "random_cases", "regress",    "scale",
    "self",           "sequences", "squared",      "transform",   "tree_exports", "downsample", "outliers",
    "cloud_distance", "normals",   "registration", "global_start"};

/// All lines of digests.txt: name and digest.
std::map<std::string, std::string> read_digests();

/// Lines "SECTION/NAME  DIGEST" of one test. With KITH_WRITE_DIGESTS set they are written to digests.txt; otherwise
/// each must stand there, and none besides.
class GoldenSection {
 public:
  explicit GoldenSection(std::string section);
  /// Fails for lines that no case made, or writes the lines that were.
  ~GoldenSection();
  GoldenSection(const GoldenSection&) = delete;
  GoldenSection& operator=(const GoldenSection&) = delete;

  /// To be called for every engine, device and number of threads that must give this answer; `by` names the one that
  /// did, for the message.
  void check(const std::string& name, const std::string& digest, const std::string& by = "");
  /// The line is not made here: one of many alike, where computing takes many times as long.
  void leave_out(const std::string& name);

 private:
  std::string section_;
  bool writes_;
  std::map<std::string, std::string> lines_;  // what the file says, or what it will say
  std::set<std::string> made_;
};

}  // namespace kith::test
