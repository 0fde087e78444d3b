// Index files on the command line: build, info, verify, and an index wherever points are taken.
#include "cli/run_command.hpp"

#include <kith/io/neighbors_file.hpp>

#include <nlohmann/json.hpp>

namespace kith::test {
namespace {

using nlohmann::json;

class IndexCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    ASSERT_EQ(run_kith({"generate", "--points", "3000", "--out", path("p.npy")}).code, 0);
    ASSERT_EQ(run_kith({"generate", "--points", "50", "--seed", "7", "--out", path("q.npy")}).code, 0);
  }

  Outcome build(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"build", path("p.npy"), "--out", path("p.kith")};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  }

  void flip(const std::string& name, std::uint64_t place) const {
    std::string bytes = content(path(name));
    bytes.at(place) = static_cast<char>(bytes[place] ^ 4);
    write(name, bytes);
  }
};

TEST_F(IndexCommand, BuildSavesWhatTheSearchBuilds) {
  const Outcome built = build({"--explain"});
  ASSERT_EQ(built.code, 0) << built;
  EXPECT_EQ(built.out, "");
  EXPECT_PRED2(has, built.err, "index of 3 000 points of 3 dimensions (l2, kdtree on cpu)");
  EXPECT_PRED2(has, built.err, "explain: engine kdtree");
  const std::size_t plan = built.err.find("explain: plan: engine kdtree, device cpu, index ");
  ASSERT_NE(plan, std::string::npos) << built;
  EXPECT_LT(plan, built.err.find("explain: engine kdtree")) << "before anything is built";
  EXPECT_PRED2(has, built.err, "index in " + path("p.kith"));
  const std::vector<std::vector<std::string>> searches = {{"knn", "-k", "8"},
                                                          {"knn", "-k", "3", "--exclude-self", "--squared"},
                                                          {"radius", "-r", "0.1"},
                                                          {"radius", "-r", "0.1", "--count", "--threads", "3"}};
  for (const std::vector<std::string>& search : searches) {
    for (const bool with_queries : {false, true}) {
      if (with_queries && search.size() == 5) continue;  // --exclude-self
      std::vector<std::string> from_points = search, from_index = search, from_map = search;
      from_points.insert(from_points.begin() + 1, path("p.npy"));
      from_index.insert(from_index.begin() + 1, path("p.kith"));
      from_map = from_index;
      from_map.push_back("--map");
      for (auto* words : {&from_points, &from_index, &from_map}) {
        if (with_queries) words->insert(words->begin() + 2, path("q.npy"));
      }
      const Outcome expected = run_kith(from_points);
      ASSERT_EQ(expected.code, 0) << expected;
      EXPECT_EQ(run_kith(from_index).out, expected.out);
      EXPECT_EQ(run_kith(from_map).out, expected.out);
    }
  }
}

TEST_F(IndexCommand, TheFileDoesNotDependOnThreads) {
  for (const std::string engine : {"brute", "kdtree", "covertree"}) {
    ASSERT_EQ(build({"--engine", engine, "--threads", "1"}).code, 0);
    const std::string one = content(path("p.kith"));
    ASSERT_EQ(build({"--engine", engine, "--threads", "5"}).code, 0);
    EXPECT_TRUE(one == content(path("p.kith"))) << engine;
  }
}

TEST_F(IndexCommand, BuildReportsAsJson) {
  const Outcome built = build({"--json", "--metric", "l1", "--engine", "brute"});
  ASSERT_EQ(built.code, 0) << built;
  EXPECT_EQ(built.err, "");
  const json report = json::parse(built.out);
  EXPECT_EQ(report["points"], 3000);
  EXPECT_EQ(report["engine"], "brute");
  EXPECT_EQ(report["metric"], "l1");
  EXPECT_EQ(report["skipped_points"], 0);
  EXPECT_EQ(report["file_bytes"], content(path("p.kith")).size());
  for (const char* key :
       {"dims", "dtype", "device", "threads", "index_bytes", "read_ms", "build_ms", "write_ms", "copy_ms"}) {
    EXPECT_TRUE(report.contains(key)) << key;
  }
}

