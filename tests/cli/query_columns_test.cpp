// Which column of QUERIES belongs to which of POINTS: by name, else by position, and the flags that say otherwise.
#include "cli/run_command.hpp"

namespace kith::test {
namespace {

constexpr const char* kBothFound = "query,rank,index,distance\n0,0,0,0\n1,0,1,0\n";

class QueryColumns : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write("p.csv", "x,y\n0,10\n1,20\n");
  }

  Outcome knn(const std::string& queries, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"knn", path("p.csv"), path(queries), "-k", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  }
};

TEST_F(QueryColumns, AreThoseOfTheSameNameInAnyOrder) {
  write("q.csv", "y,x\n10,0\n20,1\n");
  const Outcome outcome = knn("q.csv");
  EXPECT_EQ(outcome.out, kBothFound) << outcome;
  EXPECT_PRED2(has, outcome.err,
               "note: " + path("q.csv") + ": columns are paired with those of " + path("p.csv") + " by name: x, y");
  EXPECT_EQ(run_kith({"knn", path("p.csv"), "-", "-k", "1", "-q"}, "y,x\n10,0\n20,1\n").out, kBothFound);
  EXPECT_EQ(run_kith({"radius", path("p.csv"), path("q.csv"), "-r", "1", "-q"}).out, kBothFound);
}

TEST_F(QueryColumns, AreFoundAmongOthers) {
  write("q.csv", "name,y,id,x\nten,10,7,0\ntwenty,20,8,1\n");
  EXPECT_EQ(knn("q.csv", {"-q"}).out, kBothFound);
  write("t.tsv", "Y\tid\tX\n10\t7\t0\n20\t8\t1\n");
  EXPECT_EQ(knn("t.tsv", {"-q"}).out, kBothFound);
}

TEST_F(QueryColumns, OfTheSameOrderNeedNoNote) {
  write("q.csv", "x,y\n0,10\n1,20\n");
  EXPECT_FALSE(has(knn("q.csv").err, "paired"));
  write("upper.csv", "X,Y\n0,10\n1,20\n");
  EXPECT_FALSE(has(knn("upper.csv").err, "paired"));
  EXPECT_FALSE(has(knn("q.csv", {"--columns", "1,2"}).err, "paired"));
  EXPECT_FALSE(has(knn("q.csv", {"--columns", "x,y"}).err, "paired"));
  write("bare.csv", "0,10\n1,20\n");
  EXPECT_FALSE(has(knn("bare.csv").err, "paired"));
}

TEST_F(QueryColumns, OfOtherNamesGoByPositionWithANote) {
  write("q.csv", "lon,lat\n0,10\n1,20\n");
  const Outcome outcome = knn("q.csv");
  EXPECT_EQ(outcome.out, kBothFound) << outcome;
  EXPECT_PRED2(has, outcome.err, "by position: lon with x, lat with y; --query-columns takes others");
  const Outcome chosen = knn("q.csv", {"--query-columns", "lat,lon", "--within", "5"});
  EXPECT_FALSE(has(chosen.err, "paired")) << chosen;
  EXPECT_EQ(chosen.out, "query,rank,index,distance\n0,0,2,inf\n1,0,2,inf\n");
}

TEST_F(QueryColumns, HaveFlagsOfTheirOwn) {
  write("q.txt", "a 0 10\nb 1 20\n");
  EXPECT_EQ(knn("q.txt", {"--query-label", "1", "-q"}).out, kBothFound);
  EXPECT_EQ(knn("q.txt", {"--query-columns", "2,3", "-q"}).out, kBothFound);
  EXPECT_EQ(knn("q.txt", {"--query-label", "1", "--query-format", "text", "-q"}).out, kBothFound);
  const Outcome wrong = knn("q.txt", {"--query-label", "1", "--query-format", "npy"});
  EXPECT_EQ(wrong.code, 4) << wrong;
  const Outcome none = run_kith({"knn", path("p.csv"), "-k", "1", "--query-columns", "x,y"});
  EXPECT_EQ(none.code, 2) << none;
  EXPECT_PRED2(has, none.err, "go with QUERIES");
}

TEST_F(QueryColumns, NeedNoLabelOfThePoints) {
  write("t.csv", "x,y,class\n0,10,a\n1,20,b\n");
  write("q.csv", "x,y\n0,10\n1,20\n");
  EXPECT_EQ(run_kith({"knn", path("t.csv"), path("q.csv"), "-k", "1", "--label", "class", "-q"}).out, kBothFound);
}

TEST_F(QueryColumns, AreThoseOfTheCheckToo) {
  write("q.csv", "y,x\n10,0\n20,1\n");
  ASSERT_EQ(knn("q.csv", {"--out", path("n.npz"), "-q"}).code, 0);
  const Outcome outcome = run_kith({"verify", path("n.npz"), path("p.csv"), path("q.csv")});
  EXPECT_EQ(outcome.code, 0) << outcome;
}

TEST_F(QueryColumns, AreNamedWhereARowIsBad) {
  write("q.csv", "y,x\n10,0\n20,nan\n");
  const Outcome outcome = knn("q.csv", {"-q"});
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_PRED2(has, outcome.err, path("q.csv") + ": line 3, column 2 (x) is NaN");
}

TEST_F(QueryColumns, WithTooFewOfThemAreRefused) {
  write("q.csv", "x,z,w\n0,10,1\n");
  const Outcome outcome = knn("q.csv");
  EXPECT_EQ(outcome.code, 2) << outcome;
  EXPECT_PRED2(has, outcome.err, "choose the columns to compare with --columns and --query-columns");
}

}  // namespace
}  // namespace kith::test
