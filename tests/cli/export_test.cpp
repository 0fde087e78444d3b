// kith export writes trees that kith verify accepts, and kith verify catches a changed one.
#include "cli/run_command.hpp"

#include <kith/apps/tree_export.hpp>
#include <kith/io/tree_file.hpp>

#include <nlohmann/json.hpp>

#include <utility>
#include <variant>

namespace kith::test {
namespace {

using Json = nlohmann::json;

class ExportCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    ASSERT_EQ(run_kith({"generate", "--shape", "duplicates", "--points", "900", "--out", path("p.npy"), "-q"}).code, 0);
  }

  Outcome make(std::vector<std::string> more) const {
    std::vector<std::string> words = {"export", path("p.npy"), "--out", path("t.npz")};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  }
  Outcome verify(std::vector<std::string> more) const {
    std::vector<std::string> words = {"verify", path("t.npz")};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  }
};

TEST_F(ExportCommand, EveryTreeIsRight) {
  for (const std::string layout : {"nodes", "inorder"}) {
    for (const std::string split : {"widest", "cycle"}) {
      const Outcome made = make({"--layout", layout, "--split", split});
      ASSERT_EQ(made.code, 0) << made;
      EXPECT_EQ(made.out, "");
      EXPECT_PRED2(has, made.err, "900 nodes of 900 points on 10 levels (layout " + layout + ", split " + split + ")");
      const Outcome right = verify({"--points", path("p.npy")});
      EXPECT_EQ(right.code, 0) << right;
      EXPECT_PRED2(has, right.out, "right: 900 nodes of ");
      ASSERT_EQ(make({"--layout", layout, "--split", split, "--unique", "-q"}).code, 0);
      const Outcome unique = verify({path("p.npy")});
      EXPECT_EQ(unique.code, 0) << unique;
      EXPECT_PRED2(has, unique.out, "split " + split + ", unique");
    }
  }
}

TEST_F(ExportCommand, TakesTheLeftOfTwoMiddles) {
  for (const std::string layout : {"nodes", "inorder"}) {
    const Outcome made = make({"--layout", layout, "--middle", "left"});
    ASSERT_EQ(made.code, 0) << made;
    EXPECT_PRED2(has, made.err, "split widest, left middle)");
    const Outcome right = verify({"--points", path("p.npy")});
    EXPECT_EQ(right.code, 0) << right;
    EXPECT_PRED2(has, right.out, "split widest, left middle)");
  }
  EXPECT_EQ(make({"--layout", "nodes", "--middle", "lower"}).code, 2);
  const Json report = Json::parse(make({"--layout", "nodes", "--middle", "left", "--json"}).out);
  EXPECT_EQ(report["middle"], "left");
}

TEST_F(ExportCommand, IsTheSameForEveryNumberOfThreads) {
  ASSERT_EQ(make({"--layout", "nodes", "--threads", "1"}).code, 0);
  const std::string one = content(path("t.npz"));
  ASSERT_EQ(make({"--layout", "nodes", "--threads", "5"}).code, 0);
  EXPECT_EQ(content(path("t.npz")), one);
  EXPECT_EQ(run_kith({"export", path("p.npy"), "--layout", "nodes", "--out", "-", "-q"}).out, one);
}

TEST_F(ExportCommand, ReportsAsJson) {
  const Outcome made = make({"--layout", "inorder", "--unique", "--json", "--explain"});
  ASSERT_EQ(made.code, 0) << made;
  const Json report = Json::parse(made.out);
  EXPECT_EQ(report["layout"], "inorder");
  EXPECT_EQ(report["points"], 900);
  EXPECT_LT(report["nodes"], 900);
  EXPECT_EQ(report["split"], "widest");
  EXPECT_EQ(report["unique"], true);
  for (const char* key : {"read_ms", "build_ms", "write_ms"}) EXPECT_TRUE(report[key].is_number()) << key;
  EXPECT_PRED2(has, made.err, "explain: layout inorder");
  const Json verdict = Json::parse(verify({"--points", path("p.npy"), "--json"}).out);
  EXPECT_EQ(verdict["layout"], "inorder");
  EXPECT_EQ(verdict["nodes"], report["nodes"]);
  EXPECT_EQ(verdict["first_violation"], "");
}

