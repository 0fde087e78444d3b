// knn and radius with --device A,B: the bytes of one device, and what cannot be shared.
#include "cli/run_command.hpp"

#include <kith/device.hpp>

#include <nlohmann/json.hpp>

namespace kith::test {
namespace {

using nlohmann::json;

class SeveralDevices : public CommandTest {
 protected:
  /// The file that a search writes.
  std::string result_of(std::vector<std::string> words, const std::string& device) {
    words.insert(words.end(), {"--device", device, "--out", path("out.npz"), "--quiet"});
    const Outcome outcome = run_kith(words);
    EXPECT_EQ(outcome.code, 0) << outcome;
    return content(path("out.npz"));
  }
};

TEST_F(SeveralDevices, HaveTheBytesOfOne) {
  const std::vector<std::string> devices =
      available_devices().size() > 1
          ? std::vector<std::string>{"cpu,cpu,cpu", "cuda:0,cpu", "cuda:0,cuda:0", "cuda:all"}
          : std::vector<std::string>{"cpu,cpu", "cpu,cpu,cpu"};
  ASSERT_EQ(run_kith({"generate", "--shape", "clusters", "-n", "5000", "--dims", "3", "--out", path("p.npy")}).code, 0);
  ASSERT_EQ(run_kith({"generate", "--shape", "uniform", "-n", "700", "--dims", "3", "--out", path("q.npy")}).code, 0);
  const std::vector<std::vector<std::string>> searches = {
      {"knn", path("p.npy"), path("q.npy"), "-k", "5"},
      {"knn", path("p.npy"), "-k", "5", "--exclude-self"},
      {"knn", path("p.npy"), "-k", "3", "--earlier-only", "--squared"},
      {"knn", path("p.npy"), path("q.npy"), "-k", "4", "--within", "0.05", "--metric", "l1"},
      {"knn", path("p.npy"), path("q.npy"), "-k", "4", "--metric", "cosine"},
      {"radius", path("p.npy"), path("q.npy"), "-r", "0.1"},
      {"radius", path("p.npy"), "-r", "0.02", "--exclude-self", "--count"},
      {"radius", path("p.npy"), "-r", "0.02", "--max-neighbors", "3"}};
  for (const std::vector<std::string>& search : searches) {
    const std::string one = result_of(search, "cpu");
    for (const std::string& several : devices) EXPECT_EQ(result_of(search, several), one) << several;
  }
}

TEST_F(SeveralDevices, AreNamedByReports) {
  write("p.csv", "0 1\n2 3\n4 5\n");
  const json report = json::parse(run_kith({"knn", path("p.csv"), "-k", "1", "--device", "cpu,cpu", "--json"}).out);
  EXPECT_EQ(report["device"], "cpu,cpu");
  EXPECT_EQ(report["points"], 3);
  const Outcome explained = run_kith({"knn", path("p.csv"), "-k", "1", "--device", "cpu,cpu", "--explain"});
  EXPECT_PRED2(has, explained.err, "2 shards, cut at medians, 3 points");
  EXPECT_PRED2(has, explained.err, "shards of different devices work at the same time");
  write("holes.csv", "0 1\nnan 3\n4 5\n");
  EXPECT_EQ(run_kith({"knn", path("holes.csv"), "-k", "1", "--device", "cpu,cpu", "--skip-nonfinite", "--quiet"}).out,
            "query,rank,index,distance\n0,0,0,0\n1,0,3,inf\n2,0,2,0\n");
}

TEST_F(SeveralDevices, RefuseWhatOneDeviceDoes) {
  write("p.csv", "0 1\n2 3\n4 5\n");
  const auto search = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"knn", path("p.csv"), "-k", "1", "--device", "cpu,cpu"};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  };
  expect_failure(search({"--eps", "0.5"}), 2, "a search on several devices does not have --eps");
  expect_failure(search({"--max-leaves", "5"}), 2, "does not have --max-leaves");
  ASSERT_EQ(run_kith({"build", path("p.csv"), "--out", path("p.kith")}).code, 0);
  expect_failure(run_kith({"knn", path("p.kith"), "-k", "1", "--device", "cpu,cpu"}), 2, "searched on one device");
  ASSERT_EQ(run_kith({"export", path("p.csv"), "--layout", "inorder", "--out", path("tree.npz")}).code, 0);
  expect_failure(run_kith({"knn", path("tree.npz"), "-k", "1", "--device", "cpu,cpu"}), 2, "is a tree");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--device", "cpu,auto"}), 2, "auto is not one");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--device", "cpu,"}), 2, "--device");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--device", "cpu,tpu"}), 2, "tpu");
  write("words.txt", "ash\nelm\n");
  expect_failure(run_kith({"knn", path("words.txt"), "--metric", "edit", "-k", "1", "--device", "cpu,cpu"}), 2,
                 "only points are shared among several devices");
  if (available_devices().size() == 1) {
    expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--device", "cuda:all"}), 7, "there is no usable GPU");
  }
}

}  // namespace
}  // namespace kith::test
