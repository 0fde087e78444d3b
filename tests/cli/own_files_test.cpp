// Outputs that would take the place of an input, by its own name, another one or a link: refused before anything is
// read.
#include "cli/run_command.hpp"

#include <filesystem>

namespace kith::test {
namespace {

constexpr const char* kTable = "x,y,class\n0,0,a\n1,1,b\n0,0,a\n";

class OwnFiles : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write("p.csv", kTable);
    std::filesystem::create_symlink(path("p.csv"), path("link.csv"));
    std::filesystem::create_hard_link(path("p.csv"), path("other.csv"));
    std::filesystem::create_directory(path("folder"));
  }

  /// Runs the command with each name of the file as its output.
  void expect_refused(const std::vector<std::string>& words, const std::string& flag) {
    for (const std::string name : {"p.csv", "link.csv", "other.csv", "folder/../p.csv"}) {
      std::vector<std::string> all = words;
      all.insert(all.end(), {flag, path(name)});
      const Outcome outcome = run_kith(all);
      SCOPED_TRACE(name);
      EXPECT_EQ(outcome.code, 2) << outcome;
      EXPECT_PRED2(has, outcome.err, flag + ": " + path(name));
      EXPECT_PRED2(has, outcome.err, "would be lost; name another file");
      EXPECT_EQ(outcome.out, "");
      EXPECT_EQ(content(path("p.csv")), kTable);
    }
  }
};

TEST_F(OwnFiles, NoCommandWritesOverAnInput) {
  const std::string points = path("p.csv");
  write("q.csv", "x,y\n0,0\n");
  write("allow.csv", "1\n1\n1\n");
  expect_refused({"knn", points, "-k", "1", "--label", "class"}, "--out");
  expect_refused({"knn", path("q.csv"), points, "-k", "1", "--query-label", "class"}, "--out");
  expect_refused({"knn", path("q.csv"), "-k", "1", "--allow", points}, "--out");
  expect_refused({"radius", points, "-r", "1", "--label", "class"}, "--out");
  expect_refused({"radius", path("q.csv"), "--radius-file", points}, "--out");
  expect_refused({"box", points, path("q.csv"), "--label", "class"}, "--out");
  expect_refused({"dedupe", points, "--label", "class"}, "--out");
  expect_refused({"dedupe", points, "--label", "class", "--out", path("new.csv")}, "--map");
  expect_refused({"build", points, "--label", "class"}, "--out");
  expect_refused({"classify", "--train", points, "--test", path("q.csv"), "--label", "class"}, "--out");
  expect_refused({"classify", "--train", path("q.csv"), "--test", points, "--label", "class"}, "--out");
  expect_refused({"classify", points}, "--out");
  EXPECT_FALSE(std::filesystem::exists(path("new.csv")));
}

TEST_F(OwnFiles, ExportKeepsItsInput) {
  ASSERT_EQ(run_kith({"generate", "-n", "10", "--out", path("p.npz"), "-q"}).code, 0);
  const std::string before = content(path("p.npz"));
  const Outcome outcome = run_kith({"export", path("p.npz"), "--layout", "nodes", "--out", path("folder/../p.npz")});
  EXPECT_EQ(outcome.code, 2) << outcome;
  EXPECT_EQ(content(path("p.npz")), before);
}

TEST_F(OwnFiles, TwoOutputsAreTwoFiles) {
  const Outcome outcome = run_kith(
      {"dedupe", path("p.csv"), "--label", "class", "--out", path("new.csv"), "--map", path("folder/../new.csv")});
  EXPECT_EQ(outcome.code, 2) << outcome;
  EXPECT_PRED2(has, outcome.err, "--out and --map name the same file");
}

TEST_F(OwnFiles, DevicesMayBeShared) {
  const Outcome outcome = run_kith({"knn", "/dev/stdin", "-k", "1", "--out", "-", "-q"}, "1\n2\n");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(run_kith({"knn", path("p.csv"), "-k", "1", "--label", "class", "--json", "-q"}).code, 0);
}

}  // namespace
}  // namespace kith::test
