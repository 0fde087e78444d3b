// kith verify accepts what the searches write and catches a single changed number.
#include "cli/run_command.hpp"

#include <kith/io/neighbors_file.hpp>

#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <cmath>
#include <span>
#include <thread>

namespace kith::test {
namespace {

class VerifyCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    ASSERT_EQ(run_kith({"generate", "--shape", "clusters", "--points", "400", "--out", path("p.npy")}).code, 0);
    ASSERT_EQ(run_kith({"generate", "--points", "50", "--seed", "3", "--out", path("q.npy")}).code, 0);
  }

  void search(std::vector<std::string> words) {
    words.insert(words.end(), {"--out", path("n.npz"), "--quiet"});
    const Outcome outcome = run_kith(words);
    ASSERT_EQ(outcome.code, 0) << outcome;
  }

  Outcome verify(std::vector<std::string> more) const {
    std::vector<std::string> words = {"verify", path("n.npz")};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  }
};

TEST_F(VerifyCommand, AcceptsEverySearch) {
  search({"knn", path("p.npy"), "-k", "5"});
  const Outcome outcome = verify({path("p.npy")});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_PRED2(has, outcome.out, "right: 400 of 400 lists checked against 400 points (5 nearest neighbours, l2)");

  search({"knn", path("p.npy"), path("q.npy"), "-k", "500", "--metric", "l1"});
  EXPECT_EQ(verify({path("p.npy"), path("q.npy"), "--metric", "l1"}).code, 0);
  EXPECT_EQ(verify({path("p.npy"), path("q.npy"), "--metric", "l2"}).code, 3);

  search({"knn", path("p.npy"), "-k", "5", "--exclude-self", "--squared", "--dtype", "f64"});
  EXPECT_EQ(verify({path("p.npy"), "--exclude-self", "--squared"}).code, 0);
  EXPECT_EQ(verify({path("p.npy"), "--squared"}).code, 3);
  EXPECT_EQ(verify({path("p.npy"), "--exclude-self"}).code, 3);

  search({"radius", path("p.npy"), "-r", "0.1"});
  EXPECT_EQ(verify({path("p.npy"), "--radius", "0.1"}).code, 0);
  EXPECT_EQ(verify({path("p.npy"), "--radius", "0.2"}).code, 3);

  search({"radius", path("p.npy"), path("q.npy"), "-r", "0.3", "--max-neighbors", "4"});
  EXPECT_EQ(verify({path("p.npy"), path("q.npy"), "--radius", "0.3", "--max-neighbors", "4"}).code, 0);
}

TEST_F(VerifyCommand, ReadsAPipeOnce) {
  search({"knn", path("p.npy"), "-k", "5"});
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path("pipe"), std::ios::binary) << content(path("n.npz")); });
  const Outcome outcome = run_kith({"verify", path("pipe"), path("p.npy")});
  writer.join();
  EXPECT_EQ(outcome.code, 0) << outcome;
}

TEST_F(VerifyCommand, ChecksASample) {
  search({"knn", path("p.npy"), "-k", "3"});
  const Outcome outcome = verify({path("p.npy"), "--sample", "25", "--seed", "8", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome;
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["checked"], 25);
  EXPECT_EQ(report["wrong"], 0);
}

TEST_F(VerifyCommand, SkippedRowsStayRight) {
  write("gaps.csv", "0,0\nnan,1\n1,1\n5,5\n");
  search({"knn", path("gaps.csv"), "-k", "2", "--skip-nonfinite"});
  const Outcome outcome = verify({path("gaps.csv"), "--skip-nonfinite"});
  EXPECT_EQ(outcome.code, 0) << outcome;
}

TEST_F(VerifyCommand, CatchesOneChangedIndex) {
  search({"knn", path("p.npy"), "-k", "5"});
  const auto found = std::get<Neighbors>(io::read_neighbors(path("n.npz")));
  std::vector<std::uint32_t> indices(found.indices().begin(), found.indices().end());
  indices[123 * 5 + 3] ^= 1;
  io::write_neighbors(path("n.npz"),
                      Neighbors(found.queries(), found.k(), found.missing(), indices, found.distances()));
  const Outcome outcome = verify({path("p.npy")});
  expect_failure(outcome, 3, "1 list wrong");
  EXPECT_PRED2(has, outcome.err, "123");
  const Outcome as_json = verify({path("p.npy"), "--json"});
  EXPECT_EQ(as_json.code, 3);
  EXPECT_EQ(nlohmann::json::parse(as_json.out)["wrong"], 1);
}

TEST_F(VerifyCommand, CatchesOneChangedDistance) {
  search({"knn", path("p.npy"), "-k", "5"});
  const auto found = std::get<Neighbors>(io::read_neighbors(path("n.npz")));
  const std::span<const float> before = found.distances().values<float>();
  std::vector<float> distances(before.begin(), before.end());
  distances[7 * 5 + 4] = std::nextafter(distances[7 * 5 + 4], 0.0f);
  const std::vector<std::uint32_t> indices(found.indices().begin(), found.indices().end());
  io::write_neighbors(path("n.npz"),
                      Neighbors(found.queries(), found.k(), found.missing(), indices, Distances(distances)));
  expect_failure(verify({path("p.npy")}), 3, "1 list wrong");
}

TEST_F(VerifyCommand, RefusesWhatDoesNotFit) {
  search({"knn", path("p.npy"), "-k", "5"});
  expect_failure(verify({path("q.npy")}), 2, "");
  expect_failure(verify({path("p.npy"), "--radius", "1"}), 2, "leave --radius out");
  expect_failure(verify({path("p.npy"), "--max-neighbors", "1"}), 2, "radius search only");
  expect_failure(verify({"-", "-"}), 2, "cannot both be standard input");
  expect_failure(run_kith({"verify", path("p.npy"), path("p.npy")}), 4, "p.npy");
  expect_failure(run_kith({"verify", path("absent.npz"), path("p.npy")}), 5, "absent.npz");
  search({"radius", path("p.npy"), "-r", "0.1"});
  expect_failure(verify({path("p.npy")}), 2, "give its radius with --radius");
}

TEST_F(VerifyCommand, ARadiusForEachQueryIsCheckedToo) {
  write("p.csv", "0\n1\n3\n7\n");
  write("r.csv", "1\n0\n2.5\ninf\n");
  write("other.csv", "1\n1\n2.5\ninf\n");
  ASSERT_EQ(run_kith({"radius", path("p.csv"), "--radius-file", path("r.csv"), "--out", path("n.npz")}).code, 0);
  const Outcome right = run_kith({"verify", path("n.npz"), path("p.csv"), "--radius-file", path("r.csv")});
  EXPECT_EQ(right.code, 0) << right;
  EXPECT_PRED2(has, right.out, "all within radii of their own");
  expect_failure(run_kith({"verify", path("n.npz"), path("p.csv"), "--radius-file", path("other.csv")}), 3,
                 "first: query 1,");
  expect_failure(run_kith({"verify", path("n.npz"), path("p.csv")}), 2, "--radius or --radius-file");
  expect_failure(run_kith({"verify", path("n.npz"), path("p.csv"), "-r", "1", "--radius-file", path("r.csv")}), 2,
                 "leave one of them out");
}

}  // namespace
}  // namespace kith::test