TEST_F(ExportCommand, AChangedTreeIsFound) {
  ASSERT_EQ(make({"--layout", "nodes"}).code, 0);
  auto table = std::get<apps::NodeTable>(io::read_tree(path("t.npz")));
  std::swap(table.point[17], table.point[800]);
  io::write_tree(path("t.npz"), table);
  const Outcome wrong = verify({"--points", path("p.npy")});
  expect_failure(wrong, 3, "the tree is wrong: node 450");
  const Outcome as_json = verify({"--points", path("p.npy"), "--json"});
  EXPECT_EQ(as_json.code, 3);
  EXPECT_PRED2(has, std::string(Json::parse(as_json.out)["first_violation"]), "node 450");
}

TEST_F(ExportCommand, SkippedRowsAndOtherTypesStayRight) {
  write("gaps.csv", "x,y\n0.1,0\n,1\n1,1\n5,5\n0.1,0\n");
  expect_failure(run_kith({"export", path("gaps.csv"), "--layout", "nodes", "--out", path("t.npz")}), 3, "gaps.csv");
  ASSERT_EQ(run_kith({"export", path("gaps.csv"), "--layout", "nodes", "--skip-nonfinite", "--dtype", "f32", "--out",
                      path("t.npz")})
                .code,
            0);
  const Outcome right = verify({"--points", path("gaps.csv")});
  EXPECT_EQ(right.code, 0) << right;
  EXPECT_PRED2(has, right.out, "right: 4 nodes");
}

/// Every layout in place of the points: the same bytes.
TEST_F(ExportCommand, TreesAreSearchedInPlaceOfTheirPoints) {
  ASSERT_EQ(run_kith({"generate", "--points", "50", "--seed", "3", "--out", path("q.npy"), "-q"}).code, 0);
  write("boxes.csv", "0,0,0,0.5,0.5,1\n0.2,0.2,0.2,9,9,9\n");
  const std::vector<std::vector<std::string>> searches = {
      {"knn", path("q.npy"), "-k", "5"},
      {"knn", "-k", "3", "--exclude-self"},
      {"knn", path("q.npy"), "-k", "2", "--metric", "l1", "--engine", "kdtree", "--leaf-size", "3"},
      {"knn", path("q.npy"), "-k", "4", "--eps", "0.5", "--engine", "kdtree"},
      {"knn", path("q.npy"), "-k", "2", "--metric", "cosine"},
      {"knn", path("q.npy"), "-k", "2", "--with", "all"},
      {"radius", path("q.npy"), "-r", "0.3"},
      {"radius", "-r", "0.3", "--count", "--earlier-only"},
      {"box", path("boxes.csv")}};
  for (const std::string layout : {"nodes", "inorder"}) {
    for (const std::string middle : {"left", "right"}) {
      ASSERT_EQ(make({"--layout", layout, "--middle", middle, "-q"}).code, 0);
      for (const std::vector<std::string>& search : searches) {
        std::vector<std::string> plain = search, tree = search;
        plain.insert(plain.begin() + 1, path("p.npy"));
        tree.insert(tree.begin() + 1, path("t.npz"));
        if (layout == "nodes") tree.insert(tree.end(), {"--points", path("p.npy")});
        const Outcome expected = run_kith(plain), found = run_kith(tree);
        ASSERT_EQ(found.code, 0) << found;
        EXPECT_EQ(found.out, expected.out) << layout << " " << search[0] << " " << search.back();
      }
    }
  }
}

TEST_F(ExportCommand, LeftOutRowsKeepTheOthersNumbers) {
  write("gaps.csv", "x,y\n0.1,0\n,1\n1,1\n5,5\n0.1,0\n");
  write("q.csv", "x,y\n0.2,0\n");
  for (const std::string layout : {"nodes", "inorder"}) {
    std::vector<std::string> words = {"export",           path("gaps.csv"), "--layout", layout,
                                      "--skip-nonfinite", "--unique",       "--out",    path("t.npz")};
    ASSERT_EQ(run_kith(words).code, 0);
    words = {"knn", path("t.npz"), path("q.csv"), "-k", "4"};
    if (layout == "nodes") words.insert(words.end(), {"--points", path("gaps.csv")});
    const Outcome found = run_kith(words);
    ASSERT_EQ(found.code, 0) << found;
    EXPECT_EQ(found.out.substr(0, 42), "query,rank,index,distance\n0,0,0,0.1\n0,1,2,");
    EXPECT_PRED2(has, found.out, "0,2,3,");
    EXPECT_PRED2(has, found.out, "0,3,5,inf");
    EXPECT_PRED2(has, found.err, "2 of the 5 points that the tree was made from are not in it");
  }
  // An index, and the check of a result, take the points of a tree in order with their numbers, too.
  ASSERT_EQ(run_kith({"build", path("t.npz"), "--out", path("t.kith"), "-q"}).code, 0);
  ASSERT_EQ(run_kith({"knn", path("t.kith"), path("q.csv"), "-k", "4", "--out", path("n.npz"), "-q"}).code, 0);
  const Outcome right = run_kith({"verify", path("n.npz"), path("t.npz"), path("q.csv")});
  EXPECT_EQ(right.code, 0) << right;
}