TEST_F(IndexCommand, BuildRefusesWhatCannotBe) {
  expect_failure(run_kith({"build", path("p.npy")}), 2, "--out is required");
  expect_failure(run_kith({"build", path("p.npy"), "--out", "-"}), 2, "an index is a file");
  expect_failure(run_kith({"build", path("p.npy"), "--out", path("no/p.kith")}), 5, "cannot be created");
  expect_failure(run_kith({"build", path("p.npy"), "--out", folder_}), 5, "is a directory");
  expect_failure(run_kith({"build", path("p.npy"), "--out", path("p.kith"), "--engine", "covertree", "--metric", "ip"}),
                 2, "engine covertree: the metric ip needs engine brute");
  write("bad.csv", "1,2\nnan,3\n");
  expect_failure(run_kith({"build", path("bad.csv"), "--out", path("p.kith")}), 3, "NaN");
  EXPECT_EQ(files(), (std::vector<std::string>{"bad.csv", "p.npy", "q.npy"}));
}

TEST_F(IndexCommand, BuildDoesNotOverwriteItsPoints) {
  const std::string before = content(path("p.npy"));
  const Outcome refused = run_kith({"build", path("p.npy"), "--out", path("./p.npy")});
  EXPECT_EQ(refused.code, 2) << refused;
  EXPECT_PRED2(has, refused.err, "would be lost");
  EXPECT_EQ(content(path("p.npy")), before);
}

TEST_F(IndexCommand, ACoverTreeIsBuiltSearchedAndVerified) {
  const Outcome built = build({"--engine", "covertree", "--leaf-size", "8", "--json"});
  ASSERT_EQ(built.code, 0) << built;
  EXPECT_GT(json::parse(built.out)["evaluations"], 3000);
  EXPECT_PRED2(has, run_kith({"info", path("p.kith")}).out, "engine        covertree\n");
  EXPECT_EQ(json::parse(run_kith({"info", path("p.kith"), "--json"}).out)["leaf_size"], 8);
  EXPECT_PRED2(has, run_kith({"verify", path("p.kith"), path("p.npy")}).out, "f32, l2, covertree, equal to ");
  for (const std::vector<std::string>& search :
       {std::vector<std::string>{"knn", "", path("q.npy"), "-k", "4", "--out", "-"},
        std::vector<std::string>{"radius", "", path("q.npy"), "-r", "0.1", "--out", "-"}}) {
    std::vector<std::string> of_points = search, of_index = search;
    of_points[1] = path("p.npy");
    of_index[1] = path("p.kith");
    const Outcome expected = run_kith(of_points);
    ASSERT_EQ(expected.code, 0) << expected;
    EXPECT_EQ(run_kith(of_index).out, expected.out);
  }
  const Outcome counted = run_kith({"knn", path("p.kith"), path("q.npy"), "-k", "4", "--json", "--explain"});
  const json report = json::parse(counted.out);
  EXPECT_GT(report["evaluations"], report["queries"].get<int>());
  EXPECT_PRED2(has, counted.err, "explain: distances measured: 0 by the build, ");
}

TEST_F(IndexCommand, InfoTellsWhatTheFileSays) {
  ASSERT_EQ(build({"--metric", "lp:3"}).code, 0);
  const Outcome text = run_kith({"info", path("p.kith")});
  ASSERT_EQ(text.code, 0) << text;
  for (const char* part : {"format        index, version 1\n", "engine        kdtree\n", "metric        lp:3\n",
                           "points        3 000\n", "dims          3\n", "dtype         f32\n", "leaf size ",
                           "split         widest\n", "  blocks  ", "  smallest "}) {
    EXPECT_PRED2(has, text.out, part);
  }
  const json report = json::parse(run_kith({"info", path("p.kith"), "--json"}).out);
  EXPECT_EQ(report["format"], "index");
  EXPECT_EQ(report["version"], 1);
  EXPECT_EQ(report["points"], 3000);
  EXPECT_EQ(report["file_bytes"], content(path("p.kith")).size());
  ASSERT_EQ(report["sections"].size(), 5u);
  EXPECT_EQ(report["sections"][0]["name"], "blocks");
  EXPECT_EQ(report["sections"][0]["count"], 3000);
  expect_failure(run_kith({"info", path("p.kith"), "--columns", "1"}), 2, "leave --columns out");
}

