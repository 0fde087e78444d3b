// Folders of shards on the command line: the same results as of points, builds that were killed, damage, and a limit of
// memory that the system enforces.
#include "cli/run_command.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace kith::test {
namespace {

namespace fs = std::filesystem;

class StoredCommand : public CommandTest {
 protected:
  void generate(const std::string& name, const std::string& points, const std::string& seed) const {
    const Outcome made = run_kith({"generate", "--points", points, "--seed", seed, "--out", path(name), "--quiet"});
    ASSERT_EQ(made.code, 0) << made;
  }
  void SetUp() override {
    CommandTest::SetUp();
    generate("p.npy", "3000", "1");
    generate("q.npy", "200", "7");
  }

  std::map<std::string, std::string> contents(const std::string& folder) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(path(folder))) {
      if (entry.is_regular_file()) all[fs::relative(entry.path(), path(folder))] = content(entry.path());
    }
    return all;
  }
};

TEST_F(StoredCommand, ResultsAreThoseOfPoints) {
  const Outcome built = run_kith({"build", path("p.npy"), "--out", path("p.shards"), "--shards", "5"});
  ASSERT_EQ(built.code, 0) << built;
  EXPECT_EQ(built.out, "");
  EXPECT_PRED2(has, built.err, "5 shards of 3 000 points of 3 dimensions (l2)");
  EXPECT_PRED2(has, built.err, "shards in " + path("p.shards"));
  std::string radii, allowed;
  for (int q = 0; q < 200; ++q) radii += std::to_string(0.001 * q) + "\n";
  for (int p = 0; p < 3000; ++p) allowed += p % 3 == 0 ? "0\n" : "1\n";
  write("radii.csv", radii);
  write("allowed.csv", allowed);
  const std::vector<std::vector<std::string>> searches = {
      {"knn", "-k", "8"},
      {"knn", "-k", "3", "--squared", "--within", "0.05", "--threads", "2"},
      {"knn", "-k", "3", "--allow", path("allowed.csv"), "--memory", "60M"},
      {"knn", "-k", "5", "--stats"},
      {"knn", "-k", "2", "--map"},
      {"radius", "-r", "0.1"},
      {"radius", "-r", "0.1", "--max-neighbors", "3", "--memory", "60M"},
      {"radius", "-r", "0.1", "--count"},
      {"radius", "--radius-file", path("radii.csv"), "--memory", "60M"}};
  for (const std::vector<std::string>& search : searches) {
    const bool is_table = search.back() == "--stats";
    for (const std::string end : {".npz", ".csv"}) {
      if (is_table && end == ".npz") continue;
      std::vector<std::string> of_points = search, of_shards = search;
      if (search.back() == "--map") of_points.pop_back();
      of_points.insert(of_points.begin() + 1, {path("p.npy"), path("q.npy"), "--out", path("points" + end)});
      of_shards.insert(of_shards.begin() + 1, {path("p.shards"), path("q.npy"), "--out", path("shards" + end)});
      const Outcome expected = run_kith(of_points), found = run_kith(of_shards);
      ASSERT_EQ(expected.code, 0) << expected;
      ASSERT_EQ(found.code, 0) << found;
      EXPECT_TRUE(content(path("points" + end)) == content(path("shards" + end)))
          << search[0] << " " << search[2] << end;
    }
  }
  const Outcome report = run_kith({"knn", path("p.shards"), path("q.npy"), "-k", "2", "--json"});
  ASSERT_EQ(report.code, 0) << report;
  const auto facts = nlohmann::json::parse(report.out);
  EXPECT_EQ(facts["points"], 3000);
  EXPECT_EQ(facts["queries"], 200);
  EXPECT_EQ(facts["metric"], "l2");
}

