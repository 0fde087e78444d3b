// --metric-params and the metrics that have some, in every command that measures.
#include "cli/run_command.hpp"

#include <string>
#include <vector>

namespace kith::test {
namespace {

using Words = std::vector<std::string>;

class MetricParamsCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    points_ = write("points.csv", "x,y,kind\n1,100,a\n2,90,b\n4,105,a\n3,400,b\n2,395,b\n1,220,a\n5,10,b\n");
    matrix_ = write("matrix.csv", "2,0.001\n0.001,0.0001\n");
  }
  std::string points_, matrix_;

  Outcome knn(Words more) const {
    const Words words = {"knn", points_, "-k", "2", "--columns", "x,y", "--quiet"};
    more.insert(more.begin(), words.begin(), words.end());
    return run_kith(more);
  }
};

TEST_F(MetricParamsCommand, ResultsAreRightByVerify) {
  const std::vector<Words> cases = {
      {"--metric", "seuclidean"},      {"--metric", "seuclidean", "--metric-params", "1,10000"},
      {"--metric", "mahalanobis"},     {"--metric", "mahalanobis", "--metric-params", matrix_},
      {"--metric-params", "1,0.0001"}, {"--metric", "lp:2.5", "--metric-params", "0,2"},
      {"--metric", "braycurtis"}};
  for (const Words& how : cases) {
    SCOPED_TRACE(how.back());
    Words words = how;
    words.insert(words.end(), {"--out", path("n.npz")});
    const Outcome found = knn(words);
    EXPECT_EQ(found.code, 0) << found;
    words = {"verify", path("n.npz"), points_, "--columns", "x,y"};
    words.insert(words.end(), how.begin(), how.end());
    const Outcome verdict = run_kith(words);
    EXPECT_EQ(verdict.code, 0) << verdict;
    words = {"verify", path("n.npz"), points_, "--columns", "x,y"};
    EXPECT_EQ(run_kith(words).code, 3) << "l2 gives the same";
  }
}

TEST_F(MetricParamsCommand, AnIndexHoldsThem) {
  const Words build = {"build", points_, "--columns", "x,y", "--metric", "seuclidean", "-o", path("p.kith"), "-q"};
  EXPECT_EQ(run_kith(build).code, 0);
  const Outcome by_index = run_kith({"knn", path("p.kith"), "-k", "2", "-q"});
  EXPECT_EQ(by_index.out, knn({"--metric", "seuclidean"}).out);
  EXPECT_EQ(run_kith({"verify", path("p.kith"), "--points", points_, "--columns", "x,y"}).code, 0);
  EXPECT_EQ(run_kith({"knn", path("p.kith"), "-k", "2", "-q", "-o", path("n.npz")}).code, 0);
  EXPECT_EQ(run_kith({"verify", path("n.npz"), points_, "--columns", "x,y", "--metric", "seuclidean"}).code, 0);
  expect_failure(run_kith({"knn", path("p.kith"), "-k", "2", "--metric-params", "1,2"}), 2, "has its parameters");
  expect_failure(run_kith({"info", path("p.kith"), "--metric-params", "1"}), 2, "--metric-params");
}

TEST_F(MetricParamsCommand, ClassifyAndDedupeTakeThem) {
  const std::string fresh = write("new.csv", "x,y\n1,95\n3,390\n2,210\n5,20\n");
  for (const char* mode : {"independent", "sequential"}) {
    for (const char* metric : {"seuclidean", "mahalanobis"}) {
      const Outcome found = run_kith({"classify", "--train", points_, "--test", fresh, "--label", "kind", "-k", "3",
                                      "--mode", mode, "--metric", metric, "--check", "-q"});
      EXPECT_EQ(found.code, 0) << mode << " " << metric << "\n" << found;
    }
  }
  const Outcome kept =
      run_kith({"dedupe", points_, "--columns", "x,y", "--tolerance", "0.11", "--metric-params", "0.01,0", "-q"});
  EXPECT_EQ(kept.code, 0) << kept;
  EXPECT_PRED2(has, kept.out, "1,100");
  EXPECT_FALSE(has(kept.out, "2,90")) << kept.out;  // at a distance of 0.1 without y
}

TEST_F(MetricParamsCommand, WrongOnesAreRefused) {
  expect_failure(knn({"--metric-params", "1"}), 2, "1 for 2 dimensions");
  expect_failure(knn({"--metric-params", "1,x"}), 2, "--metric-params");
  expect_failure(knn({"--metric-params", path("lost.npy")}), 2, "neither a file nor numbers");
  expect_failure(knn({"--metric", "cosine", "--metric-params", "1,2"}), 2, "this metric has none");
  expect_failure(knn({"--metric", "haversine:degrees"}), 3, "latitude");
  expect_failure(knn({"--metric", "braycurtis", "--engine", "kdtree"}), 2, "braycurtis");
  expect_failure(run_kith({"knn", write("w.txt", "cat\ndog\n"), "-k", "1", "--metric", "edit", "--metric-params", "1"}),
                 2, "--metric-params means nothing");
}

}  // namespace
}  // namespace kith::test