TEST_F(ExportCommand, InfoDescribesATree) {
  ASSERT_EQ(make({"--layout", "nodes", "--split", "cycle", "-q"}).code, 0);
  const Outcome text = run_kith({"info", path("t.npz")});
  ASSERT_EQ(text.code, 0) << text;
  EXPECT_PRED2(has, text.out, "format        tree, layout nodes\npoints        900\nnodes         900\n");
  ASSERT_EQ(make({"--layout", "inorder", "--unique", "-q"}).code, 0);
  const Json report = Json::parse(run_kith({"info", path("t.npz"), "--json"}).out);
  EXPECT_EQ(report["format"], "tree");
  EXPECT_EQ(report["layout"], "inorder");
  EXPECT_EQ(report["points"], 900);
  EXPECT_LT(report["nodes"], 900);
  EXPECT_EQ(report["unique"], true);
  EXPECT_EQ(report["dims"], 3);
  const Json points = Json::parse(run_kith({"info", path("t.npz"), "--array", "points", "--json"}).out);
  EXPECT_EQ(points["format"], "npz");
  EXPECT_EQ(points["points"], report["nodes"]);
}

TEST_F(ExportCommand, SearchesRefuseWrongTreesAndFlags) {
  ASSERT_EQ(make({"--layout", "nodes", "-q"}).code, 0);
  const auto knn = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"knn", path("t.npz"), "-k", "1"});
    return run_kith(more);
  };
  expect_failure(knn({}), 2, "t.npz is a node table, which holds no coordinates; give --points the file");
  expect_failure(knn({"--points", path("p.npy"), "--dtype", "f64"}), 2, "is a tree; leave --dtype f64 out");
  expect_failure(run_kith({"knn", path("p.npy"), "-k", "1", "--points", path("p.npy")}), 2, "is not a node table");
  expect_failure(run_kith({"build", path("t.npz"), "--out", path("t.kith")}), 2, "holds no coordinates");
  auto table = std::get<apps::NodeTable>(io::read_tree(path("t.npz")));
  table.less[450] = 450;
  io::write_tree(path("t.npz"), table);
  expect_failure(knn({"--points", path("p.npy")}), 3, "t.npz: the tree is wrong: node 450");
  ASSERT_EQ(make({"--layout", "inorder", "-q"}).code, 0);
  expect_failure(knn({"--points", path("p.npy")}), 2, "is a tree; leave --points out");
  expect_failure(knn({"--split", "cycle"}), 2, "is a tree; leave --split out");
  expect_failure(knn({"--map"}), 2, "leave --map out");
  expect_failure(knn({"--columns", "x"}), 2, "is a tree, which has its points; leave --columns out");
  auto tree = std::get<apps::InOrderTree>(io::read_tree(path("t.npz")));
  tree.index[7] = 900;
  io::write_tree(path("t.npz"), tree);
  expect_failure(knn({}), 3, "t.npz: the tree is wrong: position 7: there is no point 900, the data has 900");
}

TEST_F(ExportCommand, RefusesWhatMakesNoSense) {
  expect_failure(make({}), 2, "--layout is required");
  expect_failure(make({"--layout", "node"}), 2, "did you mean \"nodes\"?");
  expect_failure(make({"--layout", "nodes", "--split", "longest"}), 2, "is not one of widest, cycle");
  expect_failure(run_kith({"export", path("p.npy"), "--layout", "nodes"}), 2, "--out is required");
  expect_failure(run_kith({"export", path("p.npy"), "--layout", "nodes", "--out", path("t.csv")}), 2,
                 "trees are written as .npz");
  expect_failure(run_kith({"export", path("p.npy"), "--layout", "nodes", "--out", "-", "--json"}), 2,
                 "standard output");
  ASSERT_EQ(make({"--layout", "nodes"}).code, 0);
  expect_failure(verify({}), 2, "POINTS is required");
  expect_failure(verify({path("p.npy"), "--points", path("p.npy")}), 2, "given twice");
  ASSERT_EQ(run_kith({"generate", "--points", "5", "--out", path("q.npy"), "-q"}).code, 0);
  expect_failure(verify({path("q.npy")}), 2, "the tree is about 900 points, the data has 5");
}

}  // namespace
}  // namespace kith::test
