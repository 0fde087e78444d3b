// kith-mpi writes the bytes that kith writes, whatever the number of ranks and however points lie in files.
#include "mpi/command/start_ranks.hpp"
#include "support/random_case.hpp"

#include <kith/io/write_points.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace kith::test {
namespace {

class KithMpi : public CommandTest {
 protected:
  /// Points of a grid, so that many are equal: as one file, as three, of which the second is empty, and queries.
  void SetUp() override {
    CommandTest::SetUp();
    std::mt19937_64 random(7);
    const PointSet points = nasty_points(NastyShape::grid, DType::f32, 700, 3, random);
    const PointSet queries = nasty_points(NastyShape::uniform, DType::f32, 90, 3, random);
    io::write_points(path("all.npy"), points.view());
    io::write_points(path("a.npy"), points.view().slice(0, 250));
    io::write_points(path("b.npy"), points.view().slice(250, 0));
    io::write_points(path("c.npy"), points.view().slice(250, 450));
    io::write_points(path("d.csv"), points.view().slice(250, 200));
    io::write_points(path("e.csv"), points.view().slice(450, 250));
    io::write_points(path("queries.npy"), queries.view());
  }

  /// Both outputs of the same flags: kith's of one file, and that of ranks of several.
  void expect_same_output(int ranks, const std::string& command, const std::vector<std::string>& files,
                          const std::vector<std::string>& flags, bool with_queries, const std::string& extension) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks, " << command << ", " << files.size() << " files, "
                                    << (with_queries ? "queries" : "self"));
    const std::string expected = path("expected" + extension), found = path("found" + extension);
    std::vector<std::string> words{command == "count" ? "radius" : command, path("all.npy")};
    if (with_queries) words.push_back(path("queries.npy"));
    if (command == "count") words.push_back("--count");
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--quiet", "--out", expected});
    const Outcome alone = run_kith(words);
    ASSERT_EQ(0, alone.code) << alone;

    words = {command};
    for (const std::string& file : files) words.push_back(path(file));
    if (with_queries) words.insert(words.end(), {"--queries", path("queries.npy")});
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--quiet", "--out", found});
    const Outcome together = run_ranks(ranks, KITH_MPI_COMMAND, words);
    ASSERT_EQ(0, together.code) << together;
    EXPECT_EQ("", together.out);
    EXPECT_TRUE(content(expected) == content(found)) << "the files differ";
  }
};

TEST_F(KithMpi, WritesTheBytesOfKith) {
  const std::vector<std::string> parts{"a.npy", "b.npy", "c.npy"};
  expect_same_output(1, "knn", {"all.npy"}, {"-k", "8"}, false, ".npz");
  expect_same_output(3, "knn", parts, {"-k", "8", "--exclude-self"}, false, ".npz");
  expect_same_output(4, "knn", {"all.npy"}, {"-k", "5", "--squared"}, true, ".csv");
  expect_same_output(3, "knn", parts, {"-k", "4", "--metric", "l1", "--within", "0.5", "--dtype", "f64"}, true, ".npz");
  expect_same_output(3, "radius", parts, {"-r", "1", "--earlier-only"}, false, ".npz");
  expect_same_output(2, "radius", {"all.npy"}, {"-r", "0.7", "--max-neighbors", "9"}, true, ".csv");
  expect_same_output(3, "count", parts, {"-r", "1.5"}, false, ".npz");
  expect_same_output(2, "count", parts, {"-r", "0.5", "--period", "4,0,4"}, true, ".tsv");
}

TEST_F(KithMpi, ReadsFilesThatItCannotCutAsAWhole) {
  expect_same_output(3, "knn", {"a.npy", "d.csv", "e.csv"}, {"-k", "3", "--dtype", "f32"}, false, ".npz");
}

TEST_F(KithMpi, WritesToStandardOutput) {
  const Outcome alone = run_kith({"knn", path("all.npy"), path("queries.npy"), "-k", "2", "--quiet"});
  const Outcome together =
      run_ranks(2, KITH_MPI_COMMAND, {"knn", path("all.npy"), "--queries", path("queries.npy"), "-k", "2", "--quiet"});
  EXPECT_EQ(0, together.code) << together;
  EXPECT_EQ(alone.out, together.out);
}

TEST_F(KithMpi, FindsOnlyAllowedPoints) {
  std::string mask;
  for (int i = 0; i < 700; ++i) mask += i % 3 == 0 ? "1\n" : "0\n";
  write("mask.csv", mask);
  expect_same_output(3, "knn", {"a.npy", "c.npy"}, {"-k", "3", "--allow", path("mask.csv")}, true, ".npz");
}

TEST_F(KithMpi, EndsWithTheCodeOfTheError) {
  const auto run = [&](const std::vector<std::string>& words) { return run_ranks(2, KITH_MPI_COMMAND, words); };
  Outcome outcome = run({"knn", path("all.npy"), "-k", "3", "--out", path("n.npz"), "--exclude-sefl"});
  EXPECT_EQ(2, outcome.code) << outcome;
  EXPECT_PRED2(has, outcome.err, "kith-mpi: knn: there is no flag --exclude-sefl; did you mean \"--exclude-self\"?");
  outcome = run({"knm", path("all.npy")});
  EXPECT_EQ(2, outcome.code) << outcome;
  EXPECT_PRED2(has, outcome.err, "kith-mpi: there is no command \"knm\"; did you mean \"knn\"?");
  outcome = run({"knn", path("all.npy"), path("missing.npy"), "-k", "3", "--out", path("n.npz")});
  EXPECT_EQ(5, outcome.code) << outcome;
  EXPECT_PRED2(has, outcome.err, "missing.npy");
  std::vector<float> values(3 * 100, 1.0f);
  values[3 * 77 + 1] = std::numeric_limits<float>::quiet_NaN();
  io::write_points(path("nan.npy"), PointView(values, 3));
  outcome = run({"knn", path("nan.npy"), "-k", "3", "--out", path("n.npz")});
  EXPECT_EQ(3, outcome.code) << outcome;
  EXPECT_PRED2(has, outcome.err, "points: row 77, column 1 (counted from 0) is NaN");
  outcome = run({"count", path("all.npy"), "-r", "1", "--out", path("all.npy")});
  EXPECT_EQ(2, outcome.code) << outcome;
  EXPECT_FALSE(std::filesystem::exists(path("n.npz")));
}

TEST_F(KithMpi, TellsOfItself) {
  Outcome outcome = run_ranks(2, KITH_MPI_COMMAND, {"--help"});
  EXPECT_EQ(0, outcome.code) << outcome;
  EXPECT_PRED2(has, outcome.out, "mpirun -n RANKS kith-mpi COMMAND");
  outcome = run_ranks(2, KITH_MPI_COMMAND, {"radius", "--help"});
  EXPECT_PRED2(has, outcome.out, "Usage: kith-mpi radius POINTS");
  outcome = run_ranks(2, KITH_MPI_COMMAND, {"knn", path("all.npy"), "-k", "2", "--json"});
  EXPECT_PRED2(has, outcome.out, "\"ranks\": 2");
}

/// Who has no MPI uses kith as ever.
TEST_F(KithMpi, IsNoPartOfKith) {
  RunningCommand::Settings settings;
  settings.program = "ldd";
  settings.words = {command_path()};
  const Outcome outcome = RunningCommand(settings).finish();
  EXPECT_PRED2(has, outcome.out, "libc.so");
  EXPECT_FALSE(has(outcome.out, "libmpi")) << outcome;
}

}  // namespace
}  // namespace kith::test