TEST_F(IndexCommand, VerifyChecksTheIndex) {
  ASSERT_EQ(build().code, 0);
  const Outcome right = run_kith({"verify", path("p.kith")});
  EXPECT_EQ(right.code, 0) << right;
  EXPECT_PRED2(has, right.out, "right: index of 3 000 points of 3 dimensions, f32, l2, kdtree\n");
  const Outcome compared = run_kith({"verify", path("p.kith"), "--points", path("p.npy"), "--json"});
  EXPECT_EQ(compared.code, 0) << compared;
  EXPECT_EQ(json::parse(compared.out)["compared"], true);
  expect_failure(run_kith({"verify", path("p.kith"), "--points", path("q.npy")}), 3, "but the file has 50 points");
  ASSERT_EQ(run_kith({"generate", "--points", "3000", "--seed", "2", "--out", path("other.npy")}).code, 0);
  expect_failure(run_kith({"verify", path("p.kith"), "--points", path("other.npy")}), 3, "row 0, column 0 is ");
  EXPECT_EQ(run_kith({"verify", path("p.kith"), "--points", path("p.npy")}).code, 0);
  EXPECT_EQ(json::parse(run_kith({"verify", path("p.kith"), "--device", "cpu", "--json"}).out)["device"], "cpu");
  ASSERT_EQ(run_kith({"knn", path("p.npy"), "-k", "1", "--out", path("n.npz"), "--quiet"}).code, 0);
  expect_failure(run_kith({"verify", path("n.npz"), path("p.npy"), "--device", "cpu"}), 2,
                 "--device is for index files and trees");
  flip("p.kith", 5000);
  expect_failure(run_kith({"verify", path("p.kith")}), 4, "section blocks is wrong");
  expect_failure(run_kith({"knn", path("p.kith"), "-k", "1"}), 4, "damaged index file");
  EXPECT_EQ(run_kith({"info", path("p.kith")}).code, 0) << "the header is still right";
  flip("p.kith", 60);
  expect_failure(run_kith({"info", path("p.kith")}), 4, "damaged index file");
}

TEST_F(IndexCommand, VerifyComparesUnderCosineToo) {
  ASSERT_EQ(build({"--metric", "cosine"}).code, 0);
  EXPECT_EQ(run_kith({"verify", path("p.kith"), "--points", path("p.npy")}).code, 0);
  ASSERT_EQ(run_kith({"generate", "--points", "3000", "--seed", "2", "--out", path("other.npy")}).code, 0);
  expect_failure(run_kith({"verify", path("p.kith"), "--points", path("other.npy")}), 3,
                 "rows made of the points differ");
}

TEST_F(IndexCommand, CoverTreesHaveTwoBuilders) {
  const std::vector<std::string> search = {"knn", path("p.npy"), "-k", "5", "--engine", "covertree"};
  const Outcome expected = run_kith(search);
  ASSERT_EQ(expected.code, 0) << expected;
  for (const std::string builder : {"batch", "lists"}) {
    ASSERT_EQ(build({"--engine", "covertree", "--builder", builder}).code, 0);
    EXPECT_EQ(json::parse(run_kith({"info", path("p.kith"), "--json"}).out).at("builder"), builder);
    EXPECT_PRED2(has, run_kith({"info", path("p.kith")}).out, "builder       " + builder);
    EXPECT_EQ(run_kith({"verify", path("p.kith")}).code, 0);
    EXPECT_EQ(run_kith({"knn", path("p.kith"), "-k", "5"}).out, expected.out);
  }
  expect_failure(run_kith({"knn", path("p.npy"), "-k", "1", "--builder", "lists"}), 2, "covertree");
  expect_failure(run_kith({"knn", path("p.npy"), "-k", "1", "--engine", "covertree", "--builder", "list"}), 2,
                 "--builder");
  ASSERT_EQ(build({"--engine", "covertree"}).code, 0);
  expect_failure(run_kith({"knn", path("p.kith"), "-k", "1", "--builder", "lists"}), 2, "--builder lists");
}

TEST_F(IndexCommand, KdTreesHaveFourBuilders) {
  ASSERT_EQ(build({"--engine", "kdtree"}).code, 0);
  const std::string expected = content(path("p.kith"));
  for (const std::string builder : {"histogram", "presort", "select", "segsort"}) {
    const Outcome built = build({"--engine", "kdtree", "--builder", builder, "--explain"});
    ASSERT_EQ(built.code, 0) << built;
    EXPECT_EQ(has(built.err, "builder " + builder), builder != "histogram") << built;
    EXPECT_TRUE(content(path("p.kith")) == expected) << builder;
  }
  const Outcome searched = run_kith({"knn", path("p.npy"), "-k", "2", "--engine", "kdtree", "--builder", "select"});
  EXPECT_EQ(searched.out, run_kith({"knn", path("p.npy"), "-k", "2"}).out);
  expect_failure(build({"--engine", "kdtree", "--builder", "batch"}), 2,
                 "choose histogram, presort, select or segsort");
  expect_failure(build({"--engine", "covertree", "--builder", "presort"}), 2, "choose batch or lists");
  expect_failure(build({"--builder", "presort"}), 2, "name the engine, too");
  expect_failure(run_kith({"knn", path("p.kith"), "-k", "1", "--builder", "presort"}), 2, "--builder presort");
}