TEST_F(StoredCommand, SeveralFilesAreNumberedOneAfterTheOther) {
  generate("r.npy", "777", "3");
  constexpr std::size_t kHeader = 128;
  write("all.raw", content(path("p.npy")).substr(kHeader) + content(path("r.npy")).substr(kHeader));
  const Outcome built = run_kith({"build", path("p.npy"), path("r.npy"), "--out", path("two.shards"), "--json"});
  ASSERT_EQ(built.code, 0) << built;
  const auto facts = nlohmann::json::parse(built.out);
  EXPECT_EQ(facts["points"], 3777);
  EXPECT_EQ(facts["shards"], 1) << "they fit into memory";
  const std::string layout = "f32 x,y,z";
  ASSERT_EQ(run_kith({"build", path("all.raw"), "--layout", layout, "--shards", "3", "--out", path("raw.shards")}).code,
            0);
  ASSERT_EQ(run_kith({"convert", path("p.npy"), path("r.npy"), path("all.npy")}).code, 0);
  const auto search = [&](const std::string& points) {
    const Outcome found = run_kith({"knn", path(points), path("q.npy"), "-k", "4", "--out", path("near.npz")});
    EXPECT_EQ(found.code, 0) << found;
    return content(path("near.npz"));
  };
  const std::string expected = search("all.npy");
  EXPECT_TRUE(expected == search("two.shards"));
  EXPECT_TRUE(expected == search("raw.shards"));
  expect_failure(run_kith({"build", path("p.npy"), path("r.npy"), "--out", path("two.kith")}), 2, "--shards");
}

TEST_F(StoredCommand, InfoDescribesThem) {
  ASSERT_EQ(run_kith({"build", path("p.npy"), "--out", path("p.shards"), "--shards", "5", "--metric", "l1"}).code, 0);
  const Outcome text = run_kith({"info", path("p.shards")});
  EXPECT_EQ(text.code, 0) << text;
  EXPECT_PRED2(has, text.out, "shards        5");
  EXPECT_PRED2(has, text.out, "metric        l1");
  const auto facts = nlohmann::json::parse(run_kith({"info", path("p.shards"), "--json"}).out);
  EXPECT_EQ(facts["format"], "shards");
  EXPECT_EQ(facts["points"], 3000);
  ASSERT_EQ(facts["shards"].size(), 5u);
  EXPECT_EQ(facts["shards"][4]["points"], 600);
}

TEST_F(StoredCommand, RefusesWhatFoldersDoNotHave) {
  const std::string shards = path("p.shards");
  ASSERT_EQ(run_kith({"build", path("p.npy"), "--out", shards, "--shards", "2"}).code, 0);
  const auto expect = [&](const std::vector<std::string>& more, const std::string& part) {
    std::vector<std::string> words = {"knn", shards, path("q.npy"), "-k", "3"};
    words.insert(words.end(), more.begin(), more.end());
    expect_failure(run_kith(words), 2, part);
  };
  expect({"--eps", "0.5"}, "--eps");
  expect({"--max-leaves", "3"}, "--max-leaves");
  expect({"--engine", "brute"}, "--engine");
  expect({"--with", "points", "--out", path("o.csv")}, "--with");
  expect({"--metric", "l1"}, "--metric l1");
  expect({"--dtype", "f64"}, "--dtype f64");
  expect({"--period", "1,1,1"}, "--period");
  expect_failure(run_kith({"knn", shards, "-k", "3"}), 2, "give QUERIES");
  expect_failure(run_kith({"radius", shards, "-r", "1"}), 2, "give QUERIES");
  write("p.csv", "1,2,3\n");
  expect_failure(run_kith({"build", path("p.csv"), "--out", path("o.shards")}), 2, ".npy");
  expect_failure(run_kith({"build", path("p.npy"), "--out", path("o.shards"), "--metric", "edit"}), 2, "edit");
  expect_failure(run_kith({"build", path("p.npy"), "--out", path("o.shards"), "--metric", "mahalanobis"}), 2, "");
  EXPECT_FALSE(fs::exists(path("o.shards")));
  fs::create_directory(path("others.shards"));
  write("others.shards/letter.txt", "mine");
  expect_failure(run_kith({"build", path("p.npy"), "--out", path("others.shards")}), 2, "letter.txt");
  EXPECT_EQ(content(path("others.shards/letter.txt")), "mine");
}

TEST_F(StoredCommand, DamageIsAnErrorOfFiles) {
  ASSERT_EQ(run_kith({"build", path("p.npy"), "--out", path("p.shards"), "--shards", "3"}).code, 0);
  for (const auto& [name, bytes] : contents("p.shards")) {
    for (const bool is_cut : {true, false}) {
      std::string damaged = is_cut ? bytes.substr(0, bytes.size() / 2) : bytes;
      if (!is_cut) damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
      write("p.shards/" + name, damaged);
      expect_failure(run_kith({"knn", path("p.shards"), path("q.npy"), "-k", "3"}), 4, "p.shards/");
    }
    write("p.shards/" + name, bytes);
  }
}

