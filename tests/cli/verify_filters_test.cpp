// kith verify of searches with filters, bounds, periodic axes and approximation: right ones pass, others do not.
#include "cli/run_command.hpp"

namespace kith::test {
namespace {

class VerifyFilters : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    ASSERT_EQ(run_kith({"generate", "-n", "600", "--out", path("p.npy"), "-q"}).code, 0);
    std::string allowed;
    for (int i = 0; i < 600; ++i) allowed += i % 3 == 0 ? "0\n" : "1\n";
    write("allow.csv", allowed);
  }

  /// Searches with these flags, verifies with them, and verifies without: right, and wrong.
  void expect_told_apart(const std::vector<std::string>& search, const std::vector<std::string>& flags,
                         const std::vector<std::string>& only_search = {}) {
    SCOPED_TRACE(flags.empty() ? "" : flags[0]);
    std::vector<std::string> words = search;
    words.insert(words.begin() + 1, path("p.npy"));
    for (const auto& more : {flags, only_search, std::vector<std::string>{"--out", path("n.npz"), "-q"}}) {
      words.insert(words.end(), more.begin(), more.end());
    }
    ASSERT_EQ(run_kith(words).code, 0);
    std::vector<std::string> check = {"verify", path("n.npz"), path("p.npy")};
    if (search[0] == "radius") check.insert(check.end(), {"--radius", "0.2"});
    const Outcome without = run_kith(check);
    EXPECT_EQ(without.code, 3) << without;
    check.insert(check.end(), flags.begin(), flags.end());
    const Outcome with = run_kith(check);
    EXPECT_EQ(with.code, 0) << with;
  }
};

TEST_F(VerifyFilters, AreKnown) {
  const std::vector<std::string> knn = {"knn", "-k", "6"};
  const std::vector<std::string> radius = {"radius", "-r", "0.2"};
  for (const auto& search : {knn, radius}) {
    expect_told_apart(search, {"--allow", path("allow.csv")});
    expect_told_apart(search, {"--earlier-only"});
    expect_told_apart(search, {"--period", "1,1,1"});
    expect_told_apart(search, {"--period=-0.5:0.5,0,0.25:1.25", "--metric", "l1"});
  }
  expect_told_apart(knn, {"--within", "0.05"});
  expect_told_apart(knn, {"--within", "0.1", "--squared", "--allow", path("allow.csv")});
}

TEST_F(VerifyFilters, ApproximateAnswersKeepTheirBound) {
  const std::vector<std::string> knn = {"knn", "-k", "6"};
  const std::vector<std::string> tree = {"--engine", "kdtree", "--leaf-size", "4"};
  ASSERT_EQ(run_kith({"generate", "--points", "600", "--dims", "8", "--out", path("p.npy")}).code, 0);
  expect_told_apart(knn, {"--eps", "2"}, tree);
  expect_told_apart(knn, {"--eps", "2", "--squared"}, tree);
  const Outcome tighter = run_kith({"verify", path("n.npz"), path("p.npy"), "--eps", "0.0001", "--squared"});
  EXPECT_EQ(tighter.code, 3) << tighter;
  EXPECT_PRED2(has, tighter.err, "is more than 1 + ");
  expect_told_apart(knn, {"--max-leaves", "3"}, tree);
}

TEST_F(VerifyFilters, WrappedPointsAreCounted) {
  write("b.csv", "x,y\n-4.5,1\n4.5,1\n0,9\n7,1\n");
  const Outcome outcome = run_kith({"knn", path("b.csv"), "-k", "2", "--period=-5:5,0:10", "--out", path("b.npz")});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_PRED2(has, outcome.err, "b.csv: 1 row outside of the box of --period was wrapped into it");
  EXPECT_EQ(run_kith({"verify", path("b.npz"), path("b.csv"), "--period=-5:5,0:10"}).code, 0);
  expect_failure(run_kith({"knn", path("b.csv"), "-k", "2", "--period", "5:5,0:10"}), 2, "LOWER:UPPER");
  expect_failure(run_kith({"knn", path("b.csv"), "-k", "2", "--period", "10"}), 2, "1 length for 2 dimensions");
}

}  // namespace
}  // namespace kith::test