TEST_F(IndexCommand, VerifyKnowsAngles) {
  ASSERT_EQ(build({"--metric", "angular"}).code, 0);
  EXPECT_EQ(run_kith({"verify", path("p.kith"), "--points", path("p.npy")}).code, 0);
  ASSERT_EQ(run_kith({"knn", path("p.kith"), path("q.npy"), "-k", "4", "--out", path("r.npz")}).code, 0);
  const Outcome right = run_kith({"verify", path("r.npz"), path("p.npy"), path("q.npy"), "--metric", "angular"});
  EXPECT_EQ(right.code, 0) << right;
  expect_failure(run_kith({"verify", path("r.npz"), path("p.npy"), path("q.npy"), "--metric", "cosine"}), 3, "");
}

TEST_F(IndexCommand, AResultIsCheckedAgainstTheIndex) {
  ASSERT_EQ(build({"--metric", "l1"}).code, 0);
  ASSERT_EQ(run_kith({"knn", path("p.kith"), path("q.npy"), "-k", "5", "--out", path("n.npz")}).code, 0);
  EXPECT_EQ(run_kith({"verify", path("n.npz"), path("p.kith"), path("q.npy")}).code, 0);
  EXPECT_EQ(run_kith({"verify", path("n.npz"), path("p.npy"), path("q.npy"), "--metric", "l1"}).code, 0);
  expect_failure(run_kith({"verify", path("n.npz"), path("p.kith"), path("q.npy"), "--metric", "l2"}), 2,
                 "is an index for l1");
}

TEST_F(IndexCommand, FlagsThatContradictTheIndexAreRefused) {
  ASSERT_EQ(build().code, 0);
  const auto knn = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"knn", path("p.kith"), "-k", "1", "--out", path("n.npz")};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  };
  expect_failure(knn({"--metric", "l1"}), 2, "is an index for l2; leave --metric l1 out");
  expect_failure(knn({"--engine", "brute"}), 2, "is an index of engine kdtree; leave --engine brute out");
  expect_failure(knn({"--dtype", "f64"}), 2, "is an index of f32 points; leave --dtype f64 out");
  expect_failure(knn({"--columns", "1,2"}), 2, "leave --columns out");
  expect_failure(knn({"--label", "1"}), 2, "leave --label out");
  expect_failure(knn({"--format", "npy"}), 2, "leave --format out");
  EXPECT_EQ(knn({"--metric", "l2", "--engine", "kdtree", "--dtype", "f32"}).code, 0) << "what agrees is fine";
  EXPECT_EQ(knn({"--engine", "auto"}).code, 0);
  expect_failure(knn({"--leaf-size", "4"}), 2, "leave --leaf-size out");
  expect_failure(knn({"--split", "cycle"}), 2, "leave --split out");
  expect_failure(knn({"--period", "1,1,1"}), 2, "leave --period out");
  write("wide.csv", "a,b,c,d\n1,2,3,4\n");
  expect_failure(run_kith({"knn", path("p.kith"), path("wide.csv"), "-k", "1"}), 2, "4 dimensions");
  EXPECT_EQ(run_kith({"knn", path("p.kith"), path("wide.csv"), "-k", "1", "--columns", "a,c,d"}).code, 0);
  expect_failure(run_kith({"knn", path("p.npy"), "-k", "1", "--map"}), 2, "leave --map out");
}

TEST_F(IndexCommand, LeftOutRowsStayLeftOut) {
  write("gaps.csv", "0,0\nnan,1\n3,4\n,7\n6,8\n");
  ASSERT_EQ(run_kith({"build", path("gaps.csv"), "--skip-nonfinite", "--out", path("g.kith")}).code, 0);
  EXPECT_PRED2(has, run_kith({"info", path("g.kith")}).out, "points        5   (2 left out");
  EXPECT_EQ(run_kith({"verify", path("g.kith"), "--points", path("gaps.csv")}).code, 0);
  const Outcome from_index = run_kith({"knn", path("g.kith"), "-k", "2"});
  EXPECT_EQ(from_index.out, run_kith({"knn", path("gaps.csv"), "-k", "2", "--skip-nonfinite"}).out);
  EXPECT_PRED2(has, from_index.err, "2 points and 2 queries with NaN or infinity were left out");
  ASSERT_EQ(run_kith({"knn", path("g.kith"), "-k", "2", "--out", path("n.npz")}).code, 0);
  EXPECT_EQ(run_kith({"verify", path("n.npz"), path("g.kith")}).code, 0);
  ASSERT_EQ(run_kith({"build", path("g.kith"), "--out", path("again.kith")}).code, 0);
  EXPECT_TRUE(content(path("g.kith")) == content(path("again.kith"))) << "an index of an index is the same";
}