/// Killed wherever it is, the command goes on; the files are those of a build that was left alone.
TEST_F(StoredCommand, GoesOnAfterItWasKilled) {
  generate("p.npy", "60000", "5");
  const std::vector<std::string> words = {"build", path("p.npy"), "--shards", "24", "--out"};
  const auto with_out = [&](const std::string& out) {
    std::vector<std::string> all = words;
    all.push_back(path(out));
    return all;
  };
  ASSERT_EQ(run_kith(with_out("whole.shards")).code, 0);
  int killed = 0;
  for (const std::string seen :
       {"building/state", "building/rows", "shard-0000.kith", "shard-0007.kith", "shard-0020.kith", "manifest"}) {
    RunningCommand::Settings settings;
    settings.words = with_out("part.shards");
    RunningCommand command(settings);
    std::string file = path("part.shards/" + seen);
    ASSERT_TRUE(wait_until([&] { return fs::exists(file) || fs::exists(path("part.shards/manifest")); }));
    command.send(SIGKILL);
    killed += command.wait_for_end() == -1 ? 1 : 0;
  }
  EXPECT_GE(killed, 1);
  const Outcome rest = run_kith(with_out("part.shards"));
  ASSERT_EQ(rest.code, 0) << rest;
  EXPECT_TRUE(contents("whole.shards") == contents("part.shards"));
  const Outcome again = run_kith(with_out("part.shards"));
  EXPECT_EQ(again.code, 0) << again;
  EXPECT_PRED2(has, again.err, "nothing is left to do");
}

TEST_F(StoredCommand, SaysHowToGoOnAfterAnInterrupt) {
  generate("p.npy", "60000", "5");
  RunningCommand::Settings settings;
  settings.words = {"build", path("p.npy"), "--shards", "64", "--out", path("p.shards")};
  RunningCommand command(settings);
  ASSERT_TRUE(wait_until([&] { return fs::exists(path("p.shards/building/state")); }));
  command.send(SIGINT);
  const Outcome stopped = command.finish();
  expect_failure(stopped, 130, "the same command goes on with what is in " + path("p.shards"));
  expect_failure(run_kith({"knn", path("p.shards"), path("q.npy"), "-k", "1"}), 4, "not finished");
  expect_failure(run_kith({"info", path("p.shards")}), 4, "not finished");
  const Outcome rest = run_kith(settings.words);
  EXPECT_EQ(rest.code, 0) << rest;
  EXPECT_PRED2(has, rest.err, "goes on with the build in");
}

TEST_F(StoredCommand, TooLittleMemoryIsRefused) {
  expect_failure(run_kith({"build", path("p.npy"), "--out", path("p.shards"), "--memory", "20M"}), 6, "needs ");
  ASSERT_EQ(run_kith({"build", path("p.npy"), "--out", path("p.shards"), "--shards", "2"}).code, 0);
  expect_failure(run_kith({"knn", path("p.shards"), path("q.npy"), "-k", "3", "--memory", "20M"}), 6, "needs ");
}

/// The address space is limited to what --memory says and what the program itself maps. An index of all points does not
/// fit into it.
TEST_F(StoredCommand, KeepsToItsMemory) {
  if (std::getenv("KITH_TEST_COMMAND") != nullptr) GTEST_SKIP() << "sanitizers and emulators map more than the limit";
  generate("p.npy", "6M", "5");
  const auto limited = [&](const std::string& words) {
    RunningCommand::Settings settings;
    settings.program = "/bin/sh";
    settings.words = {"-c", "ulimit -v 150000; exec \"$0\" " + words + " --threads 1 --device cpu", command_path()};
    settings.directory = folder_;
    return RunningCommand(settings).finish();
  };
  EXPECT_EQ(limited("build p.npy --out p.kith").code, 6) << "the limit is too large to test anything";
  const Outcome built = limited("build p.npy --out p.shards --memory 80M");
  ASSERT_EQ(built.code, 0) << built;
  const Outcome found = limited("knn p.shards q.npy -k 8 --memory 80M --out shards.npz");
  ASSERT_EQ(found.code, 0) << found;
  ASSERT_EQ(run_kith({"knn", path("p.npy"), path("q.npy"), "-k", "8", "--out", path("points.npz")}).code, 0);
  EXPECT_TRUE(content(path("points.npz")) == content(path("shards.npz")));
}

}  // namespace
}  // namespace kith::test
