// kith tune, and what other commands do with its profile: the same answers, notes, and errors.
#include "cli/run_command.hpp"

#include <kith/profile.hpp>

#include <nlohmann/json.hpp>

namespace kith::test {
namespace {

using nlohmann::json;

class TuneCommand : public CommandTest {
 protected:
  /// With a configuration folder of its own.
  Outcome run(std::vector<std::string> words, const std::string& variable = "none") const {
    RunningCommand::Settings settings;
    settings.words = std::move(words);
    settings.environment = {"XDG_CONFIG_HOME=" + folder_, "KITH_PROFILE=" + variable};
    return RunningCommand(settings).finish();
  }
  std::string points() const {
    EXPECT_EQ(run({"generate", "-n", "3000", "-d", "2", "--out", path("points.npy"), "--quiet"}).code, 0);
    return path("points.npy");
  }
  /// With the least, or the most, of all values that a CPU has.
  std::string extreme(bool is_least, const std::string& name = "") const {
    DeviceProfile cpu = profile_of_cpu();
    if (!name.empty()) cpu.name = name;
    for (const TunedValue& value : tuned_values()) {
      if (!value.is_gpu) cpu.values.*value.member = is_least ? value.least : value.most;
    }
    const std::string file = path(is_least ? "least.json" : "most.json");
    write_to_profile(file, cpu);
    return file;
  }
};

TEST_F(TuneCommand, WritesAProfileThatIsUsed) {
  const Outcome tuned = run({"tune", "--seconds", "1", "--json", "--quiet"});
  ASSERT_EQ(tuned.code, 0) << tuned;
  EXPECT_EQ(tuned.err, "");
  const json report = json::parse(tuned.out);
  const std::string file = report["profile"];
  EXPECT_EQ(file, path("kith/profile.json"));
  EXPECT_EQ(report["device"], "cpu");
  const std::vector<DeviceProfile> read = read_profile(file);
  ASSERT_EQ(read.size(), 1);
  EXPECT_EQ(read[0].name, profile_of_cpu().name);
  for (const json& value : report["values"]) EXPECT_GE(value["tuned"], 0);
  EXPECT_PRED2(has, run({"tune", "--seconds", "1"}).err, "KITH_PROFILE is none");
  const Outcome found = run({"knn", points(), "-k", "3", "--explain", "--out", path("found.npz")}, "");
  EXPECT_PRED2(has, found.err, "explain: profile " + file + ": " + profile_of_cpu().name);
}

TEST_F(TuneCommand, PrintsATable) {
  const std::string file = path("new/folder/mine.json");
  const Outcome tuned = run({"tune", "--seconds", "1", "--out", file, "--data", points()});
  EXPECT_EQ(tuned.code, 0) << tuned;
  EXPECT_PRED2(has, tuned.out, "value ");
  EXPECT_PRED2(has, tuned.out, "presort_points ");
  EXPECT_PRED2(has, tuned.err, "values changed");
  EXPECT_FALSE(read_profile(file).empty());
}

TEST_F(TuneCommand, RefusesWhatItCannotWrite) {
  const std::string file = write("points.csv", "1,2\n");
  expect_failure(run({"tune", "--out", file}), 4, "is no profile");
  EXPECT_EQ(content(file), "1,2\n");
  expect_failure(run({"tune", "--out", "-"}), 2, "name one");
  expect_failure(run({"tune", "--out", "none"}), 2, "name a file");
  expect_failure(run({"tune", "--out", file + "/new/mine.json"}), 5, "cannot be created");
  expect_failure(run({"tune", "--seconds", "0"}), 2, "--seconds");
  expect_failure(run({"tune", "--data", path("missing.npy")}), 5, "missing.npy");
  std::filesystem::remove_all(path("kith"));
  write("kith", "a file where the folder should be");
  expect_failure(run({"tune"}), 5, "cannot be created");
}

TEST_F(TuneCommand, NoAnswerDependsOnAProfile) {
  const std::string file = points();
  for (const std::vector<std::string>& search : std::vector<std::vector<std::string>>{
           {"knn", file, "-k", "4"}, {"radius", file, "-r", "0.02"}, {"dedupe", file, "--tolerance", "0.001"}}) {
    std::vector<std::string> words = search;
    words.insert(words.end(), {"--quiet", "--profile", "none"});
    const Outcome expected = run(words);
    EXPECT_EQ(expected.code, 0) << expected;
    for (const bool is_least : {false, true}) {
      words.back() = extreme(is_least);
      const Outcome found = run(words);
      EXPECT_EQ(found.code, 0) << found;
      EXPECT_EQ(found.err, "");
      EXPECT_TRUE(found.out == expected.out);
    }
  }
}

TEST_F(TuneCommand, AnotherMachineIsIgnoredWithOneNote) {
  const std::string file = points(), other = extreme(true, "abacus");
  const std::string note = "kith: note: " + other + ": was made for abacus";
  const Outcome named = run({"knn", file, "-k", "1", "--out", path("a.npz"), "--profile", other});
  EXPECT_EQ(named.code, 0) << named;
  EXPECT_PRED2(has, named.err, note);
  EXPECT_EQ(named.err.find(note), named.err.rfind(note)) << named;
  EXPECT_PRED2(has, run({"knn", file, "-k", "1", "--out", path("a.npz")}, other).err, note);
  EXPECT_EQ(run({"knn", file, "-k", "1", "--out", path("a.npz"), "--quiet"}, other).err, "");
}

TEST_F(TuneCommand, ABrokenProfileIsAnErrorOnlyIfNamed) {
  const std::string file = points(), broken = write("broken.json", "{");
  expect_failure(run({"knn", file, "-k", "1", "--profile", broken}), 4, "is no profile");
  expect_failure(run({"knn", file, "-k", "1"}, broken), 4, "is no profile");
  expect_failure(run({"plan", "-n", "1000", "--profile", path("missing.json")}), 5, "missing.json");
  expect_failure(run({"knn", file, "-k", "1", "--profile", "-"}), 2, "not standard input");
  expect_failure(run({"knn", file, "-k", "1"}, "-"), 2, "not standard input");
  std::filesystem::create_directory(path("kith"));
  write("kith/profile.json", "{");
  const Outcome found = run({"knn", file, "-k", "1", "--out", path("a.npz")}, "");
  EXPECT_EQ(found.code, 0) << found;
  EXPECT_PRED2(has, found.err, "it is ignored");
  EXPECT_EQ(run({"knn", file, "-k", "1", "--out", path("a.npz"), "--quiet"}, "").err, "");
}

}  // namespace
}  // namespace kith::test