TEST_F(IndexCommand, TheFlagsOfTheTreeAreKept) {
  const Outcome built = build({"--leaf-size", "5", "--split", "cycle", "--period", "1,0,2"});
  ASSERT_EQ(built.code, 0) << built;
  const std::string info = run_kith({"info", path("p.kith")}).out;
  EXPECT_PRED2(has, info, "leaf size     5\nsplit         cycle\n");
  EXPECT_PRED2(has, info, "  period  ");
  EXPECT_EQ(run_kith({"knn", path("p.kith"), path("q.npy"), "-k", "4"}).out,
            run_kith({"knn", path("p.npy"), path("q.npy"), "-k", "4", "--period", "1,0,2"}).out);
  EXPECT_EQ(run_kith({"verify", path("p.kith"), "--points", path("p.npy")}).code, 0);
  ASSERT_EQ(run_kith({"knn", path("p.kith"), "-k", "4", "--out", path("n.npz")}).code, 0);
  EXPECT_EQ(run_kith({"verify", path("n.npz"), path("p.kith")}).code, 0);
  expect_failure(run_kith({"verify", path("n.npz"), path("p.kith"), "--period", "1,0,2"}), 2, "leave --period out");
}

TEST_F(IndexCommand, BoxesAndFiltersTakeAnIndexToo) {
  ASSERT_EQ(build().code, 0);
  write("boxes.csv", "0,0,0,0.5,0.5,0.5\n0.2,0.2,0.2,0.3,0.9,0.4\n");
  EXPECT_EQ(run_kith({"box", path("p.kith"), path("boxes.csv")}).out,
            run_kith({"box", path("p.npy"), path("boxes.csv")}).out);
  EXPECT_EQ(run_kith({"knn", path("p.kith"), "-k", "2", "--earlier-only"}).out,
            run_kith({"knn", path("p.npy"), "-k", "2", "--earlier-only"}).out);
}

TEST_F(IndexCommand, DedupeAndExportTakeAnIndexToo) {
  ASSERT_EQ(build().code, 0);
  EXPECT_EQ(run_kith({"dedupe", path("p.kith"), "--tolerance", "0.1"}).out,
            run_kith({"dedupe", path("p.npy"), "--tolerance", "0.1"}).out);
  expect_failure(run_kith({"dedupe", path("p.kith"), "--by", "score"}), 2, "is an index");
  ASSERT_EQ(run_kith({"export", path("p.kith"), "--layout", "nodes", "--out", path("a.npz")}).code, 0);
  ASSERT_EQ(run_kith({"export", path("p.npy"), "--layout", "nodes", "--out", path("b.npz")}).code, 0);
  EXPECT_TRUE(content(path("a.npz")) == content(path("b.npz")));
  EXPECT_EQ(run_kith({"verify", path("a.npz"), "--points", path("p.kith")}).code, 0);
}

TEST_F(IndexCommand, AnIndexMayBeTheQueries) {
  ASSERT_EQ(run_kith({"build", path("q.npy"), "--out", path("q.kith")}).code, 0);
  EXPECT_EQ(run_kith({"knn", path("p.npy"), path("q.kith"), "-k", "2"}).out,
            run_kith({"knn", path("p.npy"), path("q.npy"), "-k", "2"}).out);
  ASSERT_EQ(run_kith({"build", path("q.npy"), "--metric", "cosine", "--out", path("c.kith")}).code, 0);
  expect_failure(run_kith({"knn", path("p.npy"), path("c.kith"), "-k", "2"}), 2, "holds rows made of the points");
}

TEST_F(IndexCommand, AnIndexDoesNotComeThroughAPipe) {
  ASSERT_EQ(build().code, 0);
  expect_failure(run_kith({"knn", "-", "-k", "1"}, content(path("p.kith")).substr(0, 5000)), 4, "is a kith index");
}

TEST_F(IndexCommand, AnotherNameIsRecognisedToo) {
  ASSERT_EQ(run_kith({"build", path("p.npy"), "--out", path("p.csv")}).code, 0);
  EXPECT_EQ(run_kith({"knn", path("p.csv"), "-k", "1"}).out, run_kith({"knn", path("p.npy"), "-k", "1"}).out);
}

}  // namespace
}  // namespace kith::test
